# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Miniforge-shaped installer with a real conda inside: a base prefix, packed behind a shell header."""

from __future__ import annotations

import json
import os
import re
import shutil
import urllib.request
from pathlib import Path

from common import ARCH, EPOCH, HERE, BuildError, clean_info, files_below, gzipped_tar, pip, run
from condapkg import Package

NAME = f"Miniforge3-test-Linux-{ARCH}.sh"
PLACEHOLDER = "/fleet-test-conda-prefix"
CARRIER = "conda-lock"
# What the vendored conda imports; its own list of requirements is not kept in the copy.
NEEDS = (
    "boltons",
    "ruamel.yaml",
    "requests",
    "tqdm",
    "pluggy",
    "packaging",
    "platformdirs",
    "distro",
    "frozendict",
    "zstandard",
    "conda-package-handling",
    "conda-package-streaming",
    "archspec",
    "truststore",
    "jsonpatch",
    "pycosat",
    "pip",
    "setuptools",
    "wheel",
)
# A fresh Miniforge knows one channel and nothing else. The vendored copy has no libmamba, so the old solver is named.
CONDARC = "channels:\n  - conda-forge\nsolver: classic\n"
LAUNCHER = f"""#!{PLACEHOLDER}/bin/python
import sys

if __name__ == "__main__":
    from conda.cli import main

    sys.exit(main())
"""


def build(python: Package, work: Path, helper: Path, pins: Path, out: Path) -> Path:
    """Make OUT/Miniforge3-test-Linux-<arch>.sh. PYTHON is the tree for the base, HELPER a Python of the same line."""
    base = work / "base"
    shutil.copytree(python.root, base, symlinks=True)
    site = next(base.glob("lib/python3*/site-packages"))
    pip(helper, "install", "--no-compile", "-c", str(pins), "--target", str(site), *NEEDS)
    shutil.rmtree(site / "bin", ignore_errors=True)
    version = _conda(site, work, helper, pins)
    _furnish(base, site)
    _records(base, site, python, version)
    _use_placeholder(base, python.placeholder)
    _compile(site, helper)
    return _pack(base, out)


def _conda(site: Path, work: Path, helper: Path, pins: Path) -> str:
    """Put the vendored conda into SITE under its own name and return its version."""
    carrier = work / "carrier"
    pip(helper, "install", "--no-compile", "--no-deps", "-c", str(pins), "--target", str(carrier), CARRIER)
    vendored = carrier / "conda_lock/_vendor"
    if not (vendored / "conda/cli").is_dir():
        raise BuildError(f"{CARRIER} no longer carries conda; pin an older one in {pins.name}.")
    shutil.move(vendored / "conda", site / "conda")
    for path in (site / "conda").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "conda_lock._vendor" in text:
            text = text.replace("conda_lock._vendor.conda", "conda").replace("from conda_lock._vendor import", "import")
            path.write_text(text, encoding="utf-8")
    match = re.search(r"conda\.git@([0-9.]+)", (vendored / "vendor.txt").read_text(encoding="utf-8"))
    if not match:
        raise BuildError(f"{CARRIER} does not say which conda it carries.")
    (site / "conda/_version.py").write_text(f'__version__ = version = "{match[1]}"\n', encoding="utf-8")
    info = site / f"conda-{match[1]}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: conda\nVersion: {match[1]}\n", encoding="utf-8")
    return match[1]


def _furnish(base: Path, site: Path) -> None:
    """Launcher, shell functions and the folders that a fresh installation has."""
    for path in (site / "conda/shell/etc/profile.d/conda.sh", base / "etc/profile.d/conda.sh"):
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "installer/conda.sh", path)
    (base / "bin/conda").write_text(LAUNCHER, encoding="utf-8")
    (base / "bin/conda").chmod(0o755)
    (base / "condabin").mkdir()
    (base / "condabin/conda").symlink_to("../bin/conda")
    (base / ".condarc").write_text(CONDARC, encoding="utf-8")
    for folder in ("pkgs", "envs"):
        (base / folder).mkdir()
        (base / folder / ".keep").write_text("", encoding="utf-8")


def _records(base: Path, site: Path, python: Package, conda: str) -> None:
    """conda-meta: what makes the folder an environment, with the two packages people look for."""
    meta = base / "conda-meta"
    meta.mkdir()
    parts = [(site / "conda"), (site / f"conda-{conda}.dist-info"), base / "condabin"]
    owned = [path for part in parts for path in files_below(part)] + [base / "bin/conda"]
    rows = {
        "python": (python.version, python.build, files_below(python.root), python.root),
        "conda": (conda, "0_vendored", owned, base),
    }
    for name, (version, build, files, root) in rows.items():
        dist = f"{name}-{version}-{build}"
        names = [path.relative_to(root).as_posix() for path in files]
        record = {
            "name": name,
            "version": version,
            "build": build,
            "build_number": 0,
            "depends": [],
            "subdir": python.subdir,
            "channel": f"https://conda.anaconda.org/conda-forge/{python.subdir}",
            "fn": f"{dist}.conda",
            "url": f"https://conda.anaconda.org/conda-forge/{python.subdir}/{dist}.conda",
            "timestamp": EPOCH * 1000,
            "files": names,
            "paths_data": {"paths": [], "paths_version": 1},
            "link": {"source": "", "type": 1},
        }
        (meta / f"{dist}.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    (meta / "history").write_text("", encoding="utf-8")


def _use_placeholder(base: Path, origin: str) -> None:
    """Replace the path of the tree's origin by the placeholder and list every text file that holds it."""
    names = []
    for path in files_below(base):
        content = b"" if path.is_symlink() else path.read_bytes()
        if b"\0" in content or not (origin.encode() in content or PLACEHOLDER.encode() in content):
            continue
        path.write_bytes(content.replace(origin.encode(), PLACEHOLDER.encode()))
        names.append(path.relative_to(base).as_posix())
    (base / ".placeholders").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def _compile(site: Path, helper: Path) -> None:
    """Bytecode of what every conda call imports, valid whatever the time of the sources: saves each node seconds."""
    names = [path for path in site.iterdir() if path.suffix != ".dist-info" and path.name not in ("pip", "setuptools")]
    words = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(site.parents[2]), *map(str, names)]
    run([str(helper), "-m", "compileall", *words])


def _pack(base: Path, out: Path) -> Path:
    """Header and payload as one file."""
    payload = base.parent / "payload.tar.gz"
    with gzipped_tar(payload, level=1) as tar:
        for path in sorted(base.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                continue
            tar.add(path, path.relative_to(base).as_posix(), recursive=False, filter=clean_info)
    head = (HERE / "installer/head.sh").read_text(encoding="utf-8").replace("@PLACEHOLDER@", PLACEHOLDER)
    # The header names the size of the whole file, its own digits included, hence a field of fixed width.
    size = len(head.replace("@SIZE@", " " * 12).encode()) + payload.stat().st_size
    target = out / NAME
    new = target.with_suffix(".new")
    with new.open("wb") as stream, payload.open("rb") as source:
        stream.write(head.replace("@SIZE@", f"{size:<12}").encode())
        shutil.copyfileobj(source, stream)
    new.chmod(0o755)
    os.replace(new, target)
    return target


def fetch(url: str, out: Path) -> Path:
    """Download a real installer from URL (FLEET_MINIFORGE_URL) for machines without a relocatable CPython."""
    target = out / url.rsplit("/", 1)[-1]
    try:
        with urllib.request.urlopen(url, timeout=120) as answer, target.with_suffix(".new").open("wb") as stream:
            shutil.copyfileobj(answer, stream)
    except OSError as err:
        raise BuildError(f"FLEET_MINIFORGE_URL={url} cannot be fetched: {err}") from err
    os.replace(target.with_suffix(".new"), target)
    print(f"installer: fetched {url}; the channels that it uses must be reachable from the nodes")
    return target
