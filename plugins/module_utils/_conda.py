# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Conda: argument lists and environment. Everything here is pure; nothing is started."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence

PACKAGES = "/var/cache/ascend-fleet/conda-pkgs"
CONDARC = (
    "channels: []",
    "auto_update_conda: false",
    "notify_outdated_conda: false",
    "register_envs: false",
)
_RESERVED = ("base", "root")  # conda refuses a prefix that ends in one of these


def environment(condarc: str) -> Dict[str, str]:
    """Variables that keep conda away from every cache and configuration but ours.

    A base that is not ours would otherwise get compiled files of its own modules.
    """
    return {
        "CONDARC": condarc,
        "CONDA_PKGS_DIRS": PACKAGES,
        "CONDA_ALWAYS_YES": "true",
        "CONDA_QUIET": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def installer(path: str, prefix: str) -> List[str]:
    """Through bash, because the installer may lie on a file system without exec."""
    return ["bash", path, "-b", "-p", prefix]


def channel(name: str) -> str:
    """A channel as conda wants it: a folder becomes an address."""
    return "file://" + name.rstrip("/") if name.startswith("/") else name


def create(conda: str, prefix: str, python: str, channels: Sequence[str], offline: bool) -> List[str]:
    words = [conda, "create", "--yes", "--quiet", "--no-default-packages", "--prefix", prefix, "--override-channels"]
    for name in channels:
        words += ["--channel", channel(name)]
    if offline:
        words.append("--offline")
    return [*words, "python=%s" % python, "pip"]


def bad_prefix(prefix: str) -> Optional[str]:
    """Why an env cannot lie at a prefix, or None."""
    if not prefix.startswith("/") or "/../" in prefix + "/":
        return "%r is no absolute path" % prefix
    if re.search(r"\s", prefix):
        return "%r holds a blank, which the scripts of an env cannot carry" % prefix
    if prefix.rstrip("/").rsplit("/", 1)[-1] in _RESERVED:
        return "conda reserves the names %s for an env, so %s cannot be one" % (" and ".join(_RESERVED), prefix)
    return None


def bad_channel(name: str) -> Optional[str]:
    """Why conda would not take a channel, or None."""
    if name.rstrip("/").endswith((".conda", ".tar.bz2")):
        return "conda takes the channel %s for a package because of its ending" % name
    return None


def version(text: str) -> Optional[str]:
    """Version in the answer of ``conda --version``."""
    match = re.search(r"^conda (\d\S*)", text, re.MULTILINE)
    return match.group(1) if match else None


def same_line(want: str, have: Optional[str]) -> bool:
    """Whether a Python like 3.12.4 is of the wanted line 3.12 (or 3.12.4)."""
    return bool(have) and (have + ".").startswith(want + ".")
