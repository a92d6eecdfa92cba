# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Python environments, read from their files: no interpreter is started, nothing is imported.

``gather`` gives one entry of ``ascend_envs``: {exists, python: "3.11.7" | None, packages: {normalized name: version}}.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Optional

from ._runner import Runner

_HEAD = 1 << 16  # bytes of a METADATA file that may hold Name and Version; the description follows them
_PYTHON_DIR = re.compile(r"^python(\d+)\.(\d+)$")


def normalize(name: str) -> str:
    """Distribution name as indexes compare it: torch_npu, Torch.NPU and torch-npu are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def gather(runner: Runner, prefix: str) -> Dict[str, Any]:
    """What lies below the prefix of a conda env or venv."""
    prefix = prefix.rstrip("/")
    site = site_packages(runner, prefix)
    exists = runner.is_dir(prefix)
    return {
        "exists": exists,
        "python": python_version(runner, prefix) if exists else None,
        "packages": packages(runner, site) if site else {},
    }


def site_packages(runner: Runner, prefix: str) -> Optional[str]:
    """<prefix>/lib/pythonX.Y/site-packages of the newest X.Y there, or None."""
    found = []
    for name in runner.names(prefix + "/lib"):
        match = _PYTHON_DIR.match(name)
        path = "%s/lib/%s/site-packages" % (prefix, name)
        if match and runner.is_dir(path):
            found.append((int(match.group(1)), int(match.group(2)), path))
    return max(found)[2] if found else None


def packages(runner: Runner, site: str) -> Dict[str, str]:
    """Installed distributions by normalized name; a folder without a readable Version is left out.

    Name and version are taken from METADATA (wheels) or PKG-INFO (egg-info folders and files): the folder's name
    escapes local versions in more than one way.
    """
    found = {}  # type: Dict[str, str]
    for entry in runner.names(site):
        if entry.endswith(".dist-info"):
            path = "%s/%s/METADATA" % (site, entry)
        elif entry.endswith(".egg-info"):
            path = "%s/%s" % (site, entry)
            if runner.is_dir(path):
                path += "/PKG-INFO"
        else:
            continue
        fields = _fields(runner.read(path, _HEAD))
        if fields.get("name") and fields.get("version"):
            found[normalize(fields["name"])] = fields["version"]
    return found


def _fields(text: Optional[str]) -> Dict[str, str]:
    """Name and Version of the headers of a metadata file, by lower-case key; the first of each counts."""
    fields = {}  # type: Dict[str, str]
    for line in (text or "").splitlines():
        if not line.strip():
            break
        key, colon, value = line.partition(":")
        if colon and key.lower() in ("name", "version"):
            fields.setdefault(key.lower(), value.strip())
    return fields


def python_version(runner: Runner, prefix: str) -> Optional[str]:
    """Version of the interpreter of an env: from pyvenv.cfg, conda's record, or the library folder ("3.11")."""
    config = runner.read(prefix + "/pyvenv.cfg", _HEAD) or ""
    match = re.search(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", config)
    if match:
        return match.group(1)
    for name in runner.names(prefix + "/conda-meta"):
        match = re.match(r"^python-(\d+\.\d+(?:\.\d+)?[a-z0-9]*)-[^-]+\.json$", name)
        if match:
            return match.group(1)
    site = site_packages(runner, prefix)
    return site.split("/")[-2][len("python") :] if site else None
