# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The probe: every fact of a node in one call, by subset. The shapes are fixed in docs/contracts.md."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import _cann, _envs, _host, _models, _npu, _state, _units
from ._runner import Runner

SUBSETS = ("npu", "cann", "stack", "host", "envs", "units", "models")


class Ask(NamedTuple):
    """What the caller wants to know beyond what our states name. timeout: seconds for each call of a tool."""

    subset: Sequence[str]
    timeout: int = _npu.DEFAULT_TIMEOUT
    paths: Sequence[str] = ()
    users: Sequence[str] = ()
    groups: Sequence[str] = ()
    commands: Sequence[str] = ()
    read: Sequence[str] = ()
    envs: Sequence[str] = ()
    units: Sequence[str] = ()
    models: Sequence[str] = ()
    cann_roots: Sequence[str] = ()


def subset_of(asked: Optional[Sequence[str]], models: Sequence[str]) -> List[str]:
    """Subsets to gather: those asked for; by default all, models only where paths are given."""
    return list(asked) if asked else [name for name in SUBSETS if name != "models" or models]


def gather(runner: Runner, ask: Ask) -> Dict[str, Any]:
    """Facts by the names that Ansible gets; a subset that was not asked for leaves its key out."""
    stack = _state.gather(runner)
    makers = {
        "npu": ("ascend_npu", lambda: _npu.gather(runner, ask.timeout)),
        "cann": ("ascend_cann", lambda: _cann.gather(runner, ask.cann_roots, stack)),
        "stack": ("ascend_stack", lambda: stack),
        "host": ("ascend_host", lambda: _host.gather(runner, ask.paths, ask.users, ask.groups, ask.commands)),
        "envs": ("ascend_envs", lambda: {path: _envs.gather(runner, path) for path in prefixes(stack, ask.envs)}),
        "units": ("ascend_units", lambda: _units.gather(runner, units(stack, ask.units), min(ask.timeout, 20))),
        "models": ("ascend_models", lambda: {path: _models.gather(runner, path) for path in ask.models}),
    }
    facts = {makers[name][0]: makers[name][1]() for name in SUBSETS if name in ask.subset}
    facts["ascend_reads"] = {path: runner.read(path) for path in ask.read}
    return facts


def prefixes(stack: Dict[str, Any], more: Sequence[str]) -> List[str]:
    """Prefixes of our envs and runtimes, then the others asked for, without doubles."""
    ours = _have(stack, "conda_env", "prefix") + _have(stack, "vllm_ascend", "prefix")
    return list(dict.fromkeys(path.rstrip("/") or path for path in [*ours, *more]))


def units(stack: Dict[str, Any], more: Sequence[str]) -> List[str]:
    """Units of our instances, then the others asked for, without doubles."""
    return list(dict.fromkeys([*_have(stack, "vllm_service", "unit"), *more]))


def _have(stack: Dict[str, Any], layer: str, key: str) -> List[str]:
    states = (stack.get(layer) or {}).values()
    values = [(state.get("have") or {}).get(key) for state in states if state]
    return sorted(value for value in values if isinstance(value, str) and value)
