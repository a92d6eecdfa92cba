# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The only judge: facts of a host and the wanted state in, findings out. Pure and quick: no node, no network.

``wanted``: {row: release row or null, problem: {problem, have, text, near, known} or null (why there is no row),
family, arch, settings: {variable: value}, steps: {layer: [step]}, artifacts: [{layer, problem, have, want, remedy}],
options: option list of the row's vLLM or null, misspelt: [{name, meant}], invalid: [{name, have, want}], check: bool,
tables: {os, settings, chips, findings}}; what is absent is not judged.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from ansible_collections.ascend.fleet.plugins.plugin_utils import data
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict import (
    cann,
    conda_env,
    host,
    npu_driver,
    vllm_ascend,
    vllm_service,
)
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, plain

LAYERS = ("host", "npu_driver", "cann", "conda_env", "vllm_ascend", "vllm_service")
SEVERITIES = ("error", "warning", "info")
TABLES = ("findings", "os", "settings", "chips")
JUDGES = {
    "npu_driver": npu_driver.judge,
    "cann": cann.judge,
    "conda_env": conda_env.judge,
    "vllm_ascend": vllm_ascend.judge,
    "vllm_service": vllm_service.judge,
}


def tables(folders: Sequence[str] = ()) -> Dict[str, Any]:
    """The knowledge that judging needs, with the site's folders merged over it. DataError when it cannot be read."""
    return {name: data.load(name, folders) for name in TABLES}


def verdict(facts: Dict[str, Any], wanted: Dict[str, Any], layers: Sequence[str] = LAYERS) -> List[Dict[str, Any]]:
    """Findings of the layers, errors first, then in the order of the layers.

    What makes judging any layer worthless (no such release, no family, a misspelt variable) is judged with every layer.

    :raises ValueError: a layer that does not exist.
    """
    unknown = [layer for layer in layers if layer not in LAYERS]
    if unknown:
        raise ValueError("no such layer: %s; there are %s" % (", ".join(map(str, unknown)), ", ".join(LAYERS)))
    known = plain(plain(wanted).get("tables")) or tables()
    context = Context(facts, wanted, [layer for layer in LAYERS if layer in layers], known)
    host.judge_request(context)
    if "host" in context.layers:
        host.judge(context)
    for layer in context.layers:
        if layer in JUDGES:
            host.judge_room(context, layer)
            JUDGES[layer](context)
    return ordered(context.found)


def ordered(findings: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Errors first, then in the order of the layers."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one["severity"]), LAYERS.index(one["layer"])))


def worst(findings: Sequence[Dict[str, Any]]) -> Optional[str]:
    """The highest severity of the findings, None when there are none."""
    have = {finding["severity"] for finding in findings}
    return next((severity for severity in SEVERITIES if severity in have), None)


def reaches(severity: Optional[str], fail_on: str) -> bool:
    """Whether a severity is one that fail_on (error | warning | none) refuses."""
    return severity is not None and fail_on != "none" and SEVERITIES.index(severity) <= SEVERITIES.index(fail_on)
