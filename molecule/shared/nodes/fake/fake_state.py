# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""State of the fake hardware on a node: read, changed by faults, and who holds the device nodes right now."""

from __future__ import annotations

import json
import os
import re

STATE = "/etc/fake-npu/state.json"
DEVICE_NODE = re.compile(r"^/dev/davinci([0-9]+)$")
PROCESS_MB = 1024  # what a live holder of a device node is said to use


def load(path=STATE):
    """The state as a dict; a damaged file is an error, because then the test's own ground is broken."""
    with open(path) as stream:
        return json.load(stream)


def merge(base, change):
    """``change`` merged into ``base``: dicts by key, everything else replaced, None kept as a value."""
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value
    return base


def save(state, path=STATE):
    """Replace the state file in one step, so that a running npu-smi reads the old or the new one."""
    with open(path + ".new", "w") as stream:
        json.dump(state, stream, indent=1, sort_keys=True)
    os.replace(path + ".new", path)


def devices(state):
    """Devices that answer, sorted by (npu, chip); lost ones are left out."""
    found = [device for device in state["devices"].values() if not device.get("lost")]
    return sorted(found, key=lambda device: (device["npu"], device["chip"]))


def _holders():
    """(davinci number, pid, name) of every process with an open device node, as far as this user may look."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            targets = {os.readlink("/proc/%s/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%s/fd" % pid)}
            numbers = sorted(int(match.group(1)) for match in map(DEVICE_NODE.match, targets) if match)
            if not numbers:
                continue
            with open("/proc/%s/comm" % pid) as stream:
                name = stream.read().strip()
        except OSError:
            continue
        for number in numbers:
            yield number, int(pid), name


def processes(state, holders=None):
    """Rows of the process table: those that the state names, and every live holder of a device node.

    :param holders: (davinci number, pid, name) in place of those of this machine
    :return: list of {npu, chip, pid, name, memory, container_pid}
    """
    by_phy = {device["phy"]: device for device in devices(state)}
    rows = []
    for entry in state.get("processes") or []:
        npu, chip = (str(entry.get("device", "0:0")) + ":0").split(":")[:2]
        rows.append(
            {
                "npu": int(npu),
                "chip": int(chip),
                "pid": entry["pid"],
                "name": entry.get("name", "python"),
                "memory": entry.get("memory_mb", PROCESS_MB),
                "container_pid": entry.get("container_pid"),
            }
        )
    for number, pid, name in sorted(_holders() if holders is None else holders):
        device = by_phy.get(number)
        if device:
            rows.append(
                {
                    "npu": device["npu"],
                    "chip": device["chip"],
                    "pid": pid,
                    "name": name,
                    "memory": PROCESS_MB,
                    "container_pid": None,
                }
            )
    return rows


def install_info(path="/etc/ascend_install.info"):
    """Keys of the driver's install record; {} where there is none."""
    try:
        with open(path) as stream:
            return dict(line.strip().split("=", 1) for line in stream if "=" in line)
    except OSError:
        return {}
