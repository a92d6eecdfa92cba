# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Brings vLLM instances to their wanted state: user, launcher, files, units, states. Does not wait for answers."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from . import _instance, _state, _systemd
from ._instance import LAYER, Plan, Refused, unit_name
from ._runner import Runner

_LAUNCHER_FOLDER = re.compile(r"^[0-9a-f]{8}$")
STOP_LIMIT = 3600  # seconds for systemctl stop; the unit's own TimeoutStopSec ends it earlier


class Site(NamedTuple):
    """What all instances of a node share. ``launcher``: files by their path below ``launcher_path``."""

    user: str
    group: str
    launcher_path: str
    launcher: Dict[str, str]


def user_missing(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return True
    return False


def launcher_missing(runner: Runner, site: Site) -> bool:
    return any(runner.read("%s/%s" % (site.launcher_path, path)) != text for path, text in site.launcher.items())


def shared_steps(runner: Runner, site: Site, plans: Sequence[Plan]) -> List[str]:
    """Sentences on what the instances share and the node lacks."""
    if all(plan.wanted["state"] == "absent" for plan in plans):
        return []
    steps = ["create the user %s" % site.user] if user_missing(site.user) else []
    return steps + (["write the launcher %s" % site.launcher_path] if launcher_missing(runner, site) else [])


def apply(runner: Runner, site: Site, plans: Sequence[Plan]) -> None:
    """Carry out the plans.

    :raises Refused: the user cannot be made.
    :raises _systemd.SystemdError: systemctl refused.
    """
    kept = [plan for plan in plans if not plan.remove and plan.wanted["state"] != "absent"]
    users = []  # type: List[str]
    if kept:
        users = _make_user(runner, site)
        _write_launcher(runner, site)
    for plan in kept:
        if plan.changed:
            _write(runner, site, plan, users)
    if any(plan.reload for plan in plans):
        _systemd.change(runner, "daemon-reload")
    _switch(runner, plans)
    for plan in kept:
        if plan.changed:
            _complete(runner, plan)
    _remove(runner, [plan for plan in plans if plan.remove])
    _sweep_launchers(runner, site.launcher_path if kept else "")


# user and launcher --------------------------------------------------------------------------------------------------


def _make_user(runner: Runner, site: Site) -> List[str]:
    """Make the service user when the node lacks it; an existing one is used as it is. Returns the names made, now or
    by an earlier run."""
    if not user_missing(site.user):
        return [site.user] if _made_user(runner, site.user) else []
    call = ["useradd", "--system", "--home-dir", _instance.FOLDER, "--no-create-home", "--shell", "/usr/sbin/nologin"]
    call += ["--gid", site.group] if site.group and site.group != site.user else ["--user-group"]
    done = runner.run([*call, site.user])
    if done.rc != 0:
        raise Refused(
            "The user %s could not be made: %s. Make it, or name another with vllm_service_user."
            % (site.user, (done.err or done.out).strip())
        )
    return [site.user]


def _made_user(runner: Runner, user: str, except_for: str = "") -> bool:
    folder = "%s/%s" % (_state.ROOT, LAYER)
    for name in runner.names(folder):
        key = name[: -len(".json")] if name.endswith(".json") else ""
        state = _state.load(runner, LAYER, key) if key and not key.startswith(".") and key != except_for else None
        if state and user in state["made"].get("users", []):
            return True
    return False


def _write_launcher(runner: Runner, site: Site) -> None:
    if not launcher_missing(runner, site):
        return
    for path in sorted(site.launcher):
        whole = "%s/%s" % (site.launcher_path, path)
        runner.make_folder(os.path.dirname(whole))
        runner.write_atomic(whole, site.launcher[path])


def _sweep_launchers(runner: Runner, current: str) -> None:
    """Remove launchers of earlier versions that no instance names any more."""
    stack = _state.gather(runner).get(LAYER, {})
    if any(state is None for state in stack.values()):
        return  # a damaged state may name one
    named = {path for state in stack.values() for path in state["made"].get("paths", [])}
    for name in runner.names(_instance.LIBEXEC):
        path = "%s/%s" % (_instance.LIBEXEC, name)
        if _LAUNCHER_FOLDER.match(name) and path != current and path not in named and not runner.is_link(path):
            shutil.rmtree(runner.real(path))


# files and states ---------------------------------------------------------------------------------------------------


def _write(runner: Runner, site: Site, plan: Plan, users: Sequence[str]) -> None:
    name = plan.wanted["name"]
    files = [one.file for one in plan.files]
    state = _fresh_state(runner, site, plan, users)
    if plan.unit.up and not plan.stop:
        owed = bool(plan.state and plan.state["have"].get("stale") == plan.unit.invocation)
        if owed or any(_instance.matters(one) for one in plan.files):
            state["have"]["stale"] = plan.unit.invocation
    _state.save(runner, state, "installing")
    for folder in (_instance.CONFIG, _instance.FOLDER):
        runner.make_folder(folder)
    _make_home(runner, site, _instance.folder_of(name))
    for file in files:
        if file.content is None:
            runner.remove(file.path)
        else:
            runner.write_atomic(file.path, file.content, file.mode)


def _fresh_state(runner: Runner, site: Site, plan: Plan, users: Sequence[str]) -> Dict[str, Any]:
    """State of the instance as it will be; of one that goes on with older files, ``have`` is what runs."""
    wanted = plan.wanted
    name = wanted["name"]
    have = _have(wanted)
    if plan.pending and plan.state:
        have = dict(plan.state["have"])
    state = _state.new(LAYER, name, "instance", have)
    paths = [file.path for file in _instance.files_of(wanted, {}) if file.content is not None]
    if any(one.file.secret and one.file.content is not None for one in plan.files) or (
        runner.exists(_instance.secrets_path(name)) and not any(one.file.secret for one in plan.files)
    ):
        paths.append(_instance.secrets_path(name))
    state["made"] = {
        "paths": sorted([*paths, _instance.folder_of(name), site.launcher_path]),
        "links": [],
        "users": list(users),
        "units": [unit_name(name)],
        "packages": [],
    }
    if plan.state:
        state["previous"] = {"have": plan.state["have"], "when": plan.state.get("when")}
    return state


def _have(wanted: Mapping[str, Any]) -> Dict[str, Any]:
    keys = ("runtime", "digest", "port", "host", "tls", "model", "served_name", "pooling", "devices")
    have = {key: wanted[key] for key in keys}  # type: Dict[str, Any]
    have.update({"instance": wanted["name"], "unit": unit_name(wanted["name"]), "stale": None})
    return have


def _make_home(runner: Runner, site: Site, folder: str) -> None:
    if runner.make_folder(folder, 0o750):
        account = pwd.getpwnam(site.user)
        os.chown(runner.real(folder), account.pw_uid, account.pw_gid)


def _complete(runner: Runner, plan: Plan) -> None:
    state = _state.load(runner, LAYER, plan.wanted["name"])
    if state is None:
        raise Refused("The state of %s was removed while it was written: run again." % plan.wanted["name"])
    if plan.start:
        state["have"]["stale"] = None
    open_files = [file.path for file in _instance.files_of(plan.wanted, {}) if file.content is not None]
    state["files"] = {path: _state.sha256_of(runner, path) for path in open_files}
    _state.save(runner, state, "complete")


# units --------------------------------------------------------------------------------------------------------------


def _switch(runner: Runner, plans: Sequence[Plan]) -> None:
    """Everything stops before anything starts: an instance may take over the port or the devices of another."""

    def names(wanted: List[Plan]) -> List[str]:
        return [unit_name(plan.wanted["name"]) for plan in wanted]

    removed = names([plan for plan in plans if plan.remove and plan.unit.load != "not-found"])
    stopping = names([plan for plan in plans if plan.unit.up and (plan.start or plan.stop)]) + removed
    if stopping:
        _systemd.change(runner, "stop", stopping, timeout=STOP_LIMIT)
    off = names([plan for plan in plans if plan.enable is False]) + removed
    if off:
        _systemd.change(runner, "disable", off)
    on = names([plan for plan in plans if plan.enable])
    if on:
        _systemd.change(runner, "enable", on)
    starting = names([plan for plan in plans if plan.start])
    fresh = starting + [name for name in removed if name not in starting]
    if fresh:
        # Earlier failures count towards the limit of starts and the number of restarts. Refused for a unit not loaded.
        with contextlib.suppress(_systemd.SystemdError):
            _systemd.change(runner, "reset-failed", fresh)
    if starting:
        # One that fails here is seen as failed by who waits for it, with its journal to say why.
        with contextlib.suppress(_systemd.SystemdError):
            _systemd.change(runner, "start", starting)


def _remove(runner: Runner, plans: Sequence[Plan]) -> None:
    """Remove what the states name, and nothing else; a damaged state leaves the files and says so by staying."""
    for plan in plans:
        if plan.state is None:
            raise Refused(
                "The state of %s cannot be read, so what it made is not known. Remove its files below %s and its unit, "
                "then %s." % (plan.wanted["name"], _instance.CONFIG, _state.path_of(LAYER, plan.wanted["name"]))
            )
        for path in plan.state["made"].get("paths", []):
            if path == _instance.folder_of(plan.wanted["name"]):
                shutil.rmtree(runner.real(path), ignore_errors=True)
            elif path.startswith((_instance.CONFIG + "/", "/etc/systemd/system/")):
                runner.remove(path)
    if not plans:
        return
    _systemd.change(runner, "daemon-reload")
    for plan in plans:
        name = plan.wanted["name"]
        for user in plan.state["made"].get("users", []) if plan.state else []:
            if not _made_user(runner, user, except_for=name) and not user_missing(user):
                runner.run(["userdel", user])
        _state.forget(runner, LAYER, name)
    for folder in (_instance.CONFIG, _instance.FOLDER):
        _remove_empty(runner, folder)


def _remove_empty(runner: Runner, folder: str) -> Optional[bool]:
    try:
        os.rmdir(runner.real(folder))
    except OSError:
        return False
    return True
