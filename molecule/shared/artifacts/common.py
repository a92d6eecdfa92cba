# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What all parts of the artifact builder share: paths, running commands, stamps, reproducible archives."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache"
ARCH = platform.machine()
# One fixed time in every archive: the same inputs give the same bytes, so that nodes and caches see no change.
EPOCH = 1767225600


class BuildError(Exception):
    """A part cannot be built; the text says why and what to put where."""


def versions() -> dict:
    """Table of all stand-in versions (versions.json beside this file)."""
    return json.loads((HERE / "versions.json").read_text(encoding="utf-8"))


def run(argv: list[str], **options) -> subprocess.CompletedProcess:
    """Run ARGV with captured text output. Raises BuildError with the tail of its output when it fails."""
    argv = [str(word) for word in argv]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, **options)
    except OSError as err:
        raise BuildError(f"{argv[0]} cannot be started: {err}") from err
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        raise BuildError(f"{' '.join(argv)} ended with {done.returncode}:\n{tail}")
    return done


def pip(python: Path, *words: str) -> None:
    """Run pip of PYTHON quietly; the user's own pip settings (index, proxy, certificates) stay in force."""
    try:
        run([str(python), "-m", "pip", "-q", "--disable-pip-version-check", "--no-input", *words])
    except BuildError as err:
        raise BuildError(f"{err}\nThe package index must be reachable once; later builds need no network.") from err


def sha256_file(path: Path) -> str:
    """Hex digest of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def digest_of(*things: object) -> str:
    """Hex digest over values and files. A Path stands for its content, a folder for every file below it."""
    digest = hashlib.sha256()
    for thing in things:
        paths = [thing] if isinstance(thing, Path) else []
        if paths and thing.is_dir():
            paths = sorted(path for path in thing.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        for path in paths:
            digest.update(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}\0".encode())
            digest.update(path.read_bytes())
        if not paths:
            digest.update(json.dumps(thing, sort_keys=True, default=str).encode())
        digest.update(b"\0")
    return digest.hexdigest()


class Stamp:
    """What a part was made from and what it left: OUT/.stamps/<part>.json {inputs, files: {path: [...]}}."""

    def __init__(self, out: Path, part: str) -> None:
        self.out = out
        self.path = out / ".stamps" / f"{part}.json"

    def read(self) -> dict:
        """The stamp, or an empty one where there is none or it is damaged."""
        try:
            stamp = json.loads(self.path.read_text(encoding="utf-8"))
            return stamp if {"inputs", "files"} <= stamp.keys() else {"inputs": None, "files": {}}
        except (OSError, ValueError, AttributeError):
            return {"inputs": None, "files": {}}

    def current(self, inputs: str) -> bool:
        """True when the inputs are the same and every file is there, untouched since (size and mtime)."""
        stamp = self.read()
        if stamp["inputs"] != inputs or not stamp["files"]:
            return False
        for name, (size, mtime, _sha) in stamp["files"].items():
            try:
                found = (self.out / name).stat()
            except OSError:
                return False
            if (found.st_size, found.st_mtime_ns) != (size, mtime):
                return False
        return True

    def write(self, inputs: str, files: list[Path]) -> None:
        """Remember INPUTS and the size, mtime and hash of FILES (below OUT)."""
        kept = {}
        for path in sorted(files):
            found = path.stat()
            kept[str(path.relative_to(self.out))] = [found.st_size, found.st_mtime_ns, sha256_file(path)]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, json.dumps({"inputs": inputs, "files": kept}, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old or the new content, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def swap(new: Path, old: Path) -> None:
    """Put the finished folder NEW in the place of OLD."""
    gone = old.with_name(old.name + ".gone")
    shutil.rmtree(gone, ignore_errors=True)
    if old.exists():
        old.rename(gone)
    new.rename(old)
    shutil.rmtree(gone, ignore_errors=True)


def files_below(folder: Path) -> list[Path]:
    """Every file and link below FOLDER, sorted; folders themselves are left out."""
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def clean_info(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Tar filter: owner root, one fixed time, ordinary modes."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mtime = EPOCH
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return info


def zip_entry(name: str) -> zipfile.ZipInfo:
    """Head of a file in a zip: one fixed time, ordinary mode."""
    entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
    entry.external_attr = 0o644 << 16
    return entry


@contextlib.contextmanager
def gzipped_tar(path: Path, level: int = 9) -> Iterator[tarfile.TarFile]:
    """A tar to fill, written to PATH through gzip, with a header that says nothing about when and where."""
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(path.open("wb"))
        zipped = gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=raw, mtime=EPOCH)
        yield stack.enter_context(tarfile.open(fileobj=stack.enter_context(zipped), mode="w"))


def add_bytes(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    """Add CONTENT as file NAME to a tar."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    tar.addfile(clean_info(info), io.BytesIO(content))
