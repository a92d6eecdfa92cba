"""Which file is meant, from the manifests of all kinds of sources."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts
from ansible_collections.ascend.fleet.plugins.plugin_utils.artifacts import ArtifactError
from hypothesis import given
from hypothesis import strategies as st

SHA = "a" * 64


def entry(name: str, version: str, file: str, **platform: str) -> dict[str, Any]:
    return {
        "name": name,
        "version": version,
        "platform": platform,
        "file": file,
        "sha256": SHA,
        "size": 1,
        "source": "x",
    }


TOOLKIT = entry("cann-toolkit", "9.1.0", "run/toolkit_aarch64.run", arch="aarch64")
TOOLKIT_X86 = entry("cann-toolkit", "9.1.0", "run/toolkit_x86_64.run", arch="x86_64")
OPS = entry("cann-ops", "9.1.0", "run/ops.run", arch="aarch64", family="910b")
ALL = [TOOLKIT, TOOLKIT_X86, OPS]


def text(*entries: dict[str, Any]) -> str:
    return yaml.safe_dump({"schema": 1, "artifacts": list(entries)})


def folder(path: Path, *entries: dict[str, Any]) -> dict[str, str]:
    path.mkdir(parents=True, exist_ok=True)
    (path / "manifest.yml").write_text(text(*entries))
    return {"dir": str(path)}


def refused(*args: Any, **more: Any) -> ArtifactError:
    with pytest.raises(ArtifactError) as caught:
        artifacts.resolve(*args, **more)
    return caught.value


def test_a_file_on_the_controller(tmp_path: Path) -> None:
    found = artifacts.resolve(folder(tmp_path, *ALL), "cann-toolkit", "9.1.0", {"arch": "x86_64"}, {})
    assert found["where"] == "controller"
    assert found["path"] == str(tmp_path / "run/toolkit_x86_64.run")
    assert found["sha256"] == SHA


def test_a_file_on_the_node_needs_the_probe_s_reading() -> None:
    value = {"node_dir": "/srv/ascend/"}
    assert artifacts.node_manifests(value) == ["/srv/ascend/manifest.yml"]
    reads = {"/srv/ascend/manifest.yml": text(*ALL)}
    found = artifacts.resolve(value, "cann-ops", "9.1.0", {"arch": "aarch64", "family": "910B"}, reads)
    assert (found["where"], found["path"]) == ("node", "/srv/ascend/run/ops.run")
    error = refused(value, "cann-ops", "9.1.0", {}, {"/srv/ascend/manifest.yml": None})
    assert error.id == "manifest" and "/srv/ascend/manifest.yml on the node" in error.have


def test_a_mirror_is_asked_for_its_manifest_and_addresses_are_quoted() -> None:
    asked = []

    def fetch(address: str) -> str:
        asked.append(address)
        return text(entry("npu-driver", "25.5.1", "Ascend HDK/driver.run"))

    found = artifacts.resolve({"url": "https://mirror.example/a/"}, "npu-driver", "25.5.1", None, {}, fetch=fetch)
    assert asked == ["https://mirror.example/a/manifest.yml"]
    assert (found["where"], found["path"]) == ("url", "https://mirror.example/a/Ascend%20HDK/driver.run")


def test_a_mirror_that_does_not_answer_is_named() -> None:
    def fetch(address: str) -> str:
        raise OSError("connection refused")

    error = refused({"url": "http://mirror.example"}, "x", "1", {}, {}, fetch=fetch)
    assert error.id == "manifest" and "http://mirror.example/manifest.yml: connection refused" in error.have


def test_the_first_source_that_has_it_wins(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", entry("cann-nnal", "9.1.0", "a.run"))
    second = folder(tmp_path / "b", entry("cann-nnal", "9.1.0", "b.run"), OPS)
    assert artifacts.resolve([first, second], "cann-nnal", "9.1.0", {}, {})["path"].endswith("/a/a.run")
    assert artifacts.resolve([first, second], "cann-ops", "9.1.0", {}, {})["path"].endswith("/b/run/ops.run")


def test_an_unreadable_source_is_reported_only_when_no_other_has_it(tmp_path: Path) -> None:
    gone = {"dir": str(tmp_path / "gone")}
    good = folder(tmp_path / "b", OPS)
    assert artifacts.resolve([gone, good], "cann-ops", "9.1.0", {}, {})["where"] == "controller"
    error = refused([gone, good], "cann-nnal", "9.1.0", {}, {})
    assert error.id == "manifest" and "gone/manifest.yml on the controller: No such file" in error.have


def test_missing_says_what_is_there_instead(tmp_path: Path) -> None:
    error = refused(folder(tmp_path, *ALL), "cann-ops", "9.1.0", {"arch": "aarch64", "family": "310p"}, {})
    assert error.id == "missing"
    assert error.want == "cann-ops 9.1.0 (310p, aarch64)"
    assert "only cann-ops 9.1.0 (910b, aarch64) in %s" % tmp_path in error.have
    assert refused(folder(tmp_path, *ALL), "torch", "2.10.0", {}, {}).have.startswith("none of that name in")


@pytest.mark.parametrize("unset", [None, [], {}, ""])
def test_no_source_at_all_says_what_to_set(unset: Any) -> None:
    error = refused(unset, "cann-toolkit", "9.1.0", {}, {})
    assert (
        error.id == "missing" and "ascend_artifacts is not set" in str(error) and "Set ascend_artifacts" in str(error)
    )


@pytest.mark.parametrize(
    "wrong",
    [
        "/srv/ascend",
        ["/srv/ascend"],
        {"directory": "/srv"},
        {"dir": "/a", "url": "http://b"},
        {"dir": ""},
        {"dir": 5},
        {"node_dir": "relative"},
        {"url": "ftp://mirror"},
        {"url": "file:///etc"},
        7,
    ],
)
def test_a_wrong_setting_is_refused_in_words(wrong: Any) -> None:
    error = refused(wrong, "x", "1", {}, {})
    assert error.id == "manifest" and "Correct ascend_artifacts" in error.remedy


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "not YAML"),
        ("a: [1\nb: 2", "not YAML (line 2)"),
        ("- 1", "no mapping with schema: 1"),
        ("schema: 2\nartifacts: []", "no mapping with schema: 1"),
        ("schema: 1", "artifacts is not a list"),
        ("schema: 1\nartifacts: [5]", "artifact 1: not a mapping"),
        (text(dict(OPS, version=9.1)), "version is not a text"),
        (text(dict(OPS, sha256="A" * 64)), "sha256 is not 64 lower-case hex digits"),
        (text(TOOLKIT, dict(OPS, file="/etc/shadow")), "artifact 2: file '/etc/shadow' is not a path below"),
        (text(dict(OPS, file="../../etc/shadow")), "is not a path below"),
        (text(dict(OPS, platform=[1])), "platform is not a mapping"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
    ],
)
def test_a_damaged_manifest_names_the_place(content: str, what: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        artifacts.parse(content, "/srv/manifest.yml")
    assert caught.value.id == "manifest" and "/srv/manifest.yml: " in caught.value.have and what in caught.value.have


@given(st.text())
def test_any_text_is_a_manifest_or_an_artifact_error(content: str) -> None:
    try:
        assert isinstance(artifacts.parse(content, "x"), list)
    except ArtifactError as exc:
        assert exc.id == "manifest"


@pytest.mark.parametrize(
    ("have", "wanted", "fit"),
    [
        ({}, {"arch": "aarch64"}, True),
        ({"arch": "aarch64"}, {}, True),
        ({"arch": "aarch64"}, {"arch": "x86_64"}, False),
        ({"family": "a3"}, {"family": "A3"}, True),
        ({"python": "py3"}, {"python": "cp312"}, True),
        ({"python": "cp311"}, {"python": "cp312"}, False),
        ({"python": "cp38-abi3"}, {"python": "cp312"}, True),
        ({"python": "cp313-abi3"}, {"python": "cp312"}, False),
        ({"glibc": "2.17"}, {"glibc": "2.36"}, True),
        ({"glibc": "2.39"}, {"glibc": "2.36"}, False),
        ({"arch": None}, {"arch": "x86_64"}, True),
    ],
)
def test_platforms(have: dict[str, Any], wanted: dict[str, Any], fit: bool) -> None:
    assert artifacts.fits(have, wanted) is fit


def test_letter_case_of_a_version_does_not_matter_and_no_version_takes_the_first(tmp_path: Path) -> None:
    source = folder(tmp_path, entry("conda-installer", "24.11", "new.sh"), entry("conda-installer", "24.7", "old.sh"))
    assert artifacts.resolve(source, "conda-installer", None, {}, {})["file"] == "new.sh"
    source = folder(tmp_path, entry("cann-toolkit", "8.3.RC2", "t.run"))
    assert artifacts.resolve(source, "cann-toolkit", "8.3.rc2", {}, {})["file"] == "t.run"


def test_wheels_come_from_one_source_and_none_is_no_error(tmp_path: Path) -> None:
    platform = {"python": "cp312", "arch": "aarch64"}
    wheels = [
        entry("torch", "2.10.0", "w/torch-cp312.whl", python="cp312", arch="aarch64"),
        entry("torch", "2.10.0", "w/torch-cp311.whl", python="cp311", arch="aarch64"),
        entry("idna", "3.7", "w/idna.whl", python="py3"),
        TOOLKIT,
    ]
    first = folder(tmp_path / "a", OPS)
    second = folder(tmp_path / "b", *wheels)
    third = folder(tmp_path / "c", entry("numpy", "2.0", "numpy.whl", python="py3"))
    found = artifacts.wheels([first, second, third], platform, {})
    assert [item["file"] for item in found] == ["w/torch-cp312.whl", "w/idna.whl"]
    assert artifacts.wheels([first], platform, {}) == []
    with pytest.raises(ArtifactError):
        artifacts.wheels([first, {"dir": str(tmp_path / "gone")}], platform, {})


def test_check_reads_the_file_and_names_both_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    content = b"package"
    right = hashlib.sha256(content).hexdigest()
    (tmp_path / "a.run").write_bytes(content)
    source = folder(tmp_path, dict(entry("cann-nnal", "9.1.0", "a.run"), sha256=right))
    artifacts.check(artifacts.resolve(source, "cann-nnal", "9.1.0", {}, {}))
    (tmp_path / "a.run").write_bytes(b"other")
    with pytest.raises(ArtifactError) as caught:
        artifacts.check(artifacts.resolve(source, "cann-nnal", "9.1.0", {}, {}))
    assert caught.value.id == "sha256"
    for word in (right, hashlib.sha256(b"other").hexdigest(), str(tmp_path / "a.run")):
        assert word in str(caught.value)
    (tmp_path / "a.run").unlink()
    with pytest.raises(ArtifactError) as caught:
        artifacts.check(artifacts.resolve(source, "cann-nnal", "9.1.0", {}, {}))
    assert caught.value.id == "unreadable"
