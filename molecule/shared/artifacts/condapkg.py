# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes conda packages (.conda) and the index of a channel folder, in the documented formats, without conda."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from common import ARCH, EPOCH, add_bytes, clean_info, files_below, sha256_file, zip_entry

SUBDIR = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}.get(ARCH, f"linux-{ARCH}")
# Packs the file named first as a zstd stream into the file named second.
Compress = Callable[[Path, Path], None]


@dataclass
class Package:
    """One package: its tree, and what info/index.json says of it."""

    name: str
    version: str
    root: Path
    build: str = "0"
    depends: list[str] = field(default_factory=list)
    noarch: bool = False
    entry_points: list[str] = field(default_factory=list)
    placeholder: str = ""

    @property
    def subdir(self) -> str:
        return "noarch" if self.noarch else SUBDIR

    @property
    def dist(self) -> str:
        return f"{self.name}-{self.version}-{self.build}"

    @property
    def file(self) -> str:
        return f"{self.dist}.conda"

    def index(self) -> dict:
        """Content of info/index.json."""
        platform = (
            {"noarch": "python", "platform": None, "arch": None} if self.noarch else {"platform": "linux", "arch": ARCH}
        )
        return {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "build_number": 0,
            "depends": self.depends,
            "subdir": self.subdir,
            "license": "see the files",
            "timestamp": EPOCH * 1000,
            **platform,
        }

    def paths(self) -> list[dict]:
        """Entries of info/paths.json; text files that name the placeholder are marked for rewriting at install."""
        entries = []
        for path in files_below(self.root):
            entry: dict = {"_path": path.relative_to(self.root).as_posix()}
            entry["path_type"] = "softlink" if path.is_symlink() else "hardlink"
            content = path.read_bytes() if path.exists() else os.readlink(path).encode()
            entry.update(sha256=hashlib.sha256(content).hexdigest(), size_in_bytes=len(content))
            if (
                self.placeholder
                and not path.is_symlink()
                and self.placeholder.encode() in content
                and b"\0" not in content
            ):
                entry.update(prefix_placeholder=self.placeholder, file_mode="text")
            entries.append(entry)
        return entries


def write(package: Package, channel: Path, compress: Compress) -> Path:
    """Write the package below CHANNEL and return its path: a zip of two tars, one with info/, one with the rest."""
    folder = channel / package.subdir
    folder.mkdir(parents=True, exist_ok=True)
    paths = package.paths()
    info = {
        "index.json": json.dumps(package.index(), sort_keys=True),
        "paths.json": json.dumps({"paths": paths, "paths_version": 1}),
        "files": "".join(f"{entry['_path']}\n" for entry in paths),
        "has_prefix": "".join(f"{e['prefix_placeholder']} text {e['_path']}\n" for e in paths if "file_mode" in e),
    }
    if package.noarch:
        link = {"noarch": {"type": "python", "entry_points": package.entry_points}, "package_metadata_version": 1}
        info["link.json"] = json.dumps(link)
    tars = {name: package.root.with_name(f"{name}-{package.dist}.tar") for name in ("info", "pkg")}
    with tarfile.open(tars["info"], "w") as tar:
        for name, text in info.items():
            if text:
                add_bytes(tar, f"info/{name}", text.encode())
    with tarfile.open(tars["pkg"], "w") as tar:
        for path in files_below(package.root):
            tar.add(path, path.relative_to(package.root).as_posix(), recursive=False, filter=clean_info)
    out = folder / package.file
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zip_entry("metadata.json"), json.dumps({"conda_pkg_format_version": 2}))
        for tar in tars.values():
            packed = tar.with_suffix(".tar.zst")
            compress(tar, packed)
            archive.writestr(zip_entry(packed.name), packed.read_bytes())
            tar.unlink()
            packed.unlink()
    return out


def from_wheel(wheel: Path, work: Path, depends: list[str], entry_points: list[str]) -> Package:
    """A noarch Python package from a pure wheel, unpacked below WORK."""
    name, version = wheel.name.split("-")[:2]
    root = work / f"noarch-{name}"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root / "site-packages")
    return Package(
        name.lower().replace("_", "-"), version, root, "pyh0", depends, noarch=True, entry_points=entry_points
    )


def write_repodata(channel: Path, packages: list[Package]) -> list[Path]:
    """Write repodata.json of both subfolders (noarch must exist even when empty) and return their paths."""
    out = []
    for subdir in ("noarch", SUBDIR):
        (channel / subdir).mkdir(parents=True, exist_ok=True)
        rows = {}
        for package in sorted((p for p in packages if p.subdir == subdir), key=lambda p: p.dist):
            path = channel / subdir / package.file
            md5 = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
            rows[path.name] = {**package.index(), "md5": md5, "sha256": sha256_file(path), "size": path.stat().st_size}
        content = {
            "info": {"subdir": subdir},
            "packages": {},
            "packages.conda": rows,
            "removed": [],
            "repodata_version": 1,
        }
        target = channel / subdir / "repodata.json"
        target.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        out.append(target)
    return out
