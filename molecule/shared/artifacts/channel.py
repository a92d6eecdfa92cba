# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The test channel: every Python line that this machine can give, and pip, setuptools, wheel as noarch packages."""

from __future__ import annotations

import shutil
from pathlib import Path

import condapkg
import relocatable
from common import BuildError, pip, run, swap

PIP_SCRIPTS = ["pip = pip._internal.cli.main:main", "pip3 = pip._internal.cli.main:main"]
ZSTD = (
    "import sys, zstandard; source, target = (open(p, m) for p, m in zip(sys.argv[1:], ('rb', 'wb'))); "
    "zstandard.ZstdCompressor(level=3).copy_stream(source, target)"
)
NONE_FOUND = (
    "No relocatable CPython 3.10 to 3.12 found on this machine, so no conda channel can be made. Either put one where "
    "it is looked for (pyenv, a python-build-standalone tree, or name it in FLEET_TEST_PYTHON), or set "
    "FLEET_MINIFORGE_URL to a Miniforge installer; then the channels it uses must be reachable from the nodes."
)


def trees(work: Path, patchelf: Path) -> dict[str, condapkg.Package]:
    """Cut every line's tree below WORK: {"3.11": Package}. Raises BuildError when there is none."""
    found = relocatable.find()
    if not found:
        raise BuildError(NONE_FOUND)

    def cut(line: str) -> condapkg.Package:
        root = work / f"python-{line}"
        root.mkdir(parents=True)
        relocatable.cut(found[line], line, root, patchelf)
        version = relocatable.full_version(found[line], line)
        return condapkg.Package("python", version, root, "0_cpython", placeholder=str(found[line]))

    return {line: cut(line) for line in found}


def tools(work: Path, helper: Path, pins: Path) -> list[condapkg.Package]:
    """pip, setuptools and wheel as noarch packages, from the wheels of the package index."""
    wheels = work / "tool-wheels"
    names = ("pip", "setuptools", "wheel", "packaging")
    pip(helper, "download", "--no-deps", "--only-binary=:all:", "-c", str(pins), "-d", str(wheels), *names)
    needs = {"pip": ["python >=3.9", "setuptools", "wheel"], "wheel": ["python >=3.9", "packaging"]}
    packages = []
    for wheel in sorted(wheels.glob("*.whl")):
        name = wheel.name.split("-")[0].lower()
        scripts = PIP_SCRIPTS if name == "pip" else []
        packages.append(condapkg.from_wheel(wheel, work, needs.get(name, ["python >=3.9"]), scripts))
    return packages


def compressor(helper: Path) -> condapkg.Compress:
    """zstd by the helper's Python: the standard library has it from 3.14 on only."""

    def compress(source: Path, target: Path) -> None:
        run([str(helper), "-I", "-c", ZSTD, str(source), str(target)])

    return compress


def build(packages: list[condapkg.Package], helper: Path, out: Path) -> list[Path]:
    """Write PACKAGES as OUT/channel and return its files."""
    new = out / ".work" / "channel"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for package in packages:
        condapkg.write(package, new, compressor(helper))
    condapkg.write_repodata(new, packages)
    swap(new, out / "channel")
    return [path for path in (out / "channel").rglob("*") if path.is_file()]
