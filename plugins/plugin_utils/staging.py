# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Bringing artifacts to a node: what its shell is asked, and one archive for a whole set of wheels."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import tarfile
from typing import Any, Dict, Iterable, List, Mapping, Optional

from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts, hashes

KEPT_ARCHIVES = 4
_HASH = re.compile(r"^([0-9a-f]{64}) [ *](/.*)$")
_HEX = re.compile(r"\b[0-9a-f]{64}\b")
_DOTTED = re.compile(r"^3\.(\d+)(\.\d+)*$")


def python_tag(python: Any) -> Optional[str]:
    """The wheel tag of CPython for "3.12", "3.12.4" or "cp312"; None stays None."""
    match = _DOTTED.match(str(python))
    return "cp3" + match.group(1) if match else python


def hash_command(paths: Iterable[str], folder: Optional[str] = None) -> str:
    """A shell command that prints the SHA-256 of files; for an absent one it prints nothing and succeeds.

    :param folder: made first, with its parents and mode 0755, when it is absent; one that exists is left as it is.
    """
    words = "sha256sum -- %s 2>/dev/null; :" % " ".join(shlex.quote(path) for path in paths)
    return "umask 022; mkdir -p -- %s && { %s; }" % (shlex.quote(folder), words) if folder else words


def parse_hashes(output: str) -> Dict[str, str]:
    """{path: sha256} from the output of ``hash_command``."""
    lines = (_HASH.match(line.rstrip("\r")) for line in output.splitlines())
    return {match.group(2): match.group(1) for match in lines if match}


def first_difference(wanted: Iterable[Mapping[str, Any]], have: Mapping[str, str]) -> None:
    """ArtifactError when a file on the node is absent or has another content than its manifest says.

    :param wanted: artifacts whose ``path`` is on the node.
    :param have: {path: sha256} as the node computed it.
    """
    for artifact in wanted:
        path = artifact["path"]
        if path not in have:
            raise artifacts.ArtifactError(
                "unreadable",
                "%s cannot be read on the node" % path,
                "%s %s, listed in the manifest beside it" % (artifact["name"], artifact["version"]),
                "Put the file there, check the mount, or write the manifest anew.",
            )
        if have[path] != artifact["sha256"]:
            raise artifacts.mismatch(path + " on the node", have[path], artifact["sha256"])


def other_hash(message: str, want: str) -> Optional[str]:
    """The SHA-256 that a failed download's message names and that is not the wanted one."""
    return next((found for found in _HEX.findall(message.lower()) if found != want), None)


def base_name(artifact: Mapping[str, Any]) -> str:
    """File name that an artifact keeps on the node: installers and pip read it."""
    return artifact["file"].rsplit("/", 1)[-1]


def archive(wheels: List[Mapping[str, Any]], folder: Optional[str] = None) -> str:
    """Path of a tar on the controller with these wheels, made once for a set; ArtifactError when one is wrong.

    :param wheels: artifacts with where=controller.
    :param folder: cache folder; only tests set it.
    """
    for wheel in wheels:
        artifacts.check(wheel)
    names = sorted("%s  %s" % (wheel["sha256"], base_name(wheel)) for wheel in wheels)
    folder = os.path.join(folder or hashes.cache_folder(), "wheels")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, hashlib.sha256("\n".join(names).encode()).hexdigest()[:32] + ".tar")
    with open(path + ".lock", "a", encoding="utf-8") as lock, hashes.locked(lock):
        if os.path.exists(path):
            os.utime(path)
        else:
            _pack(wheels, path)
            _prune(folder)
    return path


def _pack(wheels: List[Mapping[str, Any]], path: str) -> None:
    temporary = path + ".part"
    with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as tar:
        for wheel in wheels:
            member = tarfile.TarInfo(base_name(wheel))
            member.size, member.mode = os.path.getsize(wheel["path"]), 0o644
            with open(wheel["path"], "rb") as content:
                tar.addfile(member, content)
    os.replace(temporary, path)


def _prune(folder: str) -> None:
    """Keep the archives used last: a set of wheels is gigabytes, and a new release brings a new set."""
    found = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".tar")]
    for path in sorted(found, key=os.path.getmtime)[:-KEPT_ARCHIVES]:
        with contextlib.suppress(OSError):
            os.unlink(path)
