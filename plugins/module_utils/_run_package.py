# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""One package of CANN on a host: run the vendor's installer, keep what others use, prove it by what lies on the disk.

The installer's exit status decides nothing. What counts is what is there afterwards, and that the installer's own log
does not end in an error. ``--install-for-all`` is always given: without it the tree is open to root's group alone, and
services run as a user of their own; it grants others reading and execution, no writing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Dict, List, Optional

from . import _cann_keep as keep
from . import _cann_layout as layout
from . import _run_plan as plan
from . import _script_env as script_env
from . import _state as states
from . import _vendor_log as vendor_log
from ._lock import FOLDER
from ._run_checks import Settings
from ._run_plan import View
from ._runner import Result, Runner


class PackageError(Exception):
    """The package is not installed; the text says why and what to do, log names the installer's log."""

    def __init__(self, message: str, log: Optional[str] = None) -> None:
        super().__init__(message)
        self.log = log


def users_of(runner: Runner, folder: str) -> List[str]:
    """Process ids that have a file below folder mapped, as far as they can be read."""
    return [
        name
        for name in runner.names("/proc")
        if name.isdigit() and " %s/" % folder in (runner.read("/proc/%s/maps" % name, 16 << 20) or "")
    ]


def install(runner: Runner, settings: Settings, view: View, tmp: str) -> Dict[str, Any]:
    """Run the installer and prove it. The lock of the layer is held, all checks have passed.

    Returns {log, rc, path, default}. PackageError otherwise; the state stays ``installing`` then.
    """
    root, key = settings.install_path, plan.key_of(settings)
    note = keep.stored(runner, key)
    default = note["default"] if note else plan.default_wanted(runner, settings)
    kept = note["kept"] if note else keep.snapshot(runner, root)
    before = view.state or {"made": {"paths": []}}
    state = states.new("cann", key, "run_package", _have(settings, None), settings.sha256.lower())
    state["previous"] = {"have": view.state["have"], "status": view.state["status"]} if view.state else None
    state["made"]["paths"] = _dedupe(before["made"]["paths"] + _to_be_made(runner, settings))
    keep.store(runner, key, default, kept)
    state = states.save(runner, state, "installing")
    _remove_unfinished(runner, settings, view, state["made"]["paths"])
    runner.make_folder(root)
    backups = set(runner.names(os.path.dirname(layout.RECORD)))

    if not default and settings.package != "nnal":
        keep.shield(runner, root)
    marks = vendor_log.marks(runner)
    _remove_left_overs(runner, tmp)
    private = tempfile.mkdtemp(prefix=plan.PRIVATE, dir=runner.real(tmp))
    try:
        result = _run(runner, settings, view, private)
        _save_script(runner, settings, state)
    finally:
        shutil.rmtree(private, ignore_errors=True)
        if not default:
            keep.restore(runner, root, kept)
    log, news = vendor_log.choose(vendor_log.fresh(runner, marks), settings.package)
    found = plan.look(runner, settings).found
    _judge(settings, result, found, log, news)
    if not default and keep.changes(runner, root, kept):
        raise PackageError("%s could not be put back as it was." % ", ".join(keep.changes(runner, root, kept)), log)

    new = set(runner.names(os.path.dirname(layout.RECORD))) - backups
    _add_paths(state, ["%s/%s" % (os.path.dirname(layout.RECORD), name) for name in sorted(new)])
    for path in keep.new_links(runner, root, kept):
        state["made"]["links" if runner.is_link(path) else "paths"].append(path)
    if settings.package == "ops" and found.mark:
        _add_paths(state, [found.mark])
    state["made"] = {
        name: [path for path in _dedupe(items) if runner.lexists(path)] if name in ("paths", "links") else items
        for name, items in state["made"].items()
    }
    state["have"] = _have(settings, found.path)
    states.save(runner, state, "complete")
    keep.forget(runner, key)
    return {"log": log, "rc": result.rc, "path": found.path, "default": default}


def _have(settings: Settings, path: Optional[str]) -> Dict[str, Any]:
    have = {"package": settings.package, "version": settings.version, "path": path}  # type: Dict[str, Any]
    if settings.package == "ops":
        have["family"] = settings.family
    return have


def _dedupe(items: List[str]) -> List[str]:
    return list(dict.fromkeys(items))


def _add_paths(state: Dict[str, Any], paths: List[str]) -> None:
    state["made"]["paths"] = _dedupe(state["made"]["paths"] + paths)


def _own_folders(settings: Settings) -> List[str]:
    """Folders that only this package fills; operators go into the toolkit's."""
    if settings.package == "toolkit":
        return layout.tree_folders(settings.install_path, settings.version)
    if settings.package == "nnal":
        root, version = settings.install_path, settings.version
        return [layout.nnal_folder(root, version), "%s/nnal/asdsip/%s" % (root, version)]
    return []


def _to_be_made(runner: Runner, settings: Settings) -> List[str]:
    """What the installer may make and is not there now: ours from the first moment, also when we are killed."""
    parents = []  # type: List[str]
    folder = settings.install_path
    while not runner.lexists(folder):
        parents.insert(0, folder)
        folder = os.path.dirname(folder)
    return parents + [folder for folder in _own_folders(settings) if not runner.lexists(folder)]


def _remove_unfinished(runner: Runner, settings: Settings, view: View, ours: List[str]) -> None:
    """Remove what an earlier run of ours left half done; only folders that its state names."""
    if view.state is None:
        return
    for folder in _own_folders(settings):
        if folder not in ours or not runner.is_dir(folder) or runner.is_link(folder):
            continue
        users = users_of(runner, folder)
        if users:
            raise PackageError(
                "%s is not complete and is to be installed again, but processes use it: %s. Look with 'ps -fp %s' and "
                "run again when they have ended." % (folder, ", ".join(users), ",".join(users))
            )
        shutil.rmtree(runner.real(folder))


def _remove_left_overs(runner: Runner, tmp: str) -> None:
    """What runs that were killed had unpacked: gigabytes. Nobody uses it while we hold the locks."""
    for name in runner.names(tmp):
        if name.startswith(plan.PRIVATE):
            shutil.rmtree(runner.real("%s/%s" % (tmp, name)), ignore_errors=True)


def _run(runner: Runner, settings: Settings, view: View, private: str) -> Result:
    options = ["--quiet", "--install", "--install-for-all", "--install-path=" + settings.install_path]
    env = _environment(runner, settings, view)
    runner.make_folder(FOLDER)
    return plan.call(runner, settings, private, env=env, options=options, timeout=settings.timeout, lock=True)


def _environment(runner: Runner, settings: Settings, view: View) -> Dict[str, str]:
    """Variables for the installer: operators and NNAL need their toolkit's, which must not be another version's."""
    env = {"PATH": script_env.PATH}
    tree = view.tree.path
    if settings.package == "toolkit" or tree is None:
        return env
    scripts = list(settings.source_scripts) or [layout.toolkit_script(runner, tree) or ""]
    if not scripts[0]:
        raise PackageError("%s has no set_env.sh, which the installer needs: name it in source_scripts." % tree)
    found = script_env.capture(runner, [script_env.Script(path) for path in scripts])
    cleaned, _left_out = script_env.clean(runner, found, [layout.root_of(tree)], layout.pins(tree))
    env.update(cleaned)
    return env


def _save_script(runner: Runner, settings: Settings, state: Dict[str, Any]) -> None:
    """Give a folder that has no script of its own a copy of the shared one, which the next install replaces.

    The shared set_env.sh lies beside the versions and speaks of ``latest``; the copy names the version.
    """
    root = settings.install_path
    if settings.package == "toolkit":
        folder = layout.toolkit(runner, root, settings.version, settings.arch).path
        shared, own = root + "/ascend-toolkit", "set_env.sh"
    elif settings.package == "nnal":
        folder = layout.nnal(runner, root, settings.version).path
        shared, own = root + "/nnal/atb", "atb/set_env.sh"
    else:
        return
    text = runner.read(shared + "/set_env.sh")
    if folder is None or text is None or runner.lexists("%s/%s" % (folder, own)):
        return
    path = folder + "/set_env.sh"
    runner.write_atomic(path, text.replace(shared + "/latest", folder))
    state["files"][path] = states.sha256_of(runner, path)


def _judge(settings: Settings, result: Result, found: layout.Found, log: Optional[str], news: str) -> None:
    """PackageError unless the disk says complete and the log does not end in an error."""
    said = vendor_log.verdict(news)
    if found.status == layout.COMPLETE and said is not False and not result.timed_out:
        return
    if result.timed_out:
        reason = "The installer took longer than %d s and was stopped" % settings.timeout
    elif found.status == layout.COMPLETE:
        reason = "The installer left its files (status %d) but its log ends in an error" % result.rc
    else:
        reason = "The installer ended with status %d, but %s" % (result.rc, found.why)
    last = vendor_log.tail(news or result.out + "\n" + result.err) or ["it said nothing"]
    raise PackageError(
        "%s. Read %s, remove the cause and run again; its last lines: %s"
        % (reason, log or "the output below", " | ".join(last)),
        log,
    )
