# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What a host's instances answered, against what its inventory wants of them."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

# Columns of the table that are padded to the widest of their cells.
PADDED = 4


def rows(asked: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """The rows of ``ascend.fleet.instance_info``, and one for each wanted instance that has none; each with ``error``.

    :param wanted: definitions of the inventory; an instance that is only on the node is judged by its own state.
    """
    found = {str(one["name"]): dict(one) for one in asked}
    for one in wanted:
        name, state = str(one.get("name")), one.get("state") or "started"
        row = found.get(name)
        if state == "started" and row is None:
            found[name] = {
                "name": name,
                "state": "missing",
                "ready": False,
                "error": "%s is not on this node: run the role vllm_service." % name,
            }
        elif state == "started" and row and row.get("state") == "stopped":
            row["error"] = "%s is stopped and wanted started: run the role vllm_service." % name
            row["ready"] = False
        elif state != "started" and row and row.get("state") == "started":
            row["error"] = "%s is there and wanted %s: run the role vllm_service." % (name, state)
    return [found[name] for name in sorted(found)]


def errors(checked: Sequence[Mapping[str, Any]]) -> List[str]:
    return [str(one["error"]) for one in checked if one.get("error")]


def table(host: str, checked: Sequence[Mapping[str, Any]]) -> List[str]:
    """One line for each instance; a host without instances says so."""
    cells = [_cells(host, one) for one in checked]
    if not cells:
        return ["%s: no instances" % host]
    widths = [max(len(line[column]) for line in cells) for column in range(PADDED)]
    return ["  ".join([*(word.ljust(size) for word, size in zip(line, widths)), line[PADDED]]) for line in cells]


def _cells(host: str, one: Mapping[str, Any]) -> List[str]:
    devices = one.get("devices") or []
    return [
        "%s:" % host,
        str(one["name"]),
        "port %s" % one["port"] if one.get("port") else "no port",
        "NPU %s" % " ".join(str(device) for device in devices) if devices else "all NPUs",
        _verdict(one),
    ]


def _verdict(one: Mapping[str, Any]) -> str:
    if one.get("error"):
        return "NOT READY: %s" % str(one["error"]).splitlines()[0]
    if one.get("ready") is None:
        return str(one.get("state"))
    said = one.get("completion")
    words = "ready, serves %s" % one.get("model")
    if said:
        words += ", answered in %s s: %s" % (one.get("latency_s"), said)
    return words + (", restart pending" if one.get("pending_restart") else "")
