# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""vLLM instances of a node: what is there, what is wanted, and the difference. Changes nothing.

An instance ``wanted`` is what plugin_utils/instance_files.py renders: {name, state, unit: {path, content},
files: [{path, content}], port, host, tls, model, served_name, pooling, runtime, devices, digest}; of an absent one only
name, state and unit.path count. Secrets come beside it, {instance: {KEY: value}}, and stay out of every text that is
returned from here.
"""

from __future__ import annotations

import os
import re
import stat
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import _ports, _state, _systemd
from ._runner import Runner

LAYER = "vllm_service"
CONFIG = "/etc/ascend-fleet/vllm"
FOLDER = "/var/lib/ascend-vllm"
LIBEXEC = "/opt/ascend-fleet/libexec"
_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]{0,47}\Z")
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\Z")
_LAUNCHER = re.compile(re.escape(LIBEXEC) + r"/[0-9a-f]{8}/")


class Refused(Exception):
    """Nothing was changed; the text names the cause and the remedy."""


class File(NamedTuple):
    """A file of an instance. ``content`` None: it shall not be there."""

    path: str
    content: Optional[str]
    mode: int
    secret: bool


class Difference(NamedTuple):
    """A file that is not as wanted; ``before`` None: it is not there. ``content`` False: only owner or mode differ."""

    file: File
    before: Optional[str]
    content: bool


class Plan(NamedTuple):
    """What one instance needs. ``start``: stopped first when it runs; ``pending``: it goes on with older files."""

    wanted: Dict[str, Any]
    state: Optional[Dict[str, Any]]
    unit: _systemd.Unit
    files: List[Difference]
    reload: bool
    enable: Optional[bool]
    start: bool
    stop: bool
    remove: bool
    pending: bool
    would: List[str]

    @property
    def changed(self) -> bool:
        return bool(self.would)


def unit_name(name: str) -> str:
    return "ascend-vllm-%s.service" % name


def secrets_path(name: str) -> str:
    return "%s/%s.secrets" % (CONFIG, name)


def folder_of(name: str) -> str:
    return "%s/%s" % (FOLDER, name)


def secrets_text(name: str, secrets: Mapping[str, Any]) -> Optional[str]:
    """``KEY="value"`` lines for systemd and bash, or None when there are none.

    :raises Refused: a key or value that an environment cannot hold; the value is not shown.
    """
    lines = []
    for key in sorted(secrets):
        value = secrets[key]
        if value is None:
            continue
        text = str(value)
        if not _VARIABLE.match(key):
            raise Refused("%s: %r in secrets is no name for an environment variable." % (name, key))
        if any(ord(char) < 32 and char != "\t" for char in text):
            raise Refused("%s: the secret %s has a line break or control character: systemd takes none." % (name, key))
        lines.append('%s="%s"' % (key, re.sub(r'([\\"$`])', r"\\\1", text)))
    return "\n".join(lines) + "\n" if lines else None


def secret_of(text: Optional[str], key: str) -> Optional[str]:
    """One value back from such lines."""
    for line in (text or "").split("\n"):
        name, sign, value = line.partition("=")
        if sign and name == key and len(value) >= 2 and value[0] == value[-1] == '"':
            return re.sub(r'\\([\\"$`])', r"\1", value[1:-1])
    return None


def files_of(wanted: Mapping[str, Any], secrets: Mapping[str, Any]) -> List[File]:
    name = wanted["name"]
    files = [File(one["path"], one["content"], 0o644, False) for one in [wanted["unit"], *wanted["files"]]]
    return [*files, File(secrets_path(name), secrets_text(name, secrets), 0o600, True)]


def difference(runner: Runner, file: File) -> Optional[Difference]:
    found = runner.stat(file.path)
    if file.content is None:
        return None if found is None else Difference(file, "", True)
    if found is None:
        return Difference(file, None, True)
    before = runner.read(file.path) if stat.S_ISREG(found.st_mode) else None
    if before != file.content:
        return Difference(file, before, True)
    same = stat.S_IMODE(found.st_mode) == file.mode and (found.st_uid, found.st_gid) == _owner()
    return None if same else Difference(file, before, False)


def _owner() -> Tuple[int, int]:
    """Files are root's; as another user (tests) they are that user's."""
    return os.geteuid(), os.getegid()


def matters(change: Difference) -> bool:
    """Whether a running vLLM has to be started again for it: not for an owner, nor for a newer launcher alone."""
    if not change.content:
        return False
    if not change.file.path.endswith(".service") or change.before is None:
        return True
    return _LAUNCHER.sub("", change.before) != _LAUNCHER.sub("", change.file.content or "")


def shown(changes: Sequence[Difference]) -> List[Dict[str, str]]:
    """``diff`` for the user; of a secrets file only that it differs."""
    result = []
    for change in changes:
        before, after = change.before or "", change.file.content or ""
        if change.file.secret:
            before = "(secrets as they are)\n" if before else ""
            after = "(secrets as wanted)\n" if after else ""
        result.append(
            {
                "before_header": change.file.path,
                "after_header": change.file.path,
                "before": before,
                "after": after,
            }
        )
    return result


# the plan -----------------------------------------------------------------------------------------------------------


def plan(
    runner: Runner,
    instances: Sequence[Mapping[str, Any]],
    secrets: Mapping[str, Mapping[str, Any]],
    restart: str = "now",
) -> List[Plan]:
    """What each instance needs, from one look at units, files, states and ports.

    :param restart: now | pending; pending leaves a running vLLM alone and says so.
    :raises Refused: a name or definition is wrong, files are not ours, or a port is taken.
    """
    names = [str(one.get("name")) for one in instances]
    for name in names:
        if not _NAME.match(name):
            raise Refused("%r is no name for an instance: lower-case letters, digits, - and _ are wanted." % name)
        if names.count(name) > 1:
            raise Refused("The instance %s is defined twice: give one of them another name." % name)
    units = _systemd.show(runner, [unit_name(name) for name in names])
    plans = [
        _plan_one(runner, dict(one), secrets.get(one["name"]) or {}, units[unit_name(one["name"])], restart)
        for one in instances
    ]
    _check_ports(runner, plans)
    return plans


def _plan_one(
    runner: Runner, wanted: Dict[str, Any], secrets: Mapping[str, Any], unit: _systemd.Unit, restart: str
) -> Plan:
    name = wanted["name"]
    known = runner.lexists(_state.path_of(LAYER, name))
    state = _state.load(runner, LAYER, name)
    if wanted["state"] == "absent":
        would = ["stop and remove %s" % unit_name(name)] if known else []
        return Plan(wanted, state, unit, [], False, None, False, False, known, False, would)
    files = [one for one in (difference(runner, file) for file in files_of(wanted, secrets)) if one is not None]
    _check_ours(name, known, files)
    started = wanted["state"] == "started"
    # A start that an earlier run owed (it was killed, or told to wait) is owed until systemd started the unit anew.
    owed = bool(state and unit.invocation and state["have"].get("stale") == unit.invocation)
    old = unit.up and (owed or any(matters(change) for change in files))
    pending = started and old and restart == "pending"
    start = started and (not unit.up or (old and not pending))
    stop = not started and unit.up
    enable = None if (unit.enabled == "enabled") == started else started
    would = ["%s %s" % ("remove" if one.file.content is None else "write", one.file.path) for one in files]
    reload = unit.needs_reload or any(one.file.path.endswith(".service") for one in files)
    if enable is not None:
        would.append("%s %s" % ("enable" if enable else "disable", unit_name(name)))
    if start:
        would.append("%s %s" % ("restart" if unit.up else "start", unit_name(name)))
    if stop:
        would.append("stop %s" % unit_name(name))
    current = state is not None and state["status"] == "complete" and state["have"].get("digest") == wanted["digest"]
    if not would and not current and not pending:
        would.append("write the state of %s" % name)
    return Plan(wanted, state, unit, files, reload, enable, start, stop, False, pending, would)


def _check_ours(name: str, known: bool, files: Sequence[Difference]) -> None:
    foreign = [one.file.path for one in files if one.before is not None and one.content]
    if foreign and not known:
        raise Refused(
            "%s: %s was not written by this collection and differs from what is wanted. Move it away, or give the "
            "instance another name." % (name, " and ".join(foreign))
        )


def _check_ports(runner: Runner, plans: Sequence[Plan]) -> None:
    """A port may be held by the instance itself, or by one that this call stops first.

    :raises Refused: with every port that is taken.
    """
    starting = [one for one in plans if one.start]
    wanted = {}  # type: Dict[int, str]
    for one in plans:
        if one.remove or one.wanted["state"] == "absent":
            continue
        port, name = int(one.wanted["port"]), one.wanted["name"]
        if port in wanted:
            raise Refused("%s and %s both want port %d: give one of them another." % (wanted[port], name, port))
        wanted[port] = name
    leaving = {unit_name(one.wanted["name"]) for one in plans if one.start or one.stop or one.remove}
    heard = _ports.listening(runner) or {}
    heard = {port: heard[port] for port in sorted(int(one.wanted["port"]) for one in starting) if port in heard}
    owners = _ports.owners(runner, heard) if heard else {}
    taken = []
    for port in heard:
        owner = owners.get(str(port), {})
        if owner.get("unit") not in leaving:
            taken.append("port %d of %s is held by %s" % (port, wanted[port], _who(owner)))
    if taken:
        raise Refused(
            "%s. End that process, or give the instance another port; nothing was changed." % "; ".join(taken)
        )


def _who(owner: Mapping[str, Any]) -> str:
    if not owner:
        return "a process that cannot be seen from here"
    return "process %d (%s)" % (owner["pid"], owner["unit"] or owner["command"] or "name unknown")
