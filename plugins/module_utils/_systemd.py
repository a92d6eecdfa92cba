# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""systemd as this collection uses it: look at units, change them, read their journal."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence

from ._runner import Runner

PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "MainPID",
    "NRestarts",
    "Result",
    "ExecMainStatus",
    "InvocationID",
    "NeedDaemonReload",
)


class Unit(NamedTuple):
    """A unit as ``systemctl show`` gives it; the defaults are those of a unit that is not there."""

    load: str = "not-found"
    active: str = "inactive"
    sub: str = "dead"
    enabled: str = ""
    main_pid: int = 0
    restarts: int = 0
    result: str = "success"
    status: int = 0
    invocation: str = ""
    needs_reload: bool = False

    @property
    def up(self) -> bool:
        """A process of it runs or is about to."""
        return self.active in ("active", "activating", "reloading", "deactivating")


class SystemdError(Exception):
    """systemctl refused; the text carries what it said."""


def parse_show(text: str) -> Dict[str, Unit]:
    """Units by name from the blocks that ``systemctl show`` prints, one for each unit, apart by empty lines."""
    units = {}  # type: Dict[str, Unit]
    for block in text.replace("\r\n", "\n").split("\n\n"):
        pairs = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        name = pairs.get("Id")
        if not name:
            continue
        units[name] = Unit(
            load=pairs.get("LoadState", "not-found"),
            active=pairs.get("ActiveState", "inactive"),
            sub=pairs.get("SubState", "dead"),
            enabled=pairs.get("UnitFileState", ""),
            main_pid=_number(pairs.get("MainPID")),
            restarts=_number(pairs.get("NRestarts")),
            result=pairs.get("Result", "success"),
            status=_number(pairs.get("ExecMainStatus")),
            invocation=pairs.get("InvocationID", ""),
            needs_reload=pairs.get("NeedDaemonReload") == "yes",
        )
    return units


def _number(text: Optional[str]) -> int:
    return int(text) if text and text.isdigit() else 0


def show(runner: Runner, names: Sequence[str]) -> Dict[str, Unit]:
    """All named units by one call; a unit that is not there has load not-found.

    :raises SystemdError: no systemd answers.
    """
    if not names:
        return {}
    found = runner.run(["systemctl", "show", "--no-pager", "--property=" + ",".join(PROPERTIES), *names])
    units = parse_show(found.out)
    if found.rc != 0 and not units:
        raise SystemdError("systemctl show: %s" % (found.err or found.out).strip())
    return {name: units.get(name, Unit()) for name in names}


def change(
    runner: Runner, verb: str, names: Sequence[str] = (), options: Sequence[str] = (), timeout: int = 120
) -> None:
    """One systemctl call for all names.

    :raises SystemdError: it did not end well.
    """
    done = runner.run(["systemctl", "--no-pager", verb, *options, *names], timeout=timeout)
    if done.rc != 0:
        said = "no end after %d s" % timeout if done.timed_out else (done.err or done.out).strip()
        raise SystemdError("systemctl %s %s: %s" % (verb, " ".join(names), said))


def journal(runner: Runner, name: str, lines: int = 120, since: Optional[float] = None) -> List[str]:
    """The newest lines of a unit, oldest first; only those after since (seconds since the epoch) when it is given."""
    call = ["journalctl", "--no-pager", "--quiet", "--output=cat", "--unit=" + name, "--lines=%d" % lines]
    if since is not None:
        call.append("--since=@%d" % since)
    return [line.rstrip() for line in runner.run(call, timeout=30).out.splitlines() if line.strip()]
