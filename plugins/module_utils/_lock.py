# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Locks on the node: one changing module of a layer at a time, one npu-smi call of ours at a time.

The controller can die while a module works on. flock() ends with the process that holds it, so a second run waits for
the first one's installer, however it was started, and can say which process it waits for.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from typing import Iterator

from ._runner import Runner

FOLDER = "/run/ascend-fleet"
NPU_SMI = "/run/lock/ascend-npu-smi"


class Busy(Exception):
    """Somebody else holds the lock; the text says who, since when, and what to do."""


@contextlib.contextmanager
def held(runner: Runner, path: str, wait: float, what: str, mode: int = 0o644) -> Iterator[None]:
    """Hold a lock while the block runs; Busy after wait seconds.

    :param what: what we do, in words for the person who waits on us.
    """
    runner.make_folder(os.path.dirname(path))
    handle = _open(runner.real(path), mode)
    try:
        with contextlib.suppress(OSError):  # the umask may have taken bits that other users of the lock need
            os.fchmod(handle, mode)
        _acquire(handle, path, wait)
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"pid": os.getpid(), "since": int(time.time()), "what": what}).encode(), 0)
        yield
    finally:
        os.close(handle)


def _open(path: str, mode: int) -> int:
    """Without O_CREAT first: in a sticky folder that all may write, fs.protected_regular refuses O_CREAT, even to root,
    on a file that another user made."""
    try:
        return os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return os.open(path, os.O_RDWR | os.O_CREAT, mode)


def layer_lock(layer: str) -> str:
    return "%s/%s.lock" % (FOLDER, layer)


def _acquire(handle: int, path: str, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as exc:
            if exc.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        if time.monotonic() >= deadline:
            raise Busy(_who(handle, path, wait))
        time.sleep(0.2)


def _who(handle: int, path: str, wait: float) -> str:
    try:
        note = json.loads(os.pread(handle, 4096, 0).decode("utf-8", "replace"))
        holder = "process %d (%s) since %s UTC" % (
            note["pid"],
            note["what"],
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(note["since"])),
        )
        look = "ps -fp %d" % note["pid"]
    except (ValueError, KeyError, TypeError, OSError):
        holder, look = "another process", "fuser -v %s" % path
    return "%s is held by %s; waited %d s. Look with '%s' and run again when it has ended." % (path, holder, wait, look)
