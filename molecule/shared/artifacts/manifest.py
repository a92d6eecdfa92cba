# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""manifest.yml of the artifact folder, in the shape of docs/contracts.md, and overrides.yml where they are needed.

The builder knows what it made, so nothing is guessed from contents; only the vendor's names of `.run` files are read.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from common import ARCH, ROOT, BuildError, write_text

SOURCE = "made by molecule/shared/artifacts/build.py"
# `Ascend-cann-910b-ops_8.5.0_linux-x86_64.run`, `Ascend-cann-kernels-910b_8.3.RC2_linux-x86_64.run`,
# `Atlas-A3-cann-kernels_…`: name and chip of a package by the vendor's file name.
RUN_NAMES = (
    (r"^Ascend-cann-toolkit_", "cann-toolkit"),
    (r"^Ascend-cann-nnal_", "cann-nnal"),
    (r"^Ascend-cann-(?P<family>\w+)-ops_", "cann-ops"),
    (r"^Ascend-cann-kernels-(?P<family>\w+)_", "cann-ops"),
    (r"^Atlas-(?P<family>\w+)-cann-kernels_", "cann-ops"),
    (r"-npu-driver_", "npu-driver"),
    (r"-npu-firmware_", "npu-firmware"),
)
RUN_VERSION = re.compile(r"^[^_]+_(?P<version>[0-9][\w.]*?)(?:_linux-(?P<arch>\w+))?\.run$")


def describe(file: str) -> dict | None:
    """{name, version, platform} of a file by its path below OUT; None for what is no artifact (channel, model)."""
    folder, name = os.path.split(file)
    if folder == "run" and name.endswith(".run"):
        return _run_package(name)
    if folder == "wheels":
        parts = name[: -len(".whl")].split("-")
        distribution, version = parts[:2]
        python, abi, platform = parts[-3:]
        tag = "py3" if "py3" in python.split(".") else f"{python}-abi3" if abi == "abi3" else python
        row = {"python": tag}
        if platform != "any":
            # A wheel may carry several tags; the oldest C library of them is enough for it.
            minors = [int(minor) for minor in re.findall(r"manylinux_2_(\d+)_", platform)]
            row.update({"arch": ARCH}, **({"glibc": f"2.{min(minors)}"} if minors else {}))
        return {"name": re.sub(r"[-_.]+", "-", distribution).lower(), "version": version, "platform": row}
    match = re.fullmatch(r"sources/(vllm|vllm_ascend)-(.+)\.tar\.gz", file)
    if match:
        return {"name": f"{match[1].replace('_', '-')}-source", "version": match[2], "platform": {}}
    match = re.fullmatch(r"(?:Miniforge3|Mini\w+)-(.+)-Linux-(\w+)\.sh", file)
    if match:
        return {"name": "conda-installer", "version": match[1], "platform": {"arch": match[2]}}
    return None


def _run_package(name: str) -> dict:
    version = RUN_VERSION.search(name)
    for pattern, kind in RUN_NAMES:
        match = re.search(pattern, name)
        if match and version:
            platform = {"arch": version["arch"]} if version["arch"] else {}
            if kind == "cann-ops":
                platform["family"] = match["family"].lower()
            return {"name": kind, "version": version["version"], "platform": platform}
    raise BuildError(f"run/{name}: no known package name; extend RUN_NAMES in manifest.py")


def render(files: dict[str, list]) -> str:
    """Text of manifest.yml; FILES as in a stamp: {path: [size, mtime, sha256]}."""
    lines = ["---", "schema: 1", "artifacts:"]
    for file, (size, _mtime, sha) in sorted(files.items()):
        row = describe(file)
        if row:
            entry = {**row, "file": file, "sha256": sha, "size": size, "source": SOURCE}
            lines.append("  - " + "\n    ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items()))
    return "\n".join(lines) + "\n"


def overrides(lines: list[str]) -> str:
    """Text of overrides.yml when the default release's Python is not in the channel, "" when it is.

    LINES are the Python lines of the channel, like 3.11. Raises BuildError when the release can use none of them.
    """
    path = ROOT / "data" / "json" / "releases.json"
    if not path.exists() or not lines:
        return ""
    table = json.loads(path.read_text(encoding="utf-8"))
    row = table["releases"][table["default"]]
    if row["python_default"] in lines:
        return ""
    low, high = ([int(part) for part in bound.split(".")] if bound else [99] for bound in row["python"])
    fitting = [line for line in lines if low <= [int(part) for part in line.split(".")] < high]
    if not fitting:
        raise BuildError(
            f"Release {table['default']} takes Python {row['python']}; this machine can only give {lines}."
        )
    return (
        f'---\n# The channel has no Python {row["python_default"]} on this machine.\npython_default: "{fitting[0]}"\n'
    )


def write(out: Path, files: dict[str, list], lines: list[str]) -> None:
    """Write OUT/manifest.yml, and OUT/overrides.yml or remove it. Unchanged files keep their time."""
    for name, text in (("manifest.yml", render(files)), ("overrides.yml", overrides(lines))):
        path = out / name
        if not text:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
