"""The action judge: variables of a host in, a verdict or a refusal out, and no node."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plugin_utils"))
import judged_host as host
from ansible_collections.ascend.fleet.plugins.action import judge
from ansible_collections.ascend.fleet.plugins.plugin_utils import data

KNOWN = {
    "cann_release": {"role": "cann", "type": "str", "default": "{{ ascend_release | default('') }}"},
    "cann_accept_eula": {"role": "cann", "type": "bool", "default": False},
    "cann_install_path": {"role": "cann", "type": "path", "default": "/usr/local/Ascend"},
    "cann_version": {"role": "cann", "type": "str", "default": ""},
    "conda_env_root": {"role": "conda_env", "type": "path", "default": "/opt/ascend-fleet/envs"},
    "conda_env_base": {"role": "conda_env", "type": "path", "default": "{{ undefined_by_somebody }}"},
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    real = data.load
    monkeypatch.setattr(data, "load", lambda table, *rest: KNOWN if table == "variables" else real(table, *rest))


def run(variables: dict[str, Any] | None = None, check: bool = False, **args: Any) -> dict[str, Any]:
    variables = variables or {}
    loader = DataLoader()
    task = SimpleNamespace(
        args=dict({"probe": host.facts(), "layers": ["host", "npu_driver", "cann"]}, **args),
        check_mode=check, async_val=0, action="ascend.fleet.judge", diff=False, environment=[], collections=[],
    )  # fmt: skip
    templar = Templar(loader=loader, variables=variables)
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))
    action = judge.ActionModule(task, connection, None, loader, templar, None)
    return action.run(task_vars=variables)


def bare(**more: Any) -> dict[str, Any]:
    return dict(host.facts(), ascend_cann={"trees": [], "nnal": []}, **more)


def test_a_host_that_is_as_wanted_passes() -> None:
    result = run()
    assert not result.get("failed") and result["refused"] is False and result["changed"] is False
    assert (result["family"], result["arch"], result["worst"]) == ("910b", "x86_64", None)
    assert result["steps"] == {"cann": []} and result["row"]["release"] == "0.23.0"


def test_an_error_refuses_with_every_reason() -> None:
    result = run(probe=bare())
    assert result["failed"] and result["refused"] and result["worst"] == "error"
    assert "cann.eula.not_accepted" in result["msg"] and "cann.artifact.missing" in result["msg"]
    assert result["msg"].startswith("Refused before any change, 2 findings:")


def test_fail_on_none_gives_the_findings_and_passes() -> None:
    result = run(probe=bare(), fail_on="none")
    assert not result.get("failed") and result["refused"] is False and len(result["findings"]) == 2


def test_fail_on_warning_refuses_what_is_only_not_documented() -> None:
    facts = host.facts()
    facts["ascend_npu"]["truncated"] = True
    assert not run(probe=facts).get("failed")
    assert "npu_driver.smi.truncated" in run(probe=facts, fail_on="warning")["msg"]


def test_what_is_ignored_does_not_refuse() -> None:
    result = run(probe=bare(), ignore=["cann.eula.not_accepted", "cann.artifact.missing"])
    assert not result.get("failed") and result["findings"] == []


def test_an_id_that_does_not_exist_cannot_be_ignored() -> None:
    with pytest.raises(AnsibleActionFail, match=r"Did you mean cann\.eula\.not_accepted\?"):
        run(ignore=["cann.eula.not_acepted"])


def test_variables_and_defaults_are_templated() -> None:
    variables = {"ascend_release": trust_as_template("{{ mine }}"), "mine": "0.18.0"}
    result = run(variables, fail_on="none")
    assert result["row"]["release"] == "0.18.0"
    assert result["steps"]["cann"][0]["version"] == "9.0.0"


def test_a_release_that_does_not_exist_is_a_refusal_and_no_traceback() -> None:
    result = run({"ascend_release": "0.23"})
    assert result["failed"] and result["row"] is None
    assert "host.release.unknown: found release 0.23; wanted 0.23.0" in result["msg"]


@pytest.mark.parametrize(("given", "findings"), [("yes", 1), (True, 1), ("false", 2), ("maybe", 3)])
def test_text_of_the_command_line_is_taken_as_what_it_says(given: Any, findings: int) -> None:
    result = run({"cann_accept_eula": given}, probe=bare(), fail_on="none")
    assert len(result["findings"]) == findings
    assert ("host.variable.invalid" in [one["id"] for one in result["findings"]]) == (given == "maybe")


def test_a_near_name_is_refused_and_others_pass() -> None:
    result = run({"cann_verson": "9.1.0", "cann_mirror": "x", "ansible_user": "ops"})
    assert [one["id"] for one in result["findings"]] == ["host.variable.misspelt"] and result["failed"]


def test_variables_of_layers_that_are_not_asked_are_not_worked_out() -> None:
    assert not run(layers=["cann"]).get("failed")
    with pytest.raises(AnsibleActionFail, match="variable conda_env_base cannot be worked out"):
        run(layers=["conda_env"])


def test_a_data_folder_that_is_not_there_is_told() -> None:
    with pytest.raises(AnsibleActionFail, match="/nowhere"):
        run({"ascend_data_dirs": ["/nowhere"]})


def test_layers_are_checked() -> None:
    with pytest.raises(Exception, match="layers"):
        run(layers=["cnan"])
