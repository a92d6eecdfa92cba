# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Links, environment scripts and record file of a host that had a CANN: saved before an installer, put back after it.

Every installer of the vendor points ``cann``, ``latest`` and the ``set_env.sh`` files beside the trees at what it has
just installed, and so moves every other user of the host to another version. ``latest`` is a link in the newer layout
and in NNAL, a real folder full of links and small files in the legacy one.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
from typing import Any, Dict, List, Optional

from ._cann_layout import RECORD
from ._runner import Runner

FOLDER = "/var/lib/ascend-fleet/kept"
DEFAULTS = ("cann", "latest", "set_env.sh")
FILE_LIMIT = 4 << 20  # bytes; what lies beside the trees is scripts of some KiB
TOTAL_LIMIT = 32 << 20


class KeepError(Exception):
    """Something cannot be saved; the text says what and what to do. Nothing was changed."""


def _folders(root: str) -> List[str]:
    return [root, root + "/ascend-toolkit", root + "/nnal", root + "/nnal/atb", root + "/nnal/asdsip"]


def _owned(root: str) -> List[str]:
    """Folders that go again when an installer made them and nothing is left inside."""
    return [os.path.dirname(RECORD), *_folders(root)]


def _watched(runner: Runner, root: str) -> List[str]:
    """Paths that an installer may move: links and set_env.sh beside the trees, a real ``latest``, the record file."""
    found = []
    for folder in _folders(root):
        for name in runner.names(folder):
            path = "%s/%s" % (folder, name)
            if runner.is_link(path) or name in DEFAULTS:
                found.append(path)
    if runner.lexists(RECORD):
        found.append(RECORD)
    return found


def _entry(runner: Runner, path: str) -> Dict[str, Any]:
    info = runner.stat(path)
    if info is None:
        raise KeepError("%s vanished while it was being saved; look who else works on this host and run again." % path)
    entry = {"path": path, "mode": stat.S_IMODE(info.st_mode), "uid": info.st_uid, "gid": info.st_gid}
    if stat.S_ISLNK(info.st_mode):
        return dict(entry, kind="link", target=runner.readlink(path))
    if stat.S_ISDIR(info.st_mode):
        return dict(entry, kind="folder")
    if not stat.S_ISREG(info.st_mode) or info.st_size > FILE_LIMIT:
        raise KeepError(
            "%s is no link, folder or small file, so it cannot be put back after the installer has run. "
            "Move it away, or allow the change with make_default: true." % path
        )
    raw = runner.read_bytes(path, FILE_LIMIT)
    if raw is None:
        raise KeepError("%s cannot be read; run as root." % path)
    return dict(entry, kind="file", content=base64.b64encode(raw).decode("ascii"))


def snapshot(runner: Runner, root: str) -> Dict[str, Any]:
    """{folders: those that exist, entries: parents first} of what an installer may move below root."""
    entries = []  # type: List[Dict[str, Any]]
    total = 0
    waiting = _watched(runner, root)
    while waiting:
        entry = _entry(runner, waiting.pop(0))
        entries.append(entry)
        total += len(entry.get("content", ""))
        if total > TOTAL_LIMIT:
            raise KeepError(
                "%s holds more than links and scripts (over %d MiB), so it cannot be saved before the installer runs. "
                "Look at it, or allow the change with make_default: true." % (entry["path"], TOTAL_LIMIT >> 20)
            )
        if entry["kind"] == "folder":
            waiting = _children(runner, entry["path"]) + waiting
    return {"folders": [path for path in _owned(root) if runner.is_dir(path)], "entries": entries}


def changes(runner: Runner, root: str, kept: Dict[str, Any]) -> List[str]:
    """Paths that differ from the snapshot, parents first: changed, gone, added to a folder of it, or new defaults."""
    known = {entry["path"] for entry in kept["entries"]}
    differ = []  # type: List[str]
    lost = []  # type: List[str]  # folders that are something else now: never look through a link into a new tree
    for entry in kept["entries"]:
        path = entry["path"]
        if any(path.startswith(folder + "/") for folder in lost):
            differ.append(path)
            continue
        if not _same(runner, entry):
            differ.append(path)
        if entry["kind"] != "folder":
            continue
        if not _same_kind(runner, entry):
            lost.append(path)
            continue
        differ += [child for child in _children(runner, path) if child not in known]
    for path in _watched(runner, root):
        if path not in known and _is_default(path):
            differ.append(path)
    return differ


def new_links(runner: Runner, root: str, kept: Dict[str, Any]) -> List[str]:
    """Links and default files that the installer added beside the trees."""
    known = {entry["path"] for entry in kept["entries"]}
    return [path for path in _watched(runner, root) if path not in known]


def restore(runner: Runner, root: str, kept: Dict[str, Any]) -> List[str]:
    """Bring everything back as it was in the snapshot; returns the paths that had to be touched.

    New links to a version (``8.5 -> 8.5.0``) stay: they name our tree and were nobody's default.
    """
    touched = changes(runner, root, kept)
    known = {entry["path"]: entry for entry in kept["entries"]}
    for path in touched:
        entry = known.get(path)
        if entry is None or not _same_kind(runner, entry):
            _clear(runner, path)
    for entry in kept["entries"]:
        if not _same(runner, entry):
            _put(runner, entry)
    for folder in reversed(_owned(root)):
        if folder not in kept["folders"] and runner.is_dir(folder) and not runner.names(folder):
            os.rmdir(runner.real(folder))
    return touched


def shield(runner: Runner, root: str) -> None:
    """Turn a ``latest`` that is a link to a newer-layout tree into a folder of links to what is in that tree.

    A legacy installer fills ``latest`` as a folder: through such a link it would write into somebody's tree. Who uses
    ``latest`` meanwhile finds the same things as before. Undone by restore().
    """
    path = root + "/ascend-toolkit/latest"
    if not runner.is_link(path) or not runner.is_dir(path):
        return
    tree = os.path.normpath(os.path.join(os.path.dirname(path), runner.readlink(path) or ""))
    if tree.startswith(root + "/ascend-toolkit/"):
        return
    folder = path + ".ascend-fleet"
    _clear(runner, folder)
    os.mkdir(runner.real(folder), 0o755)
    for name in runner.names(path):
        os.symlink("%s/%s" % (tree, name), runner.real("%s/%s" % (folder, name)))
    runner.remove(path)
    os.rename(runner.real(folder), runner.real(path))


def _is_default(path: str) -> bool:
    return path == RECORD or path.rsplit("/", 1)[1] in DEFAULTS


def _children(runner: Runner, folder: str) -> List[str]:
    return ["%s/%s" % (folder, name) for name in runner.names(folder)]


def _kind(info: Optional[os.stat_result]) -> str:
    if info is None:
        return "none"
    if stat.S_ISLNK(info.st_mode):
        return "link"
    return "folder" if stat.S_ISDIR(info.st_mode) else "file"


def _same_kind(runner: Runner, entry: Dict[str, Any]) -> bool:
    return _kind(runner.stat(entry["path"])) == entry["kind"]


def _same(runner: Runner, entry: Dict[str, Any]) -> bool:
    info = runner.stat(entry["path"])
    if info is None or _kind(info) != entry["kind"] or (info.st_uid, info.st_gid) != (entry["uid"], entry["gid"]):
        return False
    if entry["kind"] == "link":
        return runner.readlink(entry["path"]) == entry["target"]
    if stat.S_IMODE(info.st_mode) != entry["mode"]:
        return False
    if entry["kind"] == "file":
        return runner.read_bytes(entry["path"], FILE_LIMIT) == base64.b64decode(entry["content"])
    return True


def _clear(runner: Runner, path: str) -> None:
    info = runner.stat(path)
    if info is not None and stat.S_ISDIR(info.st_mode):
        shutil.rmtree(runner.real(path))  # does not follow links
    else:
        runner.remove(path)


def _put(runner: Runner, entry: Dict[str, Any]) -> None:
    path = entry["path"]
    runner.make_folder(path.rsplit("/", 1)[0])
    if entry["kind"] == "file":
        content = base64.b64decode(entry["content"]).decode("utf-8", "surrogateescape")
        runner.write_atomic(path, content, entry["mode"], entry["uid"], entry["gid"])
        return
    if entry["kind"] == "link":
        runner.remove(path)
        os.symlink(entry["target"], runner.real(path))
        os.lchown(runner.real(path), entry["uid"], entry["gid"])
        return
    if not runner.is_dir(path):
        os.mkdir(runner.real(path))
    os.chown(runner.real(path), entry["uid"], entry["gid"])
    os.chmod(runner.real(path), entry["mode"])


# on disk: an installer can be killed together with us, and the next run has to know what was there before ------------


def _file(key: str) -> str:
    return "%s/%s.json" % (FOLDER, key)


def store(runner: Runner, key: str, default: bool, kept: Dict[str, Any]) -> None:
    runner.make_folder(FOLDER)
    runner.write_atomic(_file(key), json.dumps({"default": default, "kept": kept}) + "\n", 0o600)


def stored(runner: Runner, key: str) -> Optional[Dict[str, Any]]:
    """{default, kept} of a run that did not end, or None."""
    try:
        note = json.loads(runner.read(_file(key), TOTAL_LIMIT * 2) or "")
    except ValueError:
        return None
    return note if isinstance(note, dict) and "default" in note and "kept" in note else None


def stored_keys(runner: Runner) -> List[str]:
    """Keys of all runs that did not end."""
    return [name[: -len(".json")] for name in runner.names(FOLDER) if name.endswith(".json") and name[0] != "."]


def forget(runner: Runner, key: str) -> None:
    runner.remove(_file(key))
