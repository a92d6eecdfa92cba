# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""A manifest for a folder of vendor files: what each is, by its name (data/packages.yml), with SHA-256 and size."""

from __future__ import annotations

import functools
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import yaml
from ansible_collections.ascend.fleet.plugins.module_utils import _version
from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts, data, hashes

NO_VERSION = "unversioned"
HEAD = "---\n# Written by: ansible-playbook ascend.fleet.bundle. Write it anew when a file was added or changed.\n"
# PEP 427: name, version, optional build, then python, abi and platform tag.
_WHEEL = re.compile(
    r"^(?P<name>[A-Za-z0-9._]+)-(?P<version>[A-Za-z0-9._+!]+)(-\d[^-]*)?"
    r"-(?P<python>[a-z0-9._]+)-(?P<abi>[A-Za-z0-9._]+)-(?P<platform>[a-z0-9._]+)\.whl$"
)
_LINUX = re.compile(r"^(?:manylinux_(\d+)_(\d+)|manylinux1|manylinux2010|manylinux2014|linux)_(\w+)$")


class Scan(NamedTuple):
    """manifest: as docs/contracts.md has it; unknown: [{file, why}] of what looks like a package and is in no row."""

    manifest: Dict[str, Any]
    unknown: List[Dict[str, str]]


def describe(folder: str, tables: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The manifest of a folder; OSError when it cannot be read."""
    return scan(folder, tables).manifest


def scan(folder: str, tables: Optional[Mapping[str, Any]] = None) -> Scan:
    """Look at every file below a folder, hidden ones and the manifest apart; OSError when one cannot be read.

    :param tables: data/packages.yml, if the caller has read it already.
    """
    tables = tables or data.load("packages")
    entries, unknown = [], []
    for file in _files(folder):
        kind = recognise(os.path.basename(file), tables)
        if kind is None:
            why = advice(os.path.basename(file), tables)
            if why:
                unknown.append({"file": file, "why": why})
            continue
        name, version, platform, source = kind
        path = os.path.join(folder, file)
        known = {"name": name, "version": version, "platform": platform, "file": file}
        entries.append({**known, "sha256": hashes.sha256_of(path), "size": os.path.getsize(path), "source": source})
    return Scan({"schema": artifacts.SCHEMA, "artifacts": sorted(entries, key=_ORDER)}, unknown)


def render(manifest: Mapping[str, Any]) -> str:
    """Text of manifest.yml."""
    return HEAD + yaml.safe_dump(dict(manifest), sort_keys=False, allow_unicode=True, width=160)


def recognise(name: str, tables: Mapping[str, Any]) -> Optional[Tuple[str, str, Dict[str, str], str]]:
    """(artifact, version, platform, source) for a file name; None when no row fits."""
    if name.endswith(".whl"):
        return _wheel(name)
    for row in tables["files"]:
        match = re.fullmatch(row["match"], name, re.IGNORECASE)
        if not match:
            continue
        words = {key: value for key, value in match.groupdict().items() if value}
        platform = dict(row.get("platform") or {})
        for key in ("arch", "family"):
            if key in words:
                spelt = words[key].lower()
                platform[key] = (tables.get(key) or {}).get(spelt, spelt)
        return row["name"], words.get("version", NO_VERSION), platform, row["source"]
    return None


def advice(name: str, tables: Mapping[str, Any]) -> Optional[str]:
    """Why a file that no row knows cannot be used; None for files that nobody takes for a package."""
    for row in tables.get("advice") or []:
        if re.fullmatch(row["match"], name, re.IGNORECASE):
            return row["say"]
    return None


def _wheel(name: str) -> Optional[Tuple[str, str, Dict[str, str], str]]:
    match = _WHEEL.match(name)
    if not match:
        return None
    platform = {}
    python = _python(match.group("python").split("."), match.group("abi"))
    if python is None:
        return None
    platform["python"] = python
    if match.group("platform") != "any":
        linux = [found for found in map(_LINUX.match, match.group("platform").split(".")) if found]
        if not linux:
            return None
        platform["arch"] = linux[0].group(3)
        floors = [(int(found.group(1)), int(found.group(2))) for found in linux if found.group(1)]
        if floors:
            platform["glibc"] = "%d.%d" % min(floors)
    distribution = re.sub(r"[-_.]+", "-", match.group("name")).lower()
    return distribution, match.group("version"), platform, "the wheel's name (PEP 427)"


def _python(tags: List[str], abi: str) -> Optional[str]:
    """``py3``, ``cp312`` or ``cp39-abi3``; None for a Python that no env of ours has."""
    if abi == "none" and any(tag.startswith("py3") for tag in tags):
        return "py3"
    cpython = [tag for tag in tags if tag.startswith("cp3")]
    if not cpython:
        return None
    return cpython[0] + "-abi3" if abi == "abi3" else cpython[0]


def _files(folder: str) -> List[str]:
    """Paths below a folder, relative, sorted; a folder that cannot be listed is an OSError, never a shorter list."""
    found = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = os.path.relpath(os.path.join(parent, name), folder)
            if not name.startswith(".") and file != artifacts.MANIFEST:
                found.append(file)
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


def _before(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """Names in order, newest version first: an artifact that is asked for without a version is the first that fits."""
    if one["name"] != other["name"]:
        return -1 if one["name"] < other["name"] else 1
    by_version = _version.compare(other["version"], one["version"])
    return by_version or (one["file"] > other["file"]) - (one["file"] < other["file"])


_ORDER = functools.cmp_to_key(_before)
