# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""SHA-256 of files on the controller, computed once for each content.

Packages are gigabytes and every host of a run asks for the same ones from its own forked process, so a digest is kept
on disk with the size and times of the file, and the first process to ask holds a lock while the others wait for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from typing import Any, Dict, Iterator, Optional, TextIO

_HEX = re.compile(r"^[0-9a-f]{64}$")


def cache_folder() -> str:
    """Folder of everything this collection keeps on the controller between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "ascend-fleet")


def sha256_now(path: str) -> str:
    """Hex SHA-256 of a file, read now. OSError when it cannot be read."""
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        for block in iter(lambda: handle.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def sha256_of(path: str, folder: Optional[str] = None) -> str:
    """Hex SHA-256 of a file, from the cache while size and times are the same. OSError when it cannot be read.

    :param folder: cache folder; only tests set it. A cache that cannot be written costs time, never the answer.
    """
    path = os.path.realpath(path)
    os.stat(path)  # an absent file is the caller's OSError, not a reason to go without the cache
    key = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    note = os.path.join(folder or cache_folder(), "sha256", key + ".json")
    try:
        stream = _open_note(note)
    except OSError:
        return sha256_now(path)
    with stream, locked(stream):
        stamp = _stamp(path)
        kept = _kept(stream)
        if kept.get("stamp") == stamp and _HEX.match(str(kept.get("sha256"))):
            return kept["sha256"]
        digest = sha256_now(path)
        if _stamp(path) == stamp:  # a file that is being written has no digest worth keeping
            with contextlib.suppress(OSError):
                stream.seek(0)
                stream.truncate()
                json.dump({"path": path, "stamp": stamp, "sha256": digest}, stream)
                stream.flush()
        return digest


@contextlib.contextmanager
def locked(stream: TextIO) -> Iterator[None]:
    """Hold the exclusive lock of an open file while the block runs."""
    fcntl.flock(stream, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(stream, fcntl.LOCK_UN)


def _open_note(path: str) -> TextIO:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8", errors="replace")


def _kept(stream: TextIO) -> Dict[str, Any]:
    try:
        note = json.load(stream)
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _stamp(path: str) -> list[int]:
    info = os.stat(path)
    return [info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns]
