# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What the vendor's installers write into their logs during one run.

Their exit status says little (0 on refusal, 2 on success), their logs are appended to by every run. So the size of each
log is noted before, and only what is new is read afterwards.
"""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from ._runner import Runner

FOLDERS = ("/var/log/ascend_seclog", "/var/log/cann_atb_log")
LIMIT = 256 << 10  # bytes of a log that are looked at, from its end
WORDS = {"toolkit": ("toolkit",), "ops": ("ops", "kernels"), "nnal": ("nnal", "atb")}
_SUCCESS = re.compile(r"\b(?:install|upgrade)d? success", re.I)
_FAILURE = re.compile(r"\[ERROR\]|\b(?:install|upgrade) fail", re.I)


def marks(runner: Runner) -> Dict[str, int]:
    """Size in bytes of every log that is there."""
    sizes = {}
    for folder in FOLDERS:
        for name in runner.names(folder):
            info = runner.stat("%s/%s" % (folder, name))
            if name.endswith(".log") and info is not None:
                sizes["%s/%s" % (folder, name)] = info.st_size
    return sizes


def fresh(runner: Runner, before: Dict[str, int]) -> Dict[str, str]:
    """Text that came into each log since marks(), logs without news left out; the whole log when it was rotated."""
    texts = {}
    for path, size in marks(runner).items():
        start = before.get(path, 0) if size >= before.get(path, 0) else 0
        try:
            with open(runner.real(path), "rb") as handle:
                handle.seek(max(start, size - LIMIT))
                text = handle.read(LIMIT).decode("utf-8", "replace")
        except OSError:
            continue
        if text:
            texts[path] = text
    return texts


def choose(texts: Dict[str, str], package: str) -> Tuple[Optional[str], str]:
    """(path, text) of the log that speaks of this package, else the longest news, else (None, "")."""
    for word in WORDS[package]:
        for path in sorted(texts):
            if word in path.rsplit("/", 1)[1]:
                return path, texts[path]
    for path in sorted(texts, key=lambda name: -len(texts[name])):
        return path, texts[path]
    return None, ""


def verdict(text: str) -> Optional[bool]:
    """True when the last word of a log is success, False when an error came after it, None when it says neither."""
    last = None  # type: Optional[bool]
    for line in text.splitlines():
        if _SUCCESS.search(line):
            last = True
        elif _FAILURE.search(line):
            last = False
    return last


def tail(text: str, lines: int = 8) -> List[str]:
    """The last non-empty lines, each cut at 300 characters."""
    return [line.rstrip()[:300] for line in text.splitlines() if line.strip()][-lines:]
