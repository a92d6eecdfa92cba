# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting: when an instance is ready, when it never will be, and what is said then."""

from __future__ import annotations

import json

import instance_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _causes, _openai, _ready, _systemd
from hypothesis import given
from hypothesis import strategies as st

UNIT = "ascend-vllm-chat.service"


class Story:
    """A node whose unit and server change with time: {second: (unit, server)}; a clock that only sleeping moves."""

    def __init__(self, tmp_path, story):
        self.node, self.story, self.now = world.World(tmp_path), story, 0.0
        self.advance()

    def advance(self):
        for second in sorted(self.story):
            if second <= self.now:
                unit, server = self.story[second]
                base = {"active": "active", "enabled": "enabled", "invocation": "i"}
                self.node.units[UNIT] = dict(base, **unit)
                self.node.servers = {8000: server} if server else {}

    def sleep(self, seconds):
        self.now += seconds
        self.advance()

    def wait(self, limit=100, **more):
        options = {"restarts": 0, "ask": True, "since": None, "api_key": None, "pooling": False, "tls": False}
        options.update(more)
        target = _ready.Target(name="chat", unit=UNIT, address="127.0.0.1", port=8000, served_name="m", **options)
        return _ready.wait(
            self.node.runner, self.node.opener, [target], limit, clock=lambda: self.now, sleep=self.sleep
        )[0]


READY = {"models": ["m"]}


def test_it_waits_while_the_model_loads(tmp_path):
    outcome = Story(tmp_path, {0: ({}, None), 50: ({}, READY)}).wait()
    assert outcome.error is None
    assert outcome.completion == "Paris"
    assert 50 <= outcome.seconds <= 50 + _ready.PAUSE


def test_one_that_was_still_loading_is_asked_even_when_this_run_did_not_start_it(tmp_path):
    assert Story(tmp_path, {0: ({}, None), 10: ({}, READY)}).wait(ask=False).completion == "Paris"
    assert Story(tmp_path / "b", {0: ({}, READY)}).wait(ask=False).completion is None


def test_a_failed_unit_ends_the_wait_at_once(tmp_path):
    story = Story(tmp_path, {0: ({}, None), 20: ({"active": "failed", "status": 1}, None)})
    outcome = story.wait(limit=1800)
    assert "failed" in outcome.error
    assert story.now <= 20 + _ready.PAUSE


def test_one_restart_may_happen_and_two_are_a_loop(tmp_path):
    once = Story(
        tmp_path, {0: ({}, None), 10: ({"active": "activating", "restarts": 1}, None), 30: ({"restarts": 1}, READY)}
    )
    assert once.wait().error is None
    twice = Story(tmp_path / "b", {0: ({}, None), 10: ({"active": "activating", "restarts": 2}, None)})
    assert "loop (2 times so far" in twice.wait(limit=1800).error


def test_restarts_of_the_past_do_not_count(tmp_path):
    assert Story(tmp_path, {0: ({"restarts": 7}, READY)}).wait(restarts=7).error is None


def test_a_unit_that_ended_by_itself(tmp_path):
    assert "has ended by itself" in Story(tmp_path, {0: ({"active": "inactive"}, None)}).wait(limit=1800).error


def test_the_time_limit_says_what_was_missing(tmp_path):
    outcome = Story(tmp_path, {0: ({}, None)}).wait(limit=30)
    assert "is not ready within 30 s: /health: connection refused" in outcome.error


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ({"models": ["other"]}, "it serves other, not m"),
        ({"models": ["m"], "key": "k"}, "the server asks for an API key"),
    ],
)
def test_what_waiting_cannot_cure_is_not_waited_for(tmp_path, server, text):
    story = Story(tmp_path, {0: ({}, server)})
    assert text in story.wait(limit=1800).error
    assert story.now == 0


def test_a_sick_engine_is_waited_for_until_its_unit_fails(tmp_path):
    story = Story(tmp_path, {0: ({}, dict(READY, health=503)), 10: ({"active": "failed"}, None)})
    assert "failed" in story.wait(limit=1800).error


def test_a_mute_model_is_not_ready(tmp_path):
    outcome = Story(tmp_path, {0: ({}, dict(READY, text=""))}).wait()
    assert "gives no answer" in outcome.error
    assert outcome.completion is None


def pooling_answer(status, body):
    def opener(url, payload, headers, timeout):
        if url.endswith("/v1/embeddings"):
            return _openai.Answer(status, json.dumps(body))
        return _openai.Answer(200, '{"data": [{"id": "m"}]}')

    return opener


@pytest.mark.parametrize(
    ("status", "body", "error", "text"),
    [
        (200, {"data": [{"embedding": [1, 2, 3]}]}, False, "embedding of 3 numbers"),
        (400, {"error": {"message": "not an embedding model"}}, False, None),
        (500, {}, True, None),
    ],
)
def test_a_pooling_model_is_asked_for_a_vector(tmp_path, status, body, error, text):
    story = Story(tmp_path, {0: ({}, READY)})
    story.node.opener = pooling_answer(status, body)
    outcome = story.wait(pooling=True)
    assert (outcome.error is not None) == error
    assert outcome.completion == text


def test_where_a_client_reaches_a_server():
    assert [_ready.address_of(host) for host in ("", "0.0.0.0", "::", "10.0.0.1", "::1")] == [
        "127.0.0.1",
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "::1",
    ]


# systemd ------------------------------------------------------------------------------------------------------------


def test_a_show_of_several_units_is_read_by_id():
    text = "Id=a.service\nActiveState=active\nMainPID=12\nNRestarts=3\n\nId=b.service\nLoadState=not-found\n"
    units = _systemd.parse_show(text)
    assert units["a.service"].main_pid == 12
    assert units["a.service"].restarts == 3
    assert not units["b.service"].up


def test_values_with_equal_signs_and_missing_numbers():
    unit = _systemd.parse_show("Id=a.service\nMainPID=[not set]\nResult=exit-code\nX=a=b\n")["a.service"]
    assert (unit.main_pid, unit.result) == (0, "exit-code")


@given(st.text())
def test_no_text_makes_the_parser_raise(text):
    for name, unit in _systemd.parse_show(text).items():
        assert name
        assert isinstance(unit, _systemd.Unit)


def test_without_systemd_it_says_so(tmp_path):
    node = world.World(tmp_path)
    node.systemctl = lambda words: (1, "", "System has not been booted with systemd as init system")
    with pytest.raises(_systemd.SystemdError, match="not been booted"):
        _systemd.show(node.runner, [UNIT])
    with pytest.raises(_systemd.SystemdError, match="daemon-reload"):
        _systemd.change(node.runner, "daemon-reload")


# causes -------------------------------------------------------------------------------------------------------------

SAID = {
    "t: start refused: NPU 6 chip 0 is held by process 1 (python3). npu-smi info -m lists:": "held by process 1",
    "t: start refused: device 9 is not there. npu-smi info -m lists:": "device 9 is not there",
    "vllm: error: unrecognized arguments: --swap-space 4": "does not know --swap-space 4",
    "vllm serve: error: argument --dtype: invalid choice: 'bf'": "does not take this --dtype",
    "OSError: [Errno 98] Address already in use": "port is taken",
    "RuntimeError: NPU out of memory. Tried to allocate 2 GiB": "does not fit into the memory",
    "ValueError: Free memory on device (1.2/29.0 GiB) is less than desired GPU memory utilization": "another",
    "dcmi module initialize failed. ret is -8005": "driver refuses",
    "OSError: libatb.so: cannot open shared object file: No such file or directory": "NNAL",
    "ImportError: libhccl.so: cannot open shared object file: No such file or directory": "libhccl.so",
    "RuntimeError: Failed to infer device type": "vllm-ascend did not load",
    "RuntimeError: call aclnn failed, DT_BFLOAT16 is not supported": "no bfloat16",
    "OSError: /m does not appear to have a file named config.json.": "model or a file of it",
    "ModuleNotFoundError: No module named 'triton'": "module triton",
    "PermissionError: [Errno 13] Permission denied: '/root/model/config.json'": "/root/model/config.json",
    "ascend-vllm-t.service: Failed to load environment files: No such file or directory": "environment file",
}


@pytest.mark.parametrize("line", sorted(SAID))
def test_a_line_of_the_journal_becomes_a_cause(line):
    cause = _causes.find(["Started", line, "Main process exited"])
    assert SAID[line] in cause.text
    assert cause.remedy


def test_the_newest_line_and_the_special_rule_win():
    lines = ["vllm: error: unrecognized arguments: --old", "RuntimeError: NPU out of memory", "--", "x"]
    assert "--old" in _causes.find(lines).text
    lines = ["error: unrecognized arguments: --old", "error: unrecognized arguments: --new"]
    assert "--new" in _causes.find(lines).text


def test_nothing_known_is_no_cause():
    assert _causes.find(["INFO: Application startup complete.", ""]) is None
    assert _causes.find([]) is None


@given(st.lists(st.text()))
def test_no_journal_makes_it_raise(lines):
    _causes.find(lines + ["error: unrecognized arguments: " + line for line in lines])
