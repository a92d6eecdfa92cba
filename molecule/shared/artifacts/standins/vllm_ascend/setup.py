# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Build of the vllm-ascend stand-in, with the demands and the words of the real one.

SOC_VERSION or an npu-smi that answers says for which chip is built. With COMPILE_CUSTOM_KERNELS (on by default) the
build wants CANN's toolkit and operators, pybind11, cmake, and a python3 on PATH whose pip knows torch-npu.
FAKE_BUILD_SECONDS makes the kernel build take that long, to be killed in the middle.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools_scm import get_version

ROOT = Path(__file__).resolve().parent
TRAITS = json.loads((ROOT / "traits.json").read_text(encoding="utf-8"))
KERNELS = bool(int(os.environ.get("COMPILE_CUSTOM_KERNELS", "1")))
DEFAULT_HOMES = ("/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann")
UNKNOWN_CHIP = (
    "Could not determine chip type automatically via 'npu-smi'. This can happen in a CPU-only environment. "
    "Please set the 'SOC_VERSION' environment variable to specify the target chip."
)


def ask(*words: str) -> dict[str, str]:
    """Answer of npu-smi as {title: value}."""
    text = subprocess.check_output(["npu-smi", "info", *words]).decode()
    pairs = (line.partition(":") for line in text.splitlines())
    return {" ".join(title.split()): value.strip() for title, colon, value in pairs if colon}


def chip_type() -> str:
    """Chip as npu-smi names it, "" without npu-smi."""
    try:
        npu = ask("-l")["NPU ID"]
        board = ask("-t", "board", "-i", npu) if TRAITS["two_stages"] else {}
        if not board.get("Chip Name"):
            board = ask("-t", "board", "-i", npu, "-c", "0")
    except subprocess.CalledProcessError as err:
        raise RuntimeError(f"Get chip info failed: {err}") from err
    except FileNotFoundError:
        logging.warning(
            "npu-smi command not found, if this is an npu envir, please check if npu driver is installed correctly."
        )
        return ""
    name, kind, npu_name = board.get("Chip Name", ""), board.get("Chip Type", ""), board.get("NPU Name", "")
    if "310" in name or ("910" in name and kind):
        return (kind + name).lower()
    if "910" in name or "950" in name:
        return f"{name}_{npu_name}".lower()
    raise ValueError(f"Unable to recognize chip name: {name}, please manually set env SOC_VERSION")


def soc_version() -> str:
    soc = os.environ.get("SOC_VERSION")
    found = chip_type() if TRAITS["asks_npu_smi_always"] or not soc else ""
    if not soc and not found:
        raise RuntimeError(UNKNOWN_CHIP)
    return soc or found


def device_type(soc: str) -> str:
    if any(word in soc for word in TRAITS["soc_950"]):
        return "A5"
    assert soc in TRAITS["soc_to_device"], f"Undefined soc_version: {soc}. Please file an issue to vllm-ascend."
    return TRAITS["soc_to_device"][soc]


SOC = soc_version()


class BuildInfo(build_py):
    """Writes vllm_ascend/_build_info.py."""

    def run(self) -> None:
        text = f"# Auto-generated file\n__device_type__ = '{device_type(SOC)}'\n"
        (ROOT / "vllm_ascend/_build_info.py").write_text(text, encoding="utf-8")
        super().run()


class Kernels(build_ext):
    """Checks what the kernel build needs, in its order, and leaves a file where the compiled kernels would be."""

    def run(self) -> None:
        if not KERNELS:
            return
        home = self.cann_home()
        linux = f"{platform.machine()}-linux"
        if not (home / linux / "ascend_toolkit_install.info").exists():
            raise RuntimeError(
                f"CMake configuration failed: ascendc_kernel_cmake does not exist below {home}, "
                "please check whether the cann package is installed."
            )
        operators = (home / linux / "ascend_ops_install.info", home / "opp_kernel/version.info")
        if not any(path.exists() for path in operators):
            print("fatal error: aclnnop/aclnn_util.h: No such file or directory", file=sys.stderr)
            raise SystemExit(1)
        self.check_tools()
        time.sleep(float(os.environ.get("FAKE_BUILD_SECONDS", "0")))
        target = Path(self.build_lib) / "vllm_ascend"
        target.mkdir(parents=True, exist_ok=True)
        made_for = (
            f"stand-in for compiled kernels: {SOC}, CANN {home.resolve()}, jobs {os.environ.get('MAX_JOBS', 'all')}\n"
        )
        (target / "libvllm_ascend_kernels.so").write_text(made_for, encoding="utf-8")

    def cann_home(self) -> Path:
        opp = os.environ.get("ASCEND_OPP_PATH")
        named = os.environ.get("ASCEND_HOME_PATH") or (os.path.dirname(opp.rstrip("/")) if opp else "")
        home = named or next((path for path in DEFAULT_HOMES if os.path.isdir(path)), "")
        if not home:
            print(
                "Error: Please set the toolkit package installation directory through parameter -p|--package-path.",
                file=sys.stderr,
            )
            raise SystemExit(1)
        return Path(home)

    def check_tools(self) -> None:
        try:
            subprocess.check_output([sys.executable, "-m", "pybind11", "--cmakedir"])
            shown = subprocess.check_output(["python3", "-m", "pip", "show", "torch-npu"]).decode()
        except subprocess.CalledProcessError as err:
            raise RuntimeError(f"CMake configuration failed: {err}") from err
        place = next(
            (line.partition(":")[2].strip() for line in shown.splitlines() if line.startswith("Location:")), ""
        )
        if not os.path.isdir(f"{place}/torch_npu"):
            raise RuntimeError(f"CMake configuration failed: TORCH_NPU_PATH={place}/torch_npu does not exist")
        if shutil.which("cmake") is None:
            raise RuntimeError("Cannot find CMake executable")


class WithKernels(Distribution):
    """A wheel with kernels belongs to one platform and one Python."""

    def has_ext_modules(self) -> bool:
        return KERNELS


setup(
    name="vllm_ascend",
    version=get_version(write_to="vllm_ascend/_version.py"),
    python_requires=">=3.10",
    install_requires=(ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")[:-1],
    packages=["vllm_ascend"],
    package_data={"vllm_ascend": ["*.json"]},
    cmdclass={"build_py": BuildInfo, "build_ext": Kernels},
    distclass=WithKernels,
    entry_points={"vllm.platform_plugins": ["ascend = vllm_ascend:register"]},
)
