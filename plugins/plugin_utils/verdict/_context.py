# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What a judge of a layer is handed, and how it says what it found."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence


def plain(value: Any) -> Dict[str, Any]:
    """The value when it is a dictionary, else an empty one: a judge never stumbles over facts that were not asked."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


class Context:
    """Facts, wanted state and the findings so far.

    :param facts: ``ansible_facts`` of the probe; a key that is absent was not asked and is judged by nobody.
    :param wanted: see ``verdict``.
    :param layers: what is judged.
    :param tables: {findings, os, settings, chips}: the knowledge.
    """

    def __init__(
        self, facts: Dict[str, Any], wanted: Dict[str, Any], layers: Sequence[str], tables: Dict[str, Any]
    ) -> None:
        self.facts = plain(facts)
        self.wanted = plain(wanted)
        self.layers = list(layers)
        self.tables = tables
        self.row = plain(self.wanted.get("row"))
        self.family = self.wanted.get("family")
        self.arch = self.wanted.get("arch")
        self.settings = plain(self.wanted.get("settings"))
        self.check = bool(self.wanted.get("check"))
        self.npu = plain(self.facts.get("ascend_npu"))
        self.host = plain(self.facts.get("ascend_host"))
        self.stack = plain(self.facts.get("ascend_stack"))
        self.found = []  # type: List[Dict[str, Any]]

    def steps(self, layer: str) -> List[Dict[str, Any]]:
        """What the plan wants to do in a layer."""
        return items(plain(self.wanted.get("steps")).get(layer))

    def planned(self, layer: str) -> bool:
        """Whether the layer is part of this verdict and will be made by its role before the layers above it."""
        return layer in self.layers and bool(self.steps(layer))

    def state(self, layer: str, key: Optional[str]) -> Optional[Dict[str, Any]]:
        """The state of one thing, or None when there is none or it is damaged."""
        state = plain(self.stack.get(layer)).get(key) if key else None
        return state if isinstance(state, dict) else None

    def complete(self, layer: str, key: Optional[str]) -> Optional[Dict[str, Any]]:
        state = self.state(layer, key)
        return state if state and state.get("status") == "complete" else None

    def say(
        self,
        id: str,
        have: Any,
        want: Any,
        remedy: str,
        *,
        evidence: Any = None,
        severity: Optional[str] = None,
        source: Optional[str] = None,
        instance: Optional[str] = None,
    ) -> None:
        """Note a finding. KeyError for an id and ValueError for a severity that data/findings.yml does not list."""
        entry = self.tables["findings"]["findings"][id]
        allowed = [entry["severity"], *items(entry.get("may_be"))]
        severity = severity or entry["severity"]
        if severity not in allowed:
            raise ValueError("%s cannot be %s" % (id, severity))
        self.found.append(
            {
                "id": id,
                "severity": severity,
                "layer": id.split(".", 1)[0],
                "have": have,
                "want": want,
                "evidence": evidence,
                "remedy": remedy,
                "source": source,
                "instance": instance,
            }
        )
