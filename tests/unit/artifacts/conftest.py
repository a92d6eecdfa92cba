# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The builder of the test artifacts runs on the machine of whoever develops, on Python 3.11 or newer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BUILDER = Path(__file__).resolve().parents[3] / "molecule" / "shared" / "artifacts"
# An installed collection has neither molecule nor these stand-ins.
collect_ignore_glob = [] if BUILDER.is_dir() and sys.version_info >= (3, 11) else ["test_*.py"]
sys.path.insert(0, str(BUILDER))


@pytest.fixture(scope="session")
def trees(tmp_path_factory):
    """{"0.23.0": folder that makes the stand-ins of that release importable}: torch, torch_npu, vllm, vllm_ascend."""
    import tarfile

    import sources
    import wheels

    out = tmp_path_factory.mktemp("sources")
    sources.build(out)
    made = {}
    for release in ("0.13.0", "0.18.0", "0.23.0"):
        folder = made[release] = out / release
        for name in ("vllm", "vllm_ascend"):
            with tarfile.open(out / "sources" / f"{name}-{release}.tar.gz") as tar:
                tar.extractall(out / "unpacked", filter="data")
            (out / "unpacked" / f"{name}-{release}" / name).rename(folder_of(folder) / name)
            info = folder / f"{name}-{release}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}+empty\n")
        plugin = "[vllm.platform_plugins]\nascend = vllm_ascend:register\n"
        (folder / f"vllm_ascend-{release}.dist-info" / "entry_points.txt").write_text(plugin)
        (folder / "vllm" / "_version.py").write_text(f'__version__ = "{release}"\n')
        (folder / "vllm_ascend" / "_build_info.py").write_text("__device_type__ = 'A2'\n")
        for name in ("torch", "torch-npu"):
            for path, content in wheels.body(name, "2.10.0").items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
        info = folder_of(folder / "torch_npu-2.10.0.dist-info")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.10.0\n")
        (info / "entry_points.txt").write_text(wheels.ENTRY_POINTS["torch-npu"])
    return made


def folder_of(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def cann(tmp_path):
    """Environment of a CANN tree as torch_npu wants it, and of eight cards."""
    home = tmp_path / "cann-9.1.0"
    for name in ("runtime", "compiler", "opp", "lib64"):
        (home / name).mkdir(parents=True)
    (home / "lib64" / "libhccl.so").write_bytes(b"")
    return {
        "ASCEND_HOME_PATH": str(home), "ASCEND_OPP_PATH": str(home / "opp"), "LD_LIBRARY_PATH": str(home / "lib64"),
        "FAKE_NPU_COUNT": "8", "FAKE_NPU_NAME": "910B4",
    }  # fmt: skip


@pytest.fixture
def tiny(tmp_path):
    """A model folder that can be served."""
    import model

    model.build(tmp_path)
    return tmp_path / "model" / "tiny"
