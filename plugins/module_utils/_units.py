# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""State of systemd units: one call of systemctl for all of them."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from ._runner import Runner

_PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState,MainPID,NRestarts,Result"
_ENABLED = {"enabled": True, "enabled-runtime": True, "disabled": False, "masked": False, "masked-runtime": False}


def gather(runner: Runner, units: Sequence[str], timeout: int = 20) -> Dict[str, Optional[Dict[str, Any]]]:
    """``ascend_units``: {unit: {load, active, sub, enabled, main_pid, restarts, result}}, None where systemd is silent.

    enabled is None for a unit without an own file (static, generated, not found); main_pid is None when nothing runs.
    """
    units = list(dict.fromkeys(units))
    if not units:
        return {}
    result = runner.run(["systemctl", "show", "--no-pager", "--property=" + _PROPERTIES, "--", *units], timeout=timeout)
    blocks = parse_show(result.out)
    if len(blocks) != len(units):
        return dict.fromkeys(units)
    return {unit: _unit(block) for unit, block in zip(units, blocks)}


def parse_show(text: str) -> Sequence[Dict[str, str]]:
    """Blocks of ``systemctl show``, in the order of the units asked for."""
    blocks = [{}]  # type: list
    for line in text.splitlines():
        key, sign, value = line.partition("=")
        if not line.strip():
            blocks.append({})
        elif sign:
            blocks[-1][key] = value
    return [block for block in blocks if "LoadState" in block]


def _unit(block: Dict[str, str]) -> Dict[str, Any]:
    def number(key: str) -> Optional[int]:
        return int(block[key]) if block.get(key, "").isdigit() else None

    return {
        "load": block.get("LoadState") or None,
        "active": block.get("ActiveState") or None,
        "sub": block.get("SubState") or None,
        "enabled": _ENABLED.get(block.get("UnitFileState", "")),
        "main_pid": number("MainPID") or None,
        "restarts": number("NRestarts"),
        "result": block.get("Result") or None,
    }
