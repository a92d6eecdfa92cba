# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""``ascend_host``: the machine below the stack. Nothing is started; the shape is fixed in docs/contracts.md."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re
import shlex
import sys
import time
from typing import Any, Dict, Optional, Sequence

from . import _ports
from ._runner import Runner

_DEBIAN = {"debian", "ubuntu"}
_REDHAT = {"rhel", "fedora", "centos", "rocky", "almalinux", "anolis", "openeuler", "euleros", "kylin"}


def gather(
    runner: Runner,
    paths: Sequence[str] = (),
    users: Sequence[str] = (),
    groups: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> Dict[str, Any]:
    """Look at the host; what is asked by name is answered by name."""
    system = os.uname()
    ports = _ports.listening(runner)
    return {
        "os": os_release(runner.read("/etc/os-release") or runner.read("/usr/lib/os-release")),
        "arch": system.machine,
        "libc": libc(),
        "kernel": system.release,
        "kernel_headers": kernel_headers(runner, system.release),
        "python": {"executable": sys.executable, "version": ".".join(map(str, sys.version_info[:3]))},
        "disk": {path: runner.space(path) for path in paths},
        "ports": None if ports is None else sorted(ports),
        "port_owners": _ports.owners(runner, ports) if ports else {},
        "users": {name: user(name) for name in users},
        "groups": {name: group(name) for name in groups},
        "commands": {name: runner.which(name) for name in commands},
        "clock": round(time.time(), 1),
        "uptime_s": uptime(runner.read("/proc/uptime")),
        "hostname": system.nodename,
    }


def os_release(text: Optional[str]) -> Dict[str, Optional[str]]:
    """{id, version_id, name, family} of an os-release file; family is debian, redhat or None."""
    fields = {}  # type: Dict[str, str]
    for line in (text or "").splitlines():
        key, sign, value = line.strip().partition("=")
        if sign and re.match(r"^[A-Z_0-9]+$", key):
            with contextlib.suppress(ValueError):  # an open quote: the line says nothing
                fields[key] = " ".join(shlex.split(value))
    words = {word.lower() for word in (fields.get("ID", "") + " " + fields.get("ID_LIKE", "")).split()}
    family = "debian" if words & _DEBIAN else "redhat" if words & _REDHAT else None
    return {
        "id": fields.get("ID") or None,
        "version_id": fields.get("VERSION_ID") or None,
        "name": fields.get("PRETTY_NAME") or fields.get("NAME") or None,
        "family": family,
    }


def libc() -> Optional[Dict[str, str]]:
    """The C library that this Python runs on, None when it is not glibc."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return None
    name, _blank, version = text.partition(" ")
    return {"name": name, "version": version} if version else None


def kernel_headers(runner: Runner, kernel: str) -> Optional[bool]:
    """Whether modules can be built for the running kernel; None where its modules cannot be seen (a container)."""
    if runner.exists("/lib/modules/%s/build" % kernel):
        return True
    return False if runner.is_dir("/lib/modules") else None


def user(name: str) -> Optional[Dict[str, Any]]:
    try:
        entry = pwd.getpwnam(name)
    except (KeyError, ValueError):
        return None
    names = []
    for gid in os.getgrouplist(name, entry.pw_gid):
        with contextlib.suppress(KeyError):
            names.append(grp.getgrgid(gid).gr_name)
    return {"uid": entry.pw_uid, "gid": entry.pw_gid, "home": entry.pw_dir, "groups": sorted(set(names))}


def group(name: str) -> Optional[int]:
    try:
        return grp.getgrnam(name).gr_gid
    except (KeyError, ValueError):
        return None


def uptime(text: Optional[str]) -> Optional[int]:
    match = re.match(r"^(\d{1,12})(\.|\s|$)", text or "")
    return int(match.group(1)) if match else None
