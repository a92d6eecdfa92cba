# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call for all units, one call for all facts."""

from __future__ import annotations

import json

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _npu, _probe, _state, _units

UNIT = "ascend-vllm-chat.service"
SHOW = "systemctl show --no-pager --property=" + _units._PROPERTIES + " -- "
RUNNING = (
    "Result=success\nNRestarts=2\nMainPID=4123\nId=%s\nLoadState=loaded\nActiveState=active\nSubState=running\n"
    "UnitFileState=enabled\n" % UNIT
)
ABSENT = (
    "Result=success\nMainPID=0\nId=x.service\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n"
    "UnitFileState=\n"
)


@pytest.fixture(autouse=True)
def no_tools_of_this_machine(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")


def test_units(node):
    node.answers[SHOW + UNIT + " x.service"] = (0, RUNNING + "\n" + ABSENT, "")
    assert _units.gather(node.runner, [UNIT, "x.service", UNIT]) == {
        UNIT: {
            "load": "loaded", "active": "active", "sub": "running", "enabled": True, "main_pid": 4123, "restarts": 2,
            "result": "success",
        },
        "x.service": {
            "load": "not-found", "active": "inactive", "sub": "dead", "enabled": None, "main_pid": None,
            "restarts": None, "result": "success",
        },
    }  # fmt: skip
    assert len(node.calls) == 1


def test_no_units_no_call(node):
    assert _units.gather(node.runner, []) == {}
    assert node.calls == []


@pytest.mark.parametrize(
    "answer",
    [(127, "", "no systemctl"), (1, "", "System has not been booted"), (0, RUNNING, ""), (124, RUNNING, "")],
)
def test_a_systemd_that_is_silent_leaves_all_unknown(node, answer):
    node.answers[SHOW + UNIT + " x.service"] = answer
    assert _units.gather(node.runner, [UNIT, "x.service"]) == {UNIT: None, "x.service": None}


def state(node, layer, key, **have):
    record = dict(_state.new(layer, key, "test", have), status="complete")
    node.file("%s/%s/%s.json" % (_state.ROOT, layer, key), json.dumps(record))


@pytest.fixture
def ours(node):
    state(node, "conda_env", "rid", prefix="/opt/envs/a")
    state(node, "vllm_ascend", "rid", prefix="/opt/envs/a", id="rid")
    state(node, "vllm_service", "chat", unit=UNIT, instance="chat")
    node.file(_state.ROOT + "/cann/toolkit-1.json", "{cut")
    node.answers[SHOW + UNIT + " other.service"] = (0, RUNNING + "\n" + ABSENT, "")
    return node


def test_a_probe_asks_for_what_our_states_name_and_more(ours):
    ours.file("/etc/x.yml", "schema: 1\n")
    facts = _probe.gather(
        ours.runner,
        _probe.Ask(
            subset=_probe.SUBSETS, envs=["/opt/envs/a/", "/opt/b"], units=["other.service"], models=["/m"],
            read=["/etc/x.yml", "/etc/none"],
        ),
    )  # fmt: skip
    assert list(facts) == [
        "ascend_npu", "ascend_cann", "ascend_stack", "ascend_host", "ascend_envs", "ascend_units", "ascend_models",
        "ascend_reads",
    ]  # fmt: skip
    assert list(facts["ascend_envs"]) == ["/opt/envs/a", "/opt/b"]
    assert facts["ascend_units"][UNIT]["active"] == "active"
    assert list(facts["ascend_units"]) == [UNIT, "other.service"]
    assert facts["ascend_models"]["/m"]["exists"] is False
    assert facts["ascend_reads"] == {"/etc/x.yml": "schema: 1\n", "/etc/none": None}
    assert facts["ascend_stack"]["cann"] == {"toolkit-1": None}


def test_what_was_not_asked_is_absent(ours, monkeypatch):
    monkeypatch.setattr(_npu, "gather", None)  # would fail when called
    assert list(_probe.gather(ours.runner, _probe.Ask(subset=["stack", "host"]))) == [
        "ascend_stack", "ascend_host", "ascend_reads",
    ]  # fmt: skip
    assert ours.calls == []


def test_the_default_subset():
    assert "models" not in _probe.subset_of(None, [])
    assert _probe.subset_of(None, ["/m"]) == list(_probe.SUBSETS)
    assert _probe.subset_of(["npu"], ["/m"]) == ["npu"]


def test_states_without_the_expected_keys_name_nothing(node):
    state(node, "conda_env", "base", prefix=7)
    state(node, "vllm_service", "chat")
    stack = _state.gather(node.runner)
    assert _probe.prefixes(stack, []) == []
    assert _probe.units(stack, []) == []
