"""What a file is, by its name, and the manifest of a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts, bundle
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[3]
TABLES = yaml.safe_load((ROOT / "data" / "packages.yml").read_text())


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize(
    ("file", "name", "version", "platform"),
    [
        ("Ascend-cann-toolkit_9.1.0_linux-aarch64.run", "cann-toolkit", "9.1.0", {"arch": "aarch64"}),
        ("Ascend-cann-toolkit_8.3.RC2_linux-x86_64.run", "cann-toolkit", "8.3.RC2", {"arch": "x86_64"}),
        ("Ascend-cann-toolkit_9.1.0-beta.1_linux-x86_64.run", "cann-toolkit", "9.1.0-beta.1", {"arch": "x86_64"}),
        ("Ascend-cann-910b-ops_8.5.0_linux-aarch64.run", "cann-ops", "8.5.0", {"arch": "aarch64", "family": "910b"}),
        ("Ascend-cann-A3-ops_9.0.0_linux-x86_64.run", "cann-ops", "9.0.0", {"arch": "x86_64", "family": "a3"}),
        ("Ascend-cann-950-ops_9.1.0_linux-aarch64.run", "cann-ops", "9.1.0", {"arch": "aarch64", "family": "950"}),
        ("Ascend-cann-kernels-310p_7.0.0_linux.run", "cann-ops", "7.0.0", {"family": "310p"}),
        (
            "Ascend-cann-kernels-910_8.2.RC1_linux-x86_64.run",
            "cann-ops",
            "8.2.RC1",
            {"arch": "x86_64", "family": "910"},
        ),
        ("Atlas-A3-cann-kernels_8.3.RC1_linux-aarch64.run", "cann-ops", "8.3.RC1", {"arch": "aarch64", "family": "a3"}),
        ("Ascend-cann-nnal_9.1.0_linux-aarch64.run", "cann-nnal", "9.1.0", {"arch": "aarch64"}),
        (
            "Ascend-hdk-910b-npu-driver_25.5.1_linux-x86-64.run",
            "npu-driver",
            "25.5.1",
            {"arch": "x86_64", "family": "910b"},
        ),
        (
            "Atlas-A3-hdk-npu-driver_25.5.1_linux-aarch64.run",
            "npu-driver",
            "25.5.1",
            {"arch": "aarch64", "family": "a3"},
        ),
        (
            "Atlas-A5-hdk-npu-driver_26.0.RC1_linux-aarch64.run",
            "npu-driver",
            "26.0.RC1",
            {"arch": "aarch64", "family": "950"},
        ),
        ("Ascend-hdk-310p-npu-firmware_7.0.0.5.242.run", "npu-firmware", "7.0.0.5.242", {"family": "310p"}),
        ("Miniforge3-24.11.3-2-Linux-aarch64.sh", "conda-installer", "24.11.3-2", {"arch": "aarch64"}),
        ("Miniforge3-Linux-x86_64.sh", "conda-installer", "unversioned", {"arch": "x86_64"}),
        ("Miniforge3-test-Linux-x86_64.sh", "conda-installer", "test", {"arch": "x86_64"}),
        ("Miniconda3-py312_24.9.2-0-Linux-aarch64.sh", "conda-installer", "py312_24.9.2-0", {"arch": "aarch64"}),
        ("vllm-0.23.0.tar.gz", "vllm-source", "0.23.0", {}),
        ("vllm_ascend-0.23.0.post1.tar.gz", "vllm-ascend-source", "0.23.0.post1", {}),
        ("vllm-ascend-0.18.0rc1.tar.gz", "vllm-ascend-source", "0.18.0rc1", {}),
        ("idna-3.7-py3-none-any.whl", "idna", "3.7", {"python": "py3"}),
        ("six-1.16.0-py2.py3-none-any.whl", "six", "1.16.0", {"python": "py3"}),
        (
            "torch_npu-2.10.0.post4-cp312-cp312-manylinux_2_28_aarch64.whl",
            "torch-npu",
            "2.10.0.post4",
            {"python": "cp312", "arch": "aarch64", "glibc": "2.28"},
        ),
        (
            "numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "numpy",
            "1.26.4",
            {"python": "cp311", "arch": "x86_64", "glibc": "2.17"},
        ),
        (
            "torch-2.10.0+cpu-cp312-cp312-linux_x86_64.whl",
            "torch",
            "2.10.0+cpu",
            {"python": "cp312", "arch": "x86_64"},
        ),
        (
            "safetensors-0.5.3-cp38-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
            "safetensors",
            "0.5.3",
            {"python": "cp38-abi3", "arch": "aarch64", "glibc": "2.17"},
        ),
        ("Foo.Bar_baz-1-2-py3-none-any.whl", "foo-bar-baz", "1", {"python": "py3"}),
    ],
)
def test_names(file: str, name: str, version: str, platform: dict[str, str]) -> None:
    found = bundle.recognise(file, TABLES)
    assert found is not None
    assert found[:3] == (name, version, platform)
    assert found[3]


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("Ascend-cann_9.1.0_linux-aarch64.run", "combined"),
        ("Ascend-cann-nnrt_8.3.RC1_linux-aarch64.run", "not needed"),
        ("Ascend-cann-toolkit_9.1.0_linux-aarch64.zip", "unpack"),
        ("toolkit.run", "name it as its vendor does"),
        ("lxml-5.0-cp312-cp312-musllinux_1_2_x86_64.whl", "another operating system"),
        ("torch-2.10.0-cp312-none-macosx_11_0_arm64.whl", "another operating system"),
        ("old-1.0-py2-none-any.whl", "neither what it is"),
        ("requests-2.0.tar.gz", "neither what it is"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_reason(file: str, word: str) -> None:
    assert bundle.recognise(file, TABLES) is None
    why = bundle.advice(file, TABLES)
    assert why is not None and word in why


@pytest.mark.parametrize(
    "file", ["README.md", "config.json", "model.safetensors", "python-3.11-0.conda", "repodata.json"]
)
def test_other_files_are_passed_over(file: str) -> None:
    assert bundle.recognise(file, TABLES) is None and bundle.advice(file, TABLES) is None


@given(st.text(max_size=60))
def test_no_name_breaks_it(file: str) -> None:
    found = bundle.recognise(file, TABLES)
    assert found is None or found[0]


def test_every_pattern_compiles_and_every_row_has_a_source() -> None:
    for row in TABLES["files"]:
        assert set(row) <= {"name", "match", "platform", "source"} and row["source"] and row["name"]
        bundle.re.compile(row["match"])


def make(folder: Path, *files: str) -> None:
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.encode())


def test_the_manifest_of_a_folder_is_one_that_resolves(tmp_path: Path) -> None:
    make(
        tmp_path,
        "run/Ascend-cann-toolkit_9.0.0_linux-aarch64.run",
        "run/Ascend-cann-toolkit_9.1.0_linux-aarch64.run",
        "run/Ascend-cann-toolkit_9.1.0.RC1_linux-aarch64.run",
        "wheels/idna-3.7-py3-none-any.whl",
        "notes.txt",
        ".hidden/Ascend-cann-nnal_9.1.0_linux-aarch64.run",
        "broken.run",
        "manifest.yml",
    )
    found = bundle.scan(str(tmp_path), TABLES)
    assert [(entry["name"], entry["version"]) for entry in found.manifest["artifacts"]] == [
        ("cann-toolkit", "9.1.0"),
        ("cann-toolkit", "9.1.0.RC1"),
        ("cann-toolkit", "9.0.0"),
        ("idna", "3.7"),
    ]
    assert [item["file"] for item in found.unknown] == ["broken.run"]
    (tmp_path / "manifest.yml").write_text(bundle.render(found.manifest))
    chosen: dict[str, Any] = artifacts.resolve({"dir": str(tmp_path)}, "cann-toolkit", None, {"arch": "aarch64"}, {})
    assert chosen["version"] == "9.1.0"
    assert chosen["sha256"] == hashlib.sha256(b"run/Ascend-cann-toolkit_9.1.0_linux-aarch64.run").hexdigest()
    assert chosen["size"] == 47
    artifacts.check(chosen)


def test_it_is_the_same_for_the_same_folder(tmp_path: Path) -> None:
    make(tmp_path, "b/vllm-0.23.0.tar.gz", "a/vllm-0.23.0.tar.gz", "vllm_ascend-0.23.0.tar.gz")
    first = bundle.render(bundle.describe(str(tmp_path), TABLES))
    assert first == bundle.render(bundle.describe(str(tmp_path), TABLES))
    assert first.index("a/vllm-0.23.0") < first.index("b/vllm-0.23.0")


def test_a_folder_that_is_not_there_is_the_caller_s_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        bundle.describe(str(tmp_path / "gone"), TABLES)
