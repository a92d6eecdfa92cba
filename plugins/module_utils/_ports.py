# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Listening TCP ports and who holds them, from /proc alone."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Optional, Set

from ._runner import Runner

_LISTEN = "0A"  # state of a listening socket in /proc/net/tcp
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LARGEST = 64 << 20  # bytes; a busy host has many connections


def listening(runner: Runner) -> Optional[Dict[int, Set[str]]]:
    """Inodes of the listening sockets by port, v4 and v6, whatever the address; None when neither table is readable."""
    tables = [text for text in (runner.read(path, _LARGEST) for path in _TABLES) if text is not None]
    if not tables:
        return None
    ports = {}  # type: Dict[int, Set[str]]
    for text in tables:
        for line in text.splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[3] == _LISTEN and re.match(r"^[0-9A-Fa-f]+:[0-9A-Fa-f]{4}$", words[1]):
                ports.setdefault(int(words[1].rsplit(":", 1)[1], 16), set()).add(words[9])
    return ports


def owners(runner: Runner, ports: Dict[int, Set[str]]) -> Dict[str, Dict[str, Any]]:
    """{"<port>": {pid, unit, command}} of the ports whose owner could be read: all for root, one's own for others."""
    wanted = {inode: port for port, inodes in ports.items() for inode in inodes if inode != "0"}
    found = {}  # type: Dict[str, Dict[str, Any]]
    for pid in _pids(runner):
        if len(found) == len(ports):
            break
        for inode in _sockets(runner, pid):
            port = wanted.get(inode)
            if port is not None and str(port) not in found:
                found[str(port)] = {"pid": pid, "unit": unit_of(runner, pid), "command": command_of(runner, pid)}
    return found


def _pids(runner: Runner) -> List[int]:
    return sorted(int(name) for name in runner.names("/proc") if name.isdigit())


def _sockets(runner: Runner, pid: int) -> Iterator[str]:
    folder = "/proc/%d/fd" % pid
    for name in runner.names(folder):
        target = runner.readlink(folder + "/" + name) or ""
        if target.startswith("socket:["):
            yield target[8:-1]


def unit_of(runner: Runner, pid: int) -> Optional[str]:
    """The systemd service that a process belongs to, from its control group; None outside of a service."""
    for line in (runner.read("/proc/%d/cgroup" % pid, 1 << 16) or "").splitlines():
        units = re.findall(r"/([^/]+\.service)(?=/|$)", line)
        if units:
            return units[-1]
    return None


def command_of(runner: Runner, pid: int) -> Optional[str]:
    """Program of a process without its arguments: those can hold secrets."""
    raw = runner.read("/proc/%d/cmdline" % pid, 4096) or ""
    program = raw.split("\0", 1)[0].strip()
    return program or (runner.read("/proc/%d/comm" % pid, 256) or "").strip() or None
