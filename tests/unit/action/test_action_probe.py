"""The action probe: what it asks, and what it says when no module can run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible.module_utils import basic
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.ascend.fleet.plugins.action import probe
from ansible_collections.ascend.fleet.plugins.plugin_utils import data

KNOWN = {"vllm_service_user": {"default": "vllm"}, "cann_install_path": {"default": "/usr/local/Ascend"}}
SYNTAX_ERROR = {"failed": True, "rc": 1, "module_stderr": "SyntaxError", "msg": "Module result deserialization failed"}
NOT_FOUND = {"failed": True, "rc": 127, "module_stderr": "not found", "msg": "The module interpreter was not found."}


class Probe(probe.ActionModule):
    answer: dict[str, Any]
    pythons = ""
    asked: dict[str, Any]
    looked = False

    def _execute_module(self, module_name: str, module_args: dict[str, Any], **more: Any) -> dict[str, Any]:
        assert module_name == "ascend.fleet.probe"
        self.asked = module_args
        self._used_interpreter = "#!/usr/bin/python3"
        return dict(self.answer)

    def _low_level_execute_command(self, cmd: str, sudoable: bool = True, **more: Any) -> dict[str, Any]:
        assert sudoable is False, "what lies in /opt is never run as root"
        self.looked = True
        return {"rc": 0, "stdout": self.pythons, "stderr": ""}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "load", lambda table: KNOWN)
    monkeypatch.setattr(basic, "_PY_MIN", (3, 9))


def run(answer: dict[str, Any], pythons: str = "", **variables: Any) -> tuple[dict[str, Any], Probe]:
    task = SimpleNamespace(
        args={"paths": ["/data"]}, check_mode=True, async_val=0, action="ascend.fleet.probe", diff=False
    )
    loader = DataLoader()
    templar = Templar(loader=loader, variables=variables)
    action = Probe(task, SimpleNamespace(_shell=SimpleNamespace(tmpdir=None)), None, loader, templar, None)
    action.answer, action.pythons = answer, pythons
    return action.run(task_vars=variables), action


def test_it_asks_what_the_host_s_variables_need() -> None:
    result, action = run(
        {"ansible_facts": {"ascend_host": {}}},
        cann_install_path=trust_as_template("{{ base }}/Ascend"),
        base="/data",
        vllm_service_instances=[{"name": "chat", "model": "/models/x"}],
        ascend_artifacts=trust_as_template("{{ {'node_dir': base} }}"),
    )
    assert result["ansible_facts"] == {"ascend_host": {}} and not action.looked
    assert action.asked["cann_roots"] == ["/data/Ascend"] and "/data" in action.asked["paths"]
    assert action.asked["users"] == ["vllm"] and action.asked["read"] == ["/data/manifest.yml"]


def test_a_variable_that_cannot_be_worked_out_is_left_to_the_judge() -> None:
    _result, action = run({"ansible_facts": {}}, cann_install_path=trust_as_template("{{ nobody_set_this }}"))
    assert "cann_roots" not in action.asked


def test_a_python_that_is_too_old_is_said_in_one_line() -> None:
    result, _action = run(SYNTAX_ERROR, "FOUND /usr/bin/python3 3.7.9\nFOUND /opt/py/bin/python3 3.11.2\n")
    assert result["failed"] is True and "module_stderr" not in result and "\n" not in result["msg"]
    assert result["msg"].startswith("The node's /usr/bin/python3 is Python 3.7.9, ansible-core ")
    assert "set ansible_python_interpreter: /opt/py/bin/python3" in result["msg"]


@pytest.mark.parametrize("facts", [{}, {"ansible_facts": {"discovered_interpreter_python": "/usr/bin/python3"}}])
def test_no_python_is_said_in_one_line(facts: dict[str, Any]) -> None:
    result, _action = run({**NOT_FOUND, **facts})
    assert result["msg"].startswith("The node has no Python 3, ansible-core ")


def test_another_failure_is_handed_on_as_it_is() -> None:
    result, _action = run(SYNTAX_ERROR, "FOUND /usr/bin/python3 3.11.2\n")
    assert result["msg"] == SYNTAX_ERROR["msg"]
    own = {"failed": True, "msg": "npu-smi did not answer", "ansible_facts": {"ascend_host": {}}}
    result, action = run(own)
    assert result["msg"] == "npu-smi did not answer" and not action.looked
