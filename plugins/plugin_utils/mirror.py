# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Small texts from a mirror, fetched by the controller once for each run.

Every host of a run asks from its own forked process, so what was fetched is kept on disk, marked with the run that
fetched it: the next run asks again and sees what was repaired on the mirror.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import urllib.error
from typing import Optional

from ansible.module_utils.urls import open_url
from ansible_collections.ascend.fleet.plugins.plugin_utils import hashes

LIMIT = 16 << 20  # bytes; a manifest of ten thousand artifacts has four million
TIMEOUT = 30  # seconds


def text_of(address: str, folder: Optional[str] = None, run: Optional[str] = None) -> str:
    """Text behind an http address. OSError, with the reason as its text, when it cannot be had or exceeds 16 MiB.

    :param folder: cache folder; only tests set it.
    :param run: mark of the run; the default is the process that forked this one.
    """
    run = run or this_run()
    note = os.path.join(folder or hashes.cache_folder(), "mirror", hashlib.sha256(address.encode()).hexdigest()[:32])
    try:
        os.makedirs(os.path.dirname(note), mode=0o700, exist_ok=True)
        stream = os.fdopen(os.open(note, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    except OSError:
        return _fetch(address)
    with stream, hashes.locked(stream):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            kept = json.load(stream)
            if kept["run"] == run:
                return str(kept["text"])
        text = _fetch(address)
        with contextlib.suppress(OSError):
            stream.seek(0)
            stream.truncate()
            json.dump({"run": run, "text": text}, stream)
            stream.flush()
        return text


def this_run() -> str:
    """Mark of the run: the parent process, which is ansible-playbook for a task's worker, and when it started."""
    parent = os.getppid()
    try:
        with open("/proc/%d/stat" % parent, encoding="utf-8", errors="replace") as handle:
            started = handle.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        started = ""
    return "%d-%s" % (parent, started)


def _fetch(address: str) -> str:
    try:
        with open_url(address, http_agent="ascend.fleet", timeout=TIMEOUT) as answer:
            raw = answer.read(LIMIT + 1)
    except urllib.error.HTTPError as exc:
        raise OSError("HTTP status %d" % exc.code) from exc
    except urllib.error.URLError as exc:
        raise OSError(getattr(exc.reason, "strerror", None) or str(exc.reason)) from exc
    if len(raw) > LIMIT:
        raise OSError("%s is larger than %d MiB" % (address, LIMIT >> 20))
    return raw.decode("utf-8", "replace")
