# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What a person and a program read of a host's judgement, before anything is changed."""

from __future__ import annotations

import json
import os
import re
import tempfile
import textwrap
from typing import Any, Dict, List, Mapping, Sequence

WIDTH = 118  # columns of the table; a finding's sentences are folded to it
LABELS = (("found", "have"), ("shown by", "evidence"), ("wanted", "want"), ("next", "remedy"))


def counts(findings: Sequence[Mapping[str, Any]]) -> str:
    """ "1 error, 2 warnings", "nothing" for no findings."""
    found = []
    for severity in ("error", "warning", "info"):
        number = sum(1 for one in findings if one["severity"] == severity)
        if number:
            plural = "s" if number != 1 and severity != "info" else ""
            found.append("%d %s%s" % (number, severity, plural))
    return ", ".join(found) or "nothing"


def table(host: str, findings: Sequence[Mapping[str, Any]], shown: Sequence[str]) -> List[str]:
    """Lines for the terminal: a head with all counts, then the findings of the shown severities; none without any."""
    if not findings:
        return []
    lines = ["%s: %s" % (host, counts(findings))]
    for one in findings:
        if one["severity"] not in shown:
            continue
        of = " (%s)" % one["instance"] if one.get("instance") else ""
        lines.append("  %-8s %s%s" % (one["severity"], one["id"], of))
        for label, key in LABELS:
            text = " ".join(str(one.get(key) or "").split())
            if text:
                first = " " * 11 + "%-9s " % label
                lines += textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * 21)
    return lines


def document(host: str, judged: Mapping[str, Any], fail_on: str, refused: bool, when: str) -> Dict[str, Any]:
    """The report of one host, as the return statement spells it.

    :param judged: what the action ``judge`` returned.
    :param when: time in ISO 8601, UTC.
    """
    steps = judged.get("steps") or {}
    return {
        "schema": 1,
        "host": host,
        "when": when,
        "release": (judged.get("row") or {}).get("release"),
        "family": judged.get("family"),
        "arch": judged.get("arch"),
        "runtime_id": judged.get("runtime_id"),
        "worst": judged.get("worst"),
        "fail_on": fail_on,
        "refused": refused,
        "findings": judged.get("findings") or [],
        "steps": {layer: [step.get("do") for step in todo] for layer, todo in steps.items()},
    }


def write(folder: str, host: str, content: Mapping[str, Any]) -> str:
    """Write a host's report, replacing an older one at once; returns its path. OSError when it cannot be written."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, re.sub(r"[^A-Za-z0-9._-]", "_", host).lstrip(".") + ".json")
    handle, temporary = tempfile.mkstemp(prefix=".report.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=1, sort_keys=True)
            stream.write("\n")
            os.fchmod(stream.fileno(), 0o644)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return path
