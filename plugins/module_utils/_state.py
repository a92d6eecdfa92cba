# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""State of what this collection made on a node: one JSON file for each thing, under /var/lib/ascend-fleet.

The shape is fixed in docs/contracts.md. A state is written as ``installing`` before the first change and as
``complete`` last; uninstall removes only what ``made`` names.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any, Dict, List, Optional

from ._runner import Runner

ROOT = "/var/lib/ascend-fleet"
SCHEMA = 1
COLLECTION = "0.1.0"
LAYERS = ("npu_driver", "cann", "conda_env", "vllm_ascend", "vllm_service")


def sha256_of(runner: Runner, path: str) -> Optional[str]:
    """Hex SHA-256 of a file on the node, or None when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(runner.real(path), "rb") as handle:
            for block in iter(lambda: handle.read(1 << 20), b""):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()


def path_of(layer: str, key: str) -> str:
    """File of one state. The key may not leave its folder."""
    if layer not in LAYERS or not key or "/" in key or key.startswith("."):
        raise ValueError("not a state: layer %r, key %r" % (layer, key))
    return "%s/%s/%s.json" % (ROOT, layer, key)


def new(layer: str, key: str, by: str, have: Dict[str, Any], sha256: Optional[str] = None) -> Dict[str, Any]:
    """A fresh state with status installing."""
    return {
        "schema": SCHEMA,
        "layer": layer,
        "key": key,
        "status": "installing",
        "origin": "installed",
        "have": have,
        "sha256": sha256,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "collection": COLLECTION,
        "by": by,
        "made": {"paths": [], "links": [], "users": [], "units": [], "packages": []},
        "files": {},
        "previous": None,
    }


def load(runner: Runner, layer: str, key: str) -> Optional[Dict[str, Any]]:
    """One state, or None when it is absent or damaged."""
    return _parse(runner.read(path_of(layer, key)))


def _parse(text: Optional[str]) -> Optional[Dict[str, Any]]:
    try:
        state = json.loads(text or "")
    except ValueError:
        return None
    sound = (
        isinstance(state, dict)
        and state.get("schema") == SCHEMA
        and state.get("status") in ("installing", "complete")
        and isinstance(state.get("have"), dict)
        and isinstance(state.get("made"), dict)
        and isinstance(state.get("files", {}), dict)
    )
    return state if sound else None


def save(runner: Runner, state: Dict[str, Any], status: str) -> Dict[str, Any]:
    """Write a state with this status, atomically; returns what was written."""
    state = dict(state, status=status, when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    path = path_of(state["layer"], state["key"])
    runner.make_folder(path.rsplit("/", 1)[0])
    runner.write_atomic(path, json.dumps(state, indent=1, sort_keys=True) + "\n")
    return state


def forget(runner: Runner, layer: str, key: str) -> bool:
    return runner.remove(path_of(layer, key))


def drift(runner: Runner, state: Dict[str, Any]) -> List[Dict[str, str]]:
    """What no longer is as we left it: {path, problem: missing | changed}, in the order of the paths."""
    found = {}  # type: Dict[str, str]
    for path in state["made"].get("paths") or []:
        if not runner.lexists(path):
            found[path] = "missing"
    for path, want in (state.get("files") or {}).items():
        have = sha256_of(runner, path)
        if have is None:
            found[path] = "missing"
        elif have != want:
            found[path] = "changed"
    return [{"path": path, "problem": found[path]} for path in sorted(found)]


def gather(runner: Runner) -> Dict[str, Dict[str, Any]]:
    """``ascend_stack``: every state by layer and key with its drift; None for a damaged one."""
    stack = {}  # type: Dict[str, Dict[str, Any]]
    for layer in runner.names(ROOT):
        if layer not in LAYERS:
            continue
        for name in runner.names("%s/%s" % (ROOT, layer)):
            if name.startswith(".") or not name.endswith(".json"):
                continue
            state = _parse(runner.read("%s/%s/%s" % (ROOT, layer, name)))
            if state is not None:
                state["drift"] = drift(runner, state)
            stack.setdefault(layer, {})[name[: -len(".json")]] = state
    return stack
