# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Who uses a runtime: an env that an instance points at is never changed."""

from __future__ import annotations

from typing import Any, Dict, List

from ._runner import Runner
from ._state import ROOT, load


def states(runner: Runner, layer: str) -> Dict[str, Dict[str, Any]]:
    """Sound states of a layer by key."""
    found = {}
    for name in runner.names("%s/%s" % (ROOT, layer)):
        if name.endswith(".json") and not name.startswith("."):
            state = load(runner, layer, name[: -len(".json")])
            if state is not None:
                found[name[: -len(".json")]] = state
    return found


def runtimes_in(runner: Runner, prefix: str) -> List[str]:
    """Ids of our runtimes whose env is at a prefix."""
    found = states(runner, "vllm_ascend")
    return sorted(key for key, state in found.items() if state["have"].get("prefix") == prefix)


def instances_of(runner: Runner, runtime: str, prefix: str) -> List[str]:
    """Instances that run this runtime, or another one in the same env; begun ones count."""
    runtimes = set(runtimes_in(runner, prefix)) | {runtime}
    found = states(runner, "vllm_service")
    return sorted(key for key, state in found.items() if state["have"].get("runtime") in runtimes)
