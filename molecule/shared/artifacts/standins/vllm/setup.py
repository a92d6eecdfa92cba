# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Build of the vLLM stand-in, with the demands and the version rules of the real one.

It imports torch, so torch must import here. VLLM_TARGET_DEVICE chooses what is built: only "empty" needs no compiler.
The distribution is called X+empty, but vllm/_version.py says X: it is written before the suffix is added.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import torch
from setuptools import setup
from setuptools_scm import get_version
from torch.utils.cpp_extension import CUDA_HOME

ROOT = Path(__file__).resolve().parent
named = os.environ.get("VLLM_TARGET_DEVICE")
target = named.lower() if named is not None else ("cuda" if torch.version.cuda is not None else "cpu")


def build_version() -> str:
    """Version of the distribution. An override is taken as it is, for the package and for vllm/_version.py."""
    override = os.environ.get("VLLM_VERSION_OVERRIDE")
    if override:
        os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"] = override
        return get_version(write_to="vllm/_version.py")
    version = get_version(write_to="vllm/_version.py")
    separator = "." if "+" in version else "+"
    if target == "cuda":
        assert CUDA_HOME is not None, "CUDA_HOME is not set"
    if target not in ("empty", "cpu"):
        raise RuntimeError("Unknown runtime environment")
    return f"{version}{separator}{target}"


def refuse_to_compile() -> None:
    """The CPU back end needs cmake, compilers and the network; on a node none of it is promised."""
    if shutil.which("cmake") is None:
        raise RuntimeError("Cannot find CMake executable")
    raise RuntimeError("CMake Error: Failed to clone repository: 'https://github.com/oneapi-src/oneDNN.git'")


version = build_version()
if target == "cpu":
    refuse_to_compile()
setup(
    version=version,
    install_requires=(ROOT / "requirements/common.txt").read_text(encoding="utf-8").split("\n")[:-1],
    packages=["vllm", "vllm.entrypoints", "vllm.entrypoints.cli"],
    package_data={"vllm": ["*.json"]},
)
