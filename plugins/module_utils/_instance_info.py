# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Asks the vLLM instances that a node's states name whether they answer. Changes nothing."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import _instance, _openai, _ready, _state, _systemd
from ._runner import Runner


class Ask(NamedTuple):
    """``names``: empty for all; ``completion``: whether models are asked too; ``timeout``: seconds for an answer."""

    names: Sequence[str] = ()
    completion: bool = True
    timeout: float = 120


def look(runner: Runner, opener: _openai.Opener, ask: Ask) -> List[Dict[str, Any]]:
    """One row for each instance, by name.

    :return: [{name, state: started | stopped | missing, active, unit, port, model, runtime, devices, pending_restart,
        ready, models, completion, latency_s, error}]; ready is None for a stopped one, error None for what is well.
    :raises _systemd.SystemdError: no systemd answers.
    """
    stack = _state.gather(runner).get(_instance.LAYER, {})
    names = sorted(ask.names or stack)
    units = _systemd.show(runner, [_instance.unit_name(name) for name in names])
    rows = []
    for name in names:
        row = _row(name, stack.get(name), units[_instance.unit_name(name)])
        if row["error"] is None and row["state"] == "started":
            _question(runner, opener, ask, row, stack[name]["have"])
        rows.append(row)
    return rows


def _row(name: str, state: Optional[Dict[str, Any]], unit: _systemd.Unit) -> Dict[str, Any]:
    have = (state or {}).get("have") or {}
    running = unit.up or unit.enabled == "enabled"
    row = {
        "name": name,
        "state": "missing" if state is None else "started" if running or unit.active == "failed" else "stopped",
        "active": unit.active,
        "unit": _instance.unit_name(name),
        "port": have.get("port"),
        "model": have.get("served_name"),
        "runtime": have.get("runtime"),
        "devices": have.get("devices") or [],
        "pending_restart": bool(have.get("stale") and have["stale"] == unit.invocation),
        "ready": None,
        "models": [],
        "completion": None,
        "latency_s": None,
        "error": None,
    }  # type: Dict[str, Any]
    if state is None:
        row.update(ready=False, error="%s is not on this node: run the role vllm_service." % name)
    elif not have.get("port") or not have.get("served_name"):
        row.update(ready=False, error="The state of %s names no port or model: run the role vllm_service." % name)
    elif state["status"] != "complete":
        row.update(ready=False, error="The work on %s was cut short: run the role vllm_service again." % name)
    return row


def _question(
    runner: Runner,
    opener: _openai.Opener,
    ask: Ask,
    row: Dict[str, Any],
    have: Dict[str, Any],
) -> None:
    target = _ready.Target(
        name=row["name"],
        unit=row["unit"],
        address=_ready.address_of(have.get("host") or ""),
        port=int(have["port"]),
        tls=bool(have.get("tls")),
        api_key=_instance.secret_of(runner.read(_instance.secrets_path(row["name"])), "VLLM_API_KEY"),
        served_name=have["served_name"],
        pooling=bool(have.get("pooling")),
        restarts=0,
        ask=ask.completion,
        since=None,
        older=row["pending_restart"],
    )
    outcome = _ready.once(runner, opener, target, ask.timeout)
    row.update(
        ready=outcome.error is None,
        models=outcome.models,
        completion=outcome.completion,
        latency_s=round(outcome.seconds, 3) if outcome.completion else None,
        error=outcome.error,
    )
