# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Files that the plan needs and no source can give: one finding each, whatever the layer."""

from __future__ import annotations

from typing import Dict, List, Tuple

from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items


def judge(ctx: Context, layer: str) -> None:
    """Findings for the artifacts of a layer that could not be resolved: what has one cause is one finding."""
    causes: Dict[Tuple[str, str, str], List[str]] = {}
    for trouble in items(ctx.wanted.get("artifacts")):
        if trouble["layer"] == layer:
            wants = causes.setdefault((trouble["problem"], trouble["have"], trouble["remedy"]), [])
            wants += [trouble["want"]] if trouble["want"] not in wants else []
    for (problem, have, remedy), wants in causes.items():
        ctx.say("%s.artifact.%s" % (layer, problem), have, "; ".join(wants), remedy)


def path_problem(value: object) -> str:
    """What is wrong with a path for an installation, in words; empty when nothing is."""
    text = str(value)
    if not text.startswith("/"):
        return "it is not absolute"
    if text != text.strip() or any(letter.isspace() for letter in text):
        return "it has a blank"
    if ".." in text.split("/"):
        return "it has a .. in it"
    return "" if text.strip("/") else "it is the root folder"
