# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secrets file reads back as it was written, and the instances of a node are asked with what lies there."""

from __future__ import annotations

import json

import instance_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _instance, _instance_info, _state
from hypothesis import given
from hypothesis import strategies as st

SECRET = 'k"3$y\\`'


@pytest.fixture
def node(tmp_path):
    one = world.World(tmp_path)
    one.servers[8000] = {"models": ["m"]}
    return one


def state(node, name="chat"):
    return _state.load(node.runner, "vllm_service", name)


@given(st.text(st.characters(min_codepoint=32, blacklist_categories=("Cs",))))
def test_what_is_written_as_a_secret_is_read_back(value):
    text = _instance.secrets_text("chat", {"KEY": value, "KEY2": "x"})
    assert _instance.secret_of(text, "KEY") == value
    assert _instance.secret_of(text, "OTHER") is None
    assert text.count("\n") == 2


def info(node, *names, **more):
    return _instance_info.look(node.runner, node.opener, _instance_info.Ask(names, **more))


def test_info_asks_what_the_node_has_with_the_key_that_lies_there(node):
    node.servers[8000]["key"] = SECRET
    node.run([world.wanted(), world.wanted("b", 8001, state="stopped")], {"chat": {"VLLM_API_KEY": SECRET}})
    stopped, chat = info(node)
    assert (chat["name"], chat["ready"], chat["completion"], chat["error"]) == ("chat", True, "Paris", None)
    assert (stopped["name"], stopped["ready"], stopped["state"]) == ("b", None, "stopped")
    assert SECRET not in json.dumps([stopped, chat])


def test_info_says_why_one_does_not_answer(node):
    node.run([world.wanted()])
    node.servers[8000]["health"] = 503
    row = info(node)[0]
    assert row["ready"] is False
    assert "503" in row["error"]


def test_info_of_one_that_is_not_there(node):
    row = info(node, "nobody")[0]
    assert (row["state"], row["ready"]) == ("missing", False)


def test_info_without_completion_asks_no_model(node):
    node.run([world.wanted()])
    node.servers[8000]["text"] = ""
    assert info(node, completion=False)[0]["ready"] is True
    assert info(node)[0]["ready"] is False


def test_info_survives_a_state_without_the_newer_keys(node):
    node.run([world.wanted()])
    old = state(node)
    for key in ("host", "tls", "pooling", "stale", "served_name"):
        old["have"].pop(key)
    node.write(_state.path_of("vllm_service", "chat"), json.dumps(old))
    assert "run the role" in info(node)[0]["error"]
