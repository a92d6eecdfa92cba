# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fact modules from their options to what they return, with their documentation as the measure."""

from __future__ import annotations

from typing import ClassVar

import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.module_utils import _npu, _probe
from ansible_collections.ascend.fleet.plugins.modules import cann_facts, npu_facts, probe, stack_facts

MODULES = {"probe": probe, "npu_facts": npu_facts, "cann_facts": cann_facts, "stack_facts": stack_facts}


class Ended(Exception):
    """What exit_json or fail_json was called with."""


class Module:
    """As much of AnsibleModule as the fact modules use; params are the documented defaults and what the test adds."""

    given: ClassVar[dict] = {}
    spec: ClassVar[dict] = {}

    def __init__(self, argument_spec, supports_check_mode):
        assert supports_check_mode
        type(self).spec = argument_spec
        self.params = {name: option.get("default") for name, option in argument_spec.items()}
        self.params.update(self.given)

    run_command = None  # the node in a folder answers instead

    def exit_json(self, **result):
        raise Ended(result)

    def fail_json(self, **result):
        raise Ended(dict(result, failed=True))


@pytest.fixture
def call(monkeypatch, node):
    def run(module, **given):
        monkeypatch.setattr(module, "AnsibleModule", type("Given", (Module,), {"given": given}))
        monkeypatch.setattr(module, "Runner", lambda _run_command: node.runner)
        with pytest.raises(Ended) as ended:
            module.main()
        return ended.value.args[0], module.AnsibleModule.spec

    monkeypatch.setenv("PATH", "/nonexistent")
    return run


@pytest.mark.parametrize("name", MODULES)
def test_options_are_those_of_the_documentation(call, name):
    _result, spec = call(MODULES[name])
    documented = yaml.safe_load(MODULES[name].DOCUMENTATION).get("options", {})
    assert set(spec) == set(documented)
    for option, details in spec.items():
        told = documented[option]
        assert details["type"] == told["type"], option
        assert details.get("default") == told.get("default"), option
        assert details.get("choices") == told.get("choices"), option
        assert details.get("elements") == told.get("elements"), option


@pytest.mark.parametrize("name", MODULES)
def test_nothing_changes_and_every_documented_fact_comes(call, name):
    result, _spec = call(MODULES[name], **({"models": ["/m"]} if name == "probe" else {}))
    assert result["changed"] is False
    documented = yaml.safe_load(MODULES[name].RETURN)["ansible_facts"]["contains"]
    assert set(result["ansible_facts"]) == set(documented)


@pytest.mark.parametrize(
    ("module", "fact"), [(npu_facts, "ascend_npu"), (cann_facts, "ascend_cann")], ids=["npu_facts", "cann_facts"]
)
def test_the_keys_of_a_fact_are_those_of_its_documentation(call, module, fact):
    result, _spec = call(module)
    documented = yaml.safe_load(module.RETURN)["ansible_facts"]["contains"][fact]["contains"]
    assert set(result["ansible_facts"][fact]) == set(documented)


def test_the_documented_device_has_the_keys_of_a_real_one():
    documented = yaml.safe_load(npu_facts.RETURN)["ansible_facts"]["contains"]["ascend_npu"]["contains"]["devices"]
    assert sorted(documented["sample"][0]) == sorted(_npu._COLUMNS)


@pytest.mark.parametrize("module", [probe, npu_facts], ids=["probe", "npu_facts"])
@pytest.mark.parametrize("timeout", [0, -1])
def test_a_senseless_timeout_is_misuse(call, module, timeout):
    result, _spec = call(module, timeout=timeout)
    assert result["failed"]
    assert "at least 1 second" in result["msg"]


def test_a_subset_leaves_the_rest_out(call):
    result, _spec = call(probe, subset=["stack"])
    assert set(result["ansible_facts"]) == {"ascend_stack", "ascend_reads"}


def test_every_subset_of_the_code_can_be_asked_for():
    assert yaml.safe_load(probe.DOCUMENTATION)["options"]["subset"]["choices"] == list(_probe.SUBSETS)
