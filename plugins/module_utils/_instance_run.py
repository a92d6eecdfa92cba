# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""One run over the vLLM instances of a node: look, act on the difference, wait until each answers."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from . import _instance, _instance_act, _lock, _openai, _ready, _systemd
from ._instance import Plan, Refused
from ._runner import Runner

LOCK_WAIT = 300  # seconds that another run may need for files and units; it does not hold the lock while it waits


class Failed(Exception):
    """Something did not come to its state. ``result`` is what the module returns beside the message."""

    def __init__(self, text: str, result: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(text)
        self.result = result or {}


class Options(NamedTuple):
    """Arguments of the module beside the instances. ``prove``: start = one after a start; completion = always."""

    restart: str = "now"
    prove: str = "start"
    ready_timeout: int = 1800
    check: bool = False


def run(
    runner: Runner,
    opener: _openai.Opener,
    site: _instance_act.Site,
    instances: Sequence[Mapping[str, Any]],
    secrets: Mapping[str, Mapping[str, Any]],
    *,
    options: Options,
) -> Dict[str, Any]:
    """
    :return: {changed, would: [sentences], diff: [...], instances: [rows]}
    :raises Failed: nothing was changed (no result), or an instance does not answer (with the result).
    """
    try:
        if options.check:
            plans = _instance.plan(runner, instances, secrets, options.restart)
            shared = _instance_act.shared_steps(runner, site, plans)
            return _check(runner, opener, plans, shared)
        with _lock.held(runner, _lock.layer_lock(_instance.LAYER), LOCK_WAIT, "instances of vLLM"):
            plans = _instance.plan(runner, instances, secrets, options.restart)
            shared = _instance_act.shared_steps(runner, site, plans)
            began = time.time()
            if shared or any(plan.changed for plan in plans):
                _instance_act.apply(runner, site, plans)
    except (Refused, _lock.Busy) as exc:
        raise Failed(str(exc)) from exc
    except _systemd.SystemdError as exc:
        raise Failed("%s. Look with 'systemctl status', then run again." % exc) from exc
    except OSError as exc:
        raise Failed("Writing failed: %s. Repair that (room on disk? read-only?) and run again." % exc) from exc
    targets = [_target(runner, plan, options, began) for plan in plans if plan.wanted["state"] == "started"]
    outcomes = {one.name: one for one in _ready.wait(runner, opener, targets, options.ready_timeout)}
    result = _result(plans, shared, outcomes)
    errors = [one.error for one in outcomes.values() if one.error]
    if errors:
        raise Failed("\n".join(errors), result)
    return result


def _check(runner: Runner, opener: _openai.Opener, plans: Sequence[Plan], shared: List[str]) -> Dict[str, Any]:
    """What would be done; of an instance that would stay as it is, whether it answers now."""
    steady = [plan for plan in plans if plan.wanted["state"] == "started" and not plan.start]
    targets = [_target(runner, plan, Options(), None)._replace(ask=False) for plan in steady]
    outcomes = {one.name: one for one in _ready.wait(runner, opener, targets, 0)}
    return _result(plans, shared, outcomes)


def _target(runner: Runner, plan: Plan, options: Options, began: Optional[float]) -> _ready.Target:
    """What to wait for. An instance that goes on with older files answers where its state says."""
    wanted = plan.wanted
    server = plan.state["have"] if plan.pending and plan.state else wanted
    return _ready.Target(
        name=wanted["name"],
        unit=_instance.unit_name(wanted["name"]),
        address=_ready.address_of(server.get("host") or ""),
        port=int(server["port"]),
        tls=bool(server.get("tls")),
        api_key=_instance.secret_of(runner.read(_instance.secrets_path(wanted["name"])), "VLLM_API_KEY"),
        served_name=server["served_name"],
        pooling=bool(server.get("pooling")),
        restarts=0 if plan.start else plan.unit.restarts,
        ask=plan.start or options.prove == "completion",
        since=began if plan.start else None,
        older=plan.pending,
    )


def _result(plans: Sequence[Plan], shared: List[str], outcomes: Mapping[str, _ready.Outcome]) -> Dict[str, Any]:
    would = list(shared)
    diff = []  # type: List[Dict[str, str]]
    for plan in plans:
        would += plan.would
        diff += _instance.shown(plan.files)
    return {
        "changed": bool(would),
        "would": would,
        "diff": diff,
        "instances": [_row(plan, outcomes.get(plan.wanted["name"])) for plan in plans],
    }


def _row(plan: Plan, outcome: Optional[_ready.Outcome]) -> Dict[str, Any]:
    """``ready`` null: not asked, as of a stopped instance, or of one that check mode would start."""
    wanted = plan.wanted
    return {
        "name": wanted["name"],
        "state": wanted["state"],
        "unit": _instance.unit_name(wanted["name"]),
        "port": wanted.get("port"),
        "model": wanted.get("served_name"),
        "runtime": wanted.get("runtime"),
        "devices": wanted.get("devices") or [],
        "changed": plan.changed,
        "pending_restart": plan.pending,
        "ready": None if outcome is None else outcome.error is None,
        "completion": outcome.completion if outcome else None,
        "seconds": round(outcome.seconds, 1) if outcome else None,
    }
