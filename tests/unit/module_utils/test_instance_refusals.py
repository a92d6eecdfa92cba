# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an instance is refused for before anything changes, and what is said when it does not answer afterwards."""

from __future__ import annotations

import instance_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _instance_run, _lock

Failed = _instance_run.Failed
UNIT = "ascend-vllm-chat.service"


@pytest.fixture
def node(tmp_path):
    one = world.World(tmp_path)
    one.servers[8000] = {"models": ["m"]}
    return one


# refusals: nothing is changed -----------------------------------------------------------------------------------------


def refused(node, match, instances, secrets=None):
    before = world.everything(node)
    with pytest.raises(Failed, match=match) as caught:
        node.run(instances, secrets)
    after = world.everything(node)
    after.pop("/run/ascend-fleet/vllm_service.lock", None)
    before.pop("/run/ascend-fleet/vllm_service.lock", None)
    assert after == before
    assert caught.value.result == {}
    return str(caught.value)


def test_a_port_that_another_process_holds(node):
    node.listen(8000, 321, "nginx.service")
    text = refused(node, "port 8000 of chat is held by process 321", [world.wanted()])
    assert "nginx.service" in text


def test_a_port_that_an_instance_of_the_same_call_leaves_is_free(node):
    node.run([world.wanted()])
    node.listen(8000, 321, UNIT)
    node.servers[9000] = {"models": ["m"]}
    done = node.run([world.wanted(config="port: 9000\n", port=9000), world.wanted("other", 8000)])
    assert [row["ready"] for row in done["instances"]] == [True, True]
    assert node.verbs("stop") == [UNIT]


def test_a_port_that_an_instance_keeps_is_not(node):
    node.run([world.wanted()])
    node.listen(8000, 321, UNIT)
    refused(node, "both want port 8000", [world.wanted(), world.wanted("other", 8000)])


def test_a_running_instance_may_hold_its_own_port(node):
    node.run([world.wanted()])
    node.listen(8000, 321, UNIT)
    assert not node.run([world.wanted()])["changed"]
    assert node.run([world.wanted(config="port: 8000\nx: 1\n")])["changed"]


def test_a_unit_that_is_not_ours(node):
    node.write("/etc/systemd/system/" + UNIT, "[Service]\nExecStart=foreign\n")
    refused(node, "was not written by this collection", [world.wanted()])


@pytest.mark.parametrize("name", ["", "a/b", "../x", "A", ".hidden", "a b", "-x", "x" * 49, "a\n"])
def test_a_name_that_could_leave_its_folder(node, name):
    refused(node, "is no name", [world.wanted(name)])


def test_two_of_a_name(node):
    refused(node, "twice", [world.wanted(), world.wanted()])


@pytest.mark.parametrize(("key", "value"), [("A B", "x"), ("1A", "x"), ("A=", "x"), ("A", "x\ny"), ("A", "x\0")])
def test_a_secret_that_an_environment_cannot_hold_is_refused_without_its_value(node, key, value):
    text = refused(node, "chat", [world.wanted()], {"chat": {key: value}})
    assert "x\n" not in text
    assert "x\0" not in text


def test_a_lock_that_another_run_holds(node, monkeypatch):
    monkeypatch.setattr(_instance_run, "LOCK_WAIT", 0)
    with _lock.held(node.runner, _lock.layer_lock("vllm_service"), 0, "another run"):
        refused(node, "another run", [world.wanted()])


# failures after the change --------------------------------------------------------------------------------------------


def test_a_unit_that_fails_gives_its_cause_the_command_and_the_last_lines(node):
    node.dies.add(UNIT)
    node.journal = ["loading", "vllm: error: unrecognized arguments: --nonsense 1"]
    with pytest.raises(Failed) as caught:
        node.run([world.wanted()], ready_timeout=1000)
    text = str(caught.value)
    assert "chat (port 8000) failed" in text
    assert "this vLLM does not know --nonsense 1" in text
    assert "journalctl -u ascend-vllm-chat.service" in text
    assert text.endswith("--nonsense 1")
    assert caught.value.result["changed"]
    assert caught.value.result["instances"][0]["ready"] is False


def test_the_next_run_after_a_failure_starts_it_again(node):
    node.dies.add(UNIT)
    with pytest.raises(Failed):
        node.run([world.wanted()])
    node.dies.clear()
    done = node.run([world.wanted()])
    assert done["would"] == ["start " + UNIT]
    assert done["instances"][0]["ready"]


def test_one_that_fails_does_not_keep_the_others_from_being_proven(node):
    node.dies.add(UNIT)
    node.servers[8001] = {"models": ["m"]}
    with pytest.raises(Failed) as caught:
        node.run([world.wanted(), world.wanted("other", 8001)])
    assert [row["ready"] for row in caught.value.result["instances"]] == [False, True]


def test_a_full_disk_is_told_as_such(node, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device", "/etc/x")

    monkeypatch.setattr(node.runner, "write_atomic", full)
    with pytest.raises(Failed, match="No space left"):
        node.run([world.wanted()])
