# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs over a node in a folder: what is written, started, left alone, refused and removed."""

from __future__ import annotations

import json
import os

import instance_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import (
    _instance,
    _instance_run,
    _state,
)

Failed = _instance_run.Failed
UNIT = "ascend-vllm-chat.service"
SECRET = 'k"3$y\\`'


@pytest.fixture
def node(tmp_path):
    one = world.World(tmp_path)
    one.servers[8000] = {"models": ["m"]}
    return one


def state(node, name="chat"):
    return _state.load(node.runner, "vllm_service", name)


# first run, second run ----------------------------------------------------------------------------------------------


def test_a_bare_node_gets_files_unit_and_state_and_the_model_is_asked(node):
    done = node.run([world.wanted()], {"chat": {"VLLM_API_KEY": SECRET}})
    assert done["changed"]
    assert done["instances"][0]["ready"] is True
    assert done["instances"][0]["completion"] == "Paris"
    assert node.units[UNIT]["enabled"] == "enabled"
    assert node.units[UNIT]["active"] == "active"
    assert state(node)["status"] == "complete"
    assert os.stat(node.root + _instance.secrets_path("chat")).st_mode & 0o777 == 0o600
    assert os.stat(node.root + "/etc/ascend-fleet/vllm/chat.yaml").st_mode & 0o777 == 0o644
    assert os.stat(node.root + "/var/lib/ascend-vllm/chat").st_mode & 0o777 == 0o750
    assert node.read(world.LAUNCHER + "/launch.py") == "entry\n"


def test_the_second_run_changes_nothing_and_makes_one_systemctl_call_for_the_look(node):
    node.run([world.wanted()])
    node.calls.clear()
    done = node.run([world.wanted()])
    assert (done["changed"], done["would"], done["diff"]) == (False, [], [])
    assert done["instances"][0]["ready"] is True
    assert done["instances"][0]["completion"] is None
    assert [words[0] for words in node.calls] == ["systemctl", "systemctl"]


def test_the_model_is_asked_again_when_that_is_wanted(node):
    node.run([world.wanted()])
    assert node.run([world.wanted()], prove="completion")["instances"][0]["completion"] == "Paris"


def test_check_mode_on_a_bare_node_says_everything_and_does_nothing(node):
    before = world.everything(node)
    done = node.run([world.wanted()], {"chat": {"A": "b"}}, check=True)
    assert world.everything(node) == before
    assert node.units == {}
    assert done["would"] == [
        "write the launcher " + world.LAUNCHER,
        "write /etc/systemd/system/" + UNIT,
        "write /etc/ascend-fleet/vllm/chat.yaml",
        "write /etc/ascend-fleet/vllm/chat.secrets",
        "enable " + UNIT,
        "start " + UNIT,
    ]
    assert done["instances"][0]["ready"] is None


def test_check_mode_tells_of_a_steady_instance_whether_it_answers(node):
    node.run([world.wanted()])
    assert node.run([world.wanted()], check=True)["instances"][0]["ready"] is True
    node.servers.clear()
    done = node.run([world.wanted()], check=True)
    assert done["changed"] is False
    assert done["instances"][0]["ready"] is False


# changes ------------------------------------------------------------------------------------------------------------


def test_a_changed_config_restarts_and_only_that_file_is_written(node):
    node.run([world.wanted()])
    node.calls.clear()
    done = node.run([world.wanted(config="port: 8000\nmax-model-len: 1\n")])
    assert done["would"] == ["write /etc/ascend-fleet/vllm/chat.yaml", "restart " + UNIT]
    assert node.verbs("stop") == [UNIT]
    assert node.verbs("start") == [UNIT]
    assert node.verbs("daemon-reload") == []


def test_a_newer_launcher_alone_is_written_without_a_restart_and_the_old_one_goes(node):
    node.run([world.wanted()])
    node.calls.clear()
    newer = "/opt/ascend-fleet/libexec/89abcdef"
    node.site = node.site._replace(launcher_path=newer)
    done = node.run([world.wanted(launcher=newer)])
    assert done["would"] == ["write the launcher " + newer, "write /etc/systemd/system/" + UNIT]
    assert node.verbs("start") == []
    assert not node.exists(world.LAUNCHER)
    assert node.exists(newer)


def test_a_unit_that_changed_otherwise_restarts_after_a_reload(node):
    node.run([world.wanted()])
    node.calls.clear()
    node.run([world.wanted(unit="Nice=5\n")])
    verbs = [words[2] for words in node.calls if words[0] == "systemctl" and words[2] != "show"]
    assert [verb for verb in verbs if verb in ("daemon-reload", "stop", "start")] == ["daemon-reload", "stop", "start"]


def test_a_changed_secret_restarts_and_is_in_no_result_and_no_other_file(node):
    node.run([world.wanted()], {"chat": {"VLLM_API_KEY": "first-secret"}})
    done = node.run([world.wanted()], {"chat": {"VLLM_API_KEY": "second-secret"}})
    assert done["would"] == ["write /etc/ascend-fleet/vllm/chat.secrets", "restart " + UNIT]
    assert "secret" not in json.dumps(done).replace("chat.secrets", "").replace("(secrets as", "")
    for path, text in world.everything(node).items():
        assert "second-secret" not in text or path == _instance.secrets_path("chat")
        assert "first-secret" not in text
    assert not node.run([world.wanted()], {"chat": {"VLLM_API_KEY": "second-secret"}})["changed"]


def test_secrets_that_were_taken_away_leave_no_file(node):
    node.run([world.wanted()], {"chat": {"A": "b"}})
    assert _instance.secrets_path("chat") in state(node)["made"]["paths"]
    done = node.run([world.wanted()], {"chat": {}})
    assert done["would"] == ["remove /etc/ascend-fleet/vllm/chat.secrets", "restart " + UNIT]
    assert not node.exists(_instance.secrets_path("chat"))
    assert _instance.secrets_path("chat") not in state(node)["made"]["paths"]


def test_a_secrets_file_that_others_can_read_is_closed_without_a_restart(node):
    node.run([world.wanted()], {"chat": {"A": "b"}})
    node.calls.clear()
    os.chmod(node.root + _instance.secrets_path("chat"), 0o644)
    done = node.run([world.wanted()], {"chat": {"A": "b"}})
    assert done["would"] == ["write /etc/ascend-fleet/vllm/chat.secrets"]
    assert os.stat(node.root + _instance.secrets_path("chat")).st_mode & 0o777 == 0o600
    assert node.verbs("start") == []


def test_a_file_that_somebody_edited_is_put_back(node):
    node.run([world.wanted()])
    node.write("/etc/ascend-fleet/vllm/chat.yaml", "port: 1\n")
    assert node.run([world.wanted()])["would"] == ["write /etc/ascend-fleet/vllm/chat.yaml", "restart " + UNIT]


# restart: pending ---------------------------------------------------------------------------------------------------


def test_pending_writes_leaves_running_and_says_so_until_it_is_restarted(node):
    node.run([world.wanted()])
    node.calls.clear()
    newer = world.wanted(config="port: 9000\n", port=9000)
    done = node.run([newer], restart="pending")
    assert done["changed"]
    assert done["instances"][0]["pending_restart"]
    assert done["instances"][0]["ready"], "it answers on its old port"
    assert node.verbs("start") == []
    again = node.run([newer], restart="pending")
    assert not again["changed"]
    assert again["instances"][0]["pending_restart"]
    node.servers = {9000: {"models": ["m"]}}
    assert node.run([newer])["would"] == ["restart " + UNIT]
    assert not node.run([newer])["instances"][0]["pending_restart"]


def test_pending_is_over_when_somebody_restarted_the_unit(node):
    node.run([world.wanted()])
    newer = world.wanted(config="port: 8000\nx: 1\n")
    node.run([newer], restart="pending")
    node.units[UNIT]["invocation"] = "somebody's"
    done = node.run([newer], restart="pending")
    assert not done["instances"][0]["pending_restart"]


def test_pending_with_another_key_does_not_call_the_old_one_wrong(node):
    node.run([world.wanted()], {"chat": {"VLLM_API_KEY": "old"}})
    node.servers[8000]["key"] = "old"
    done = node.run([world.wanted()], {"chat": {"VLLM_API_KEY": "new"}}, restart="pending")
    assert done["instances"][0]["ready"]


def test_a_run_that_was_killed_between_files_and_restart_is_finished(node, monkeypatch):
    node.run([world.wanted()])
    newer = world.wanted(config="port: 8000\nx: 1\n")
    whole = node.systemctl

    def killed(words):
        if words[0] == "stop":
            raise KeyboardInterrupt
        return whole(words)

    monkeypatch.setattr(node, "systemctl", killed)
    with pytest.raises(KeyboardInterrupt):
        node.run([newer])
    monkeypatch.undo()
    assert state(node)["status"] == "installing"
    assert node.run([newer])["would"] == ["restart " + UNIT]
    assert state(node)["status"] == "complete"
    assert not node.run([newer])["changed"]


# states -------------------------------------------------------------------------------------------------------------


def test_stopped_is_installed_and_does_not_run(node):
    node.run([world.wanted()])
    done = node.run([world.wanted(state="stopped")])
    assert done["would"] == ["disable " + UNIT, "stop " + UNIT]
    assert done["instances"][0]["ready"] is None
    assert not node.run([world.wanted(state="stopped")])["changed"]
    assert node.exists("/etc/ascend-fleet/vllm/chat.yaml")


def test_stopped_on_a_bare_node_is_never_started(node):
    node.run([world.wanted(state="stopped")])
    assert node.verbs("start") == []
    assert state(node)["status"] == "complete"


def test_absent_removes_what_the_state_names_and_nothing_else(node):
    before = world.everything(node)
    node.run([world.wanted(), world.wanted("other", 8001, state="stopped")], {"chat": {"A": "b"}})
    node.write("/etc/ascend-fleet/vllm/foreign.yaml", "mine\n")
    node.write("/var/lib/ascend-vllm/chat/cache/big", "x")
    done = node.run([world.wanted(state="absent")])
    assert done["would"] == ["stop and remove " + UNIT]
    left = set(world.everything(node)) - set(before)
    assert not [path for path in left if "chat" in path]
    assert "/etc/ascend-fleet/vllm/foreign.yaml" in left
    assert "/etc/ascend-fleet/vllm/other.yaml" in left
    assert node.exists(world.LAUNCHER), "another instance needs it"
    assert not node.run([world.wanted(state="absent")])["changed"]


def test_the_last_one_takes_the_launcher_and_the_folders_with_it(node):
    node.run([world.wanted()])
    node.run([world.wanted(state="absent")])
    assert not node.exists(world.LAUNCHER)
    assert not node.exists("/etc/ascend-fleet/vllm")
    assert not node.exists("/var/lib/ascend-vllm")


def test_absent_without_a_state_leaves_a_foreign_unit_alone(node):
    node.write("/etc/systemd/system/" + UNIT, "[Service]\nExecStart=foreign\n")
    assert not node.run([world.wanted(state="absent")])["changed"]
    assert node.exists("/etc/systemd/system/" + UNIT)


def test_absent_with_a_damaged_state_says_so_and_removes_nothing(node):
    node.run([world.wanted()])
    node.write(_state.path_of("vllm_service", "chat"), "{")
    with pytest.raises(Failed, match="cannot be read"):
        node.run([world.wanted(state="absent")])
    assert node.exists("/etc/ascend-fleet/vllm/chat.yaml")
