# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in wheels (versions.json names them) and the real wheels of the tools that a source build needs."""

from __future__ import annotations

import base64
import hashlib
import shutil
import zipfile
from pathlib import Path

from common import ARCH, HERE, pip, swap, versions, zip_entry

STANDINS = HERE / "standins"
# Distributions with a body of their own; every other one is the generic package under its import name.
BODIES = {"torch": "torch", "torch-npu": "torch_npu"}
IMPORT_NAMES = {"triton-ascend": "triton"}
ENTRY_POINTS = {
    "torch-npu": "[torch.backends]\ntorch_npu = torch_npu:_autoload\n",
    "cmake": "[console_scripts]\ncmake = cmake:main\n",
    "ninja": "[console_scripts]\nninja = ninja:main\n",
}
# torch_npu for x86_64 pins the CPU build of torch, which has a local version; for aarch64 it does not.
CPU_LABEL = "+cpu" if ARCH == "x86_64" else ""
PLATFORM = f"manylinux_2_28_{ARCH}"


def wheel_name(name: str, version: str, tag: str) -> str:
    """File name of a wheel; TAG is cp311 or py3."""
    rest = "none-any" if tag == "py3" else f"{tag}-{PLATFORM}"
    return f"{name.replace('-', '_')}-{version}-{tag}-{rest}.whl"


def body(name: str, version: str) -> dict[str, bytes]:
    """{path in the wheel: content} of a stand-in."""
    source = STANDINS / BODIES.get(name, "tool")
    module = IMPORT_NAMES.get(name, name.replace("-", "_"))
    files = {}
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8").replace("@VERSION@", version).replace("@NAME@", name)
        files[path.relative_to(source).as_posix().replace("TOOL/", f"{module}/", 1)] = text.encode()
    return files


def write_wheel(folder: Path, name: str, version: str, tag: str, requires: list[str]) -> Path:
    """Write one stand-in wheel into FOLDER, byte for byte the same each time."""
    out = folder / wheel_name(name, version, tag)
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    tags = out.name[:-4].split("-", 2)[2]
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        "Summary: Stand-in for tests, without function",
        "Requires-Python: >=3.10",
        *(f"Requires-Dist: {item.replace('@CPU@', CPU_LABEL)}" for item in requires),
    ]
    wheel = [
        "Wheel-Version: 1.0",
        "Generator: fleet-artifacts",
        f"Root-Is-Purelib: {str(tag == 'py3').lower()}",
        f"Tag: {tags}",
    ]
    files = body(name, version)
    files[f"{info}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    files[f"{info}/WHEEL"] = ("\n".join(wheel) + "\n").encode()
    if name in ENTRY_POINTS:
        files[f"{info}/entry_points.txt"] = ENTRY_POINTS[name].encode()
    record = [f"{path},sha256={_hash(content)},{len(content)}" for path, content in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zip_entry(path), content, zipfile.ZIP_DEFLATED)
    return out


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build(helper: Path, pins: Path, out: Path) -> list[Path]:
    """Write OUT/wheels and return its files. The real wheels come from the package index, for every Python tag."""
    table = versions()
    new = out / ".work" / "wheels"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for row in table["wheels"]:
        for tag in row["tags"]:
            write_wheel(new, row["name"], row["version"], tag, row["requires"])
    for tag in table["tags"]:
        platforms = [f"--platform=manylinux_2_{minor}_{ARCH}" for minor in (17, 28)] + [
            f"--platform=manylinux2014_{ARCH}"
        ]
        target = ["--only-binary=:all:", f"--python-version={tag[2]}.{tag[3:]}", *platforms]
        pip(helper, "download", *target, "-c", str(pins), "-d", str(new), *table["build_tools"])
    swap(new, out / "wheels")
    return sorted((out / "wheels").glob("*.whl"))
