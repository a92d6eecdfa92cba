"""From the variables of a host to its findings."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

import judged_host as host
import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, judgement, verdict

KNOWN = {"cann_version": {"role": "cann"}, "cann_accept_eula": {"role": "cann"}}


def request(**more: Any) -> judgement.Request:
    words: dict[str, Any] = {
        "facts": copy.deepcopy(host.facts()), "layers": verdict.LAYERS, "settings": host.settings(), "shared": {},
        "names": [], "invalid": [], "known": KNOWN, "check": False,
    }  # fmt: skip
    return judgement.Request(**dict(words, **more))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the packages of CANN 9.1.0 for A2 on x86_64."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entries = []
    for name, platform in (("toolkit", {}), ("ops", {"family": "910b"}), ("nnal", {})):
        (tmp_path / (name + ".run")).write_text(name)
        entries.append({
            "name": "cann-" + name, "version": "9.1.0", "platform": dict(platform, arch="x86_64"),
            "file": name + ".run",
            "sha256": hashlib.sha256(name.encode()).hexdigest(), "size": len(name), "source": "test",
        })  # fmt: skip
    (tmp_path / "manifest.yml").write_text(yaml.safe_dump({"schema": 1, "artifacts": entries}))
    return tmp_path


def bare(**more: Any) -> judgement.Request:
    facts = dict(host.facts(), ascend_cann={"trees": [], "nnal": []}, ascend_stack={}, ascend_envs={})
    return request(facts=facts, layers=["cann"], **more)


def ids(answer: dict[str, Any]) -> list[str]:
    return [finding["id"] for finding in answer["findings"]]


def test_a_host_that_is_as_wanted() -> None:
    answer = judgement.judge(request())
    assert (answer["findings"], answer["worst"], answer["family"], answer["arch"]) == ([], None, "910b", "x86_64")
    assert answer["runtime_id"] == answer["row"]["runtime_id"] == host.row()["runtime_id"]
    assert [len(answer["steps"][layer]) for layer in ("cann", "conda_env", "vllm_ascend", "vllm_service")] == [
        0,
        0,
        0,
        1,
    ]


def test_packages_that_are_there_are_noted_in_the_steps(shelf: Path) -> None:
    answer = judgement.judge(bare(shared={"ascend_artifacts": {"dir": str(shelf)}}))
    assert answer["findings"] == []
    assert answer["steps"]["cann"][1]["artifact"] == {
        "name": "cann-ops", "version": "9.1.0", "file": "ops.run", "size": 3,
        "platform": {"arch": "x86_64", "family": "910b"},
    }  # fmt: skip


@pytest.mark.parametrize(("content", "problem"), [("changed", "sha256"), (None, "unreadable")])
def test_a_package_that_cannot_be_used_refuses_before_any_change(
    shelf: Path, content: str | None, problem: str
) -> None:
    (shelf / "ops.run").unlink()
    if content:
        (shelf / "ops.run").write_text(content)
    answer = judgement.judge(bare(shared={"ascend_artifacts": {"dir": str(shelf)}}))
    assert ids(answer) == ["cann.artifact." + problem] and answer["worst"] == "error"


def test_packages_on_the_node_are_resolved_by_what_the_probe_read(shelf: Path) -> None:
    asked = bare(shared={"ascend_artifacts": {"node_dir": "/srv/ascend"}})
    assert ids(judgement.judge(asked)) == ["cann.artifact.manifest"]
    asked.facts["ascend_reads"] = {"/srv/ascend/manifest.yml": (shelf / "manifest.yml").read_text()}
    assert judgement.judge(asked)["findings"] == []


def test_a_mirror_is_asked_on_the_controller(shelf: Path) -> None:
    seen = []

    def fetch(address: str) -> str:
        seen.append(address)
        return (shelf / "manifest.yml").read_text()

    assert judgement.judge(bare(shared={"ascend_artifacts": {"url": "http://mirror/a"}}), fetch)["findings"] == []
    assert set(seen) == {"http://mirror/a/manifest.yml"}


def test_no_source_at_all_is_one_finding_for_all_packages() -> None:
    answer = judgement.judge(bare())
    assert ids(answer) == ["cann.artifact.missing"]
    assert answer["findings"][0]["want"].count("9.1.0") == 3


def test_an_unknown_release_is_refused_with_what_is_near() -> None:
    answer = judgement.judge(request(shared={"ascend_release": "0.23"}))
    assert "host.release.unknown" in ids(answer) and answer["row"] is None and answer["runtime_id"] is None
    assert "0.23.0" in answer["findings"][0]["want"]


def test_a_wrong_override_is_refused() -> None:
    assert "host.override.invalid" in ids(judgement.judge(request(shared={"ascend_overrides": {"canm": "9"}})))


def test_overrides_and_role_variables_make_another_runtime() -> None:
    answer = judgement.judge(request(shared={"ascend_overrides": {"torch": "2.10.1+cpu"}}))
    other = judgement.judge(request(settings=host.settings(cann_version="9.1.1")))
    assert len({answer["runtime_id"], other["runtime_id"], host.row()["runtime_id"]}) == 3
    assert other["row"]["ops"] == "9.1.1" and other["row"]["applied"][-1] == "cann_version"


@pytest.mark.parametrize("word", ["310p", "310P"])
def test_the_family_that_is_named_wins(word: str) -> None:
    answer = judgement.judge(request(layers=["cann"], shared={"ascend_family": word}))
    assert answer["family"] == "310p" and answer["row"]["triton_ascend"] is None


def test_a_family_that_no_chip_has_is_told_and_not_used() -> None:
    answer = judgement.judge(request(shared={"ascend_family": "910bb"}))
    assert ids(answer) == ["host.variable.invalid"] and answer["family"] == "910b"
    assert "did you mean 910b?" in answer["findings"][0]["want"]


def test_near_names_and_wrong_values_are_findings_of_every_layer() -> None:
    wrong = [{"name": "cann_accept_eula", "have": "a list", "want": "true or false"}]
    answer = judgement.judge(request(layers=["conda_env"], names=["cann_verson", "site"], invalid=wrong))
    assert ids(answer) == ["host.variable.misspelt", "host.variable.invalid"]


def test_a_layer_with_a_release_of_its_own_is_judged_by_its_row() -> None:
    asked = request(settings=host.settings(cann_release="0.18.0"))
    assert judgement.groups(asked) == [
        ("", ["host", "npu_driver", "conda_env", "vllm_ascend", "vllm_service"]),
        ("0.18.0", ["cann"]),
    ]
    answer = judgement.judge(asked)
    assert answer["row"]["release"] == "0.23.0"
    assert answer["steps"]["cann"][0]["version"] == "9.0.0" and answer["steps"]["conda_env"] == []


def test_host_alone_goes_with_the_first_layer_that_has_a_release() -> None:
    asked = request(layers=["host", "cann"], settings=host.settings(cann_release="0.18.0"))
    assert judgement.groups(asked) == [("0.18.0", ["host", "cann"])]


def test_a_site_adds_a_release_and_its_options(tmp_path: Path) -> None:
    row = dict(data.load("releases")["releases"]["0.23.0"], cann="9.2.0", options="9.9.9")
    (tmp_path / "releases.yml").write_text(yaml.safe_dump({"releases": {"0.99.0": row}}))
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "vllm-9.9.9.json").write_text('{"options": {"--only": {"choices": null}}}')
    shared = {"ascend_release": "0.99.0", "ascend_data_dirs": str(tmp_path)}
    answer = judgement.judge(request(layers=["vllm_service"], shared=shared, check=True))
    assert answer["row"]["cann"] == "9.2.0" and ids(answer) == ["vllm_service.setting.unknown"]


def test_a_data_folder_that_is_not_there_is_told() -> None:
    with pytest.raises(data.DataError, match="/nowhere"):
        judgement.judge(request(shared={"ascend_data_dirs": ["/nowhere"]}))


def test_the_message_lists_every_reason_and_its_remedy() -> None:
    findings = judgement.judge(request(names=["cann_verson"], shared={"ascend_release": "x"}))["findings"]
    text = judgement.message([*findings, dict(findings[0], severity="warning", id="a.b.c")], "error")
    lines = text.splitlines()
    assert lines[0] == "Refused before any change, 2 findings:" and len(lines) == 3
    assert "host.variable.misspelt: found cann_verson; wanted cann_version. Did you mean cann_version? Rename" in text
    assert "a.b.c" in judgement.message([dict(findings[0], severity="warning", id="a.b.c")], "warning")


def test_no_value_of_a_secret_is_in_an_answer() -> None:
    instance = host.instance(
        secrets={"VLLM_API_KEY": "hidden-word"}, env={"X_TOKEN": "hidden-word"}, settings={"api-key": "hidden-word"}
    )
    answer = judgement.judge(
        request(settings=host.settings(vllm_service_instances=[instance, dict(instance, modle="hidden-word")]))
    )
    assert answer["worst"] == "error" and "hidden-word" not in str(answer)
