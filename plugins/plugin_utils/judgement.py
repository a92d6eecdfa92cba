# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Everything between the variables of a host and its findings: row, plan, artifacts, verdict. Reads no node.

A role may ask for another release than its neighbour, so layers are judged in groups that share a release; nearly
always there is one group.
"""

from __future__ import annotations

import difflib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.ascend.fleet.plugins.plugin_utils import (
    artifacts,
    data,
    devices,
    plan,
    release,
    variables,
    verdict,
)


class Request(NamedTuple):
    """What is judged, of whom.

    facts: ansible_facts of the probe; layers: of verdict.LAYERS; settings: role variables by name, typed;
    shared: the ascend_* variables by name; names: every variable name of the host; invalid: [{name, have, want}] of
    values of the wrong kind; known: data/json/variables.json; check: whether this is check mode.
    """

    facts: Dict[str, Any]
    layers: Sequence[str]
    settings: Dict[str, Any]
    shared: Dict[str, Any]
    names: Sequence[str]
    invalid: List[Dict[str, Any]]
    known: Dict[str, Any]
    check: bool


def judge(request: Request, fetch: Optional[Callable[[str], str]] = None) -> Dict[str, Any]:
    """{row, family, arch, runtime_id, findings, worst, steps}.

    :param fetch: text of an address, for mirrors; only tests set it.
    :raises data.DataError: a folder of ascend_data_dirs is not there or holds a file that is no table.
    """
    folders = _folders(request.shared.get("ascend_data_dirs"))
    tables = verdict.tables(folders)
    releases = data.load("releases", folders)
    invalid = list(request.invalid)
    named = _family(request.shared.get("ascend_family"), tables["chips"], invalid)
    family = devices.family_of(_dict(request.facts.get("ascend_npu")), named)
    arch = _dict(request.facts.get("ascend_host")).get("arch")
    wanted = {
        "family": family, "arch": arch, "settings": request.settings, "check": request.check, "tables": tables,
        "misspelt": variables.misspelt(request.names, request.known), "invalid": invalid, "artifacts": [], "steps": {},
    }  # fmt: skip
    findings, steps, first = [], {}, None  # type: List[Dict[str, Any]], Dict[str, Any], Optional[Dict[str, Any]]
    for name, layers in groups(request):
        one = dict(wanted, row=None)
        try:
            one["row"] = release.resolve(
                releases, name, family, arch, chips=tables["chips"],
                overrides=request.shared.get("ascend_overrides"), extra=variables.row_words(request.settings),
            )  # fmt: skip
        except release.ReleaseError as exc:
            one["problem"] = {
                "problem": exc.problem,
                "have": exc.have,
                "near": exc.near,
                "text": str(exc),
                "known": exc.known,
            }
        else:
            one["options"] = data.options(one["row"]["options"], folders)
            one["steps"] = _plans(request, layers, one["row"])
            one["artifacts"] = _resolve(request, one["steps"], fetch)
        first = first or one["row"]
        steps.update(one["steps"])
        findings += [new for new in verdict.verdict(request.facts, one, layers) if new not in findings]
    findings = verdict.ordered(findings)
    return {
        "row": first, "family": family, "arch": arch, "runtime_id": first["runtime_id"] if first else None,
        "findings": findings, "worst": verdict.worst(findings), "steps": steps,
    }  # fmt: skip


def _dict(value: Any) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _folders(value: Any) -> List[str]:
    return [value] if isinstance(value, str) and value else [str(one) for one in value or []]


def _family(named: Any, chips: Dict[str, Any], invalid: List[Dict[str, Any]]) -> Optional[str]:
    """The family that is named, in our spelling; one that no chip has is noted as invalid and not used."""
    if named in (None, ""):
        return None
    known = [str(chip["family"]) for chip in chips["families"]]
    word = str(named).lower()
    if word in known:
        return word
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    want = "%s, did you mean %s?" % (" ".join(known), near[0]) if near else "one of %s" % " ".join(known)
    invalid.append({"name": "ascend_family", "have": str(named), "want": want})
    return None


def groups(request: Request) -> List[Tuple[str, List[str]]]:
    """(release, layers) in the order of the layers; a layer without a release of its own goes with ascend_release."""
    common = str(request.shared.get("ascend_release") or "")
    found = {}  # type: Dict[str, List[str]]
    for layer in [layer for layer in verdict.LAYERS if layer in request.layers]:
        name = str(request.settings.get(layer + "_release") or common)
        found.setdefault(name, []).append(layer)
    if len(found) > 1 and found.get("") == ["host"]:
        del found[""]
        found[next(iter(found))].insert(0, "host")
    return list(found.items())


def _plans(request: Request, layers: Sequence[str], row: Dict[str, Any]) -> Dict[str, List[plan.Step]]:
    return {layer: plan.plan(layer, request.facts, row, request.settings) for layer in layers if layer in plan.LAYERS}


def _resolve(request: Request, steps: Dict[str, Any], fetch: Optional[Callable[[str], str]]) -> List[Dict[str, Any]]:
    """What is wrong with the artifacts of the steps; those that are found get their file and size noted in the step."""
    troubles = []
    sources = request.shared.get("ascend_artifacts")
    reads = _dict(request.facts.get("ascend_reads"))
    more = {"fetch": fetch} if fetch else {}
    for layer, of_layer in steps.items():
        for wish in [wish for step in of_layer for wish in wishes(step)]:
            try:
                found = artifacts.resolve(sources, wish["name"], wish["version"], wish["platform"], reads, **more)
                artifacts.check(found)
            except artifacts.ArtifactError as exc:
                troubles.append(
                    {"layer": layer, "problem": exc.id, "have": exc.have, "want": exc.want, "remedy": exc.remedy}
                )
            else:
                wish.update(version=found["version"], file=found["file"], size=found.get("size"))
    return troubles


def wishes(step: plan.Step) -> List[Dict[str, Any]]:
    """Artifacts that a step names, in place."""
    own = [step["artifact"]] if "artifact" in step else []
    return own + [source["artifact"] for source in step.get("sources") or []]


def message(findings: Sequence[Dict[str, Any]], fail_on: str) -> str:
    """Every finding that refuses: what was found, what is wanted, where it shows, what to do next."""
    refusing = [one for one in findings if verdict.reaches(one["severity"], fail_on)]
    count = "%d finding%s" % (len(refusing), "" if len(refusing) == 1 else "s")
    lines = ["Refused before any change, %s:" % count]
    for one in refusing:
        shown = " (%s)" % one["evidence"] if one["evidence"] else ""
        lines.append("%s %s: found %s%s; wanted %s. %s" % (
            one["severity"], one["id"], one["have"], shown, one["want"], one["remedy"]))  # fmt: skip
    return "\n".join(lines)
