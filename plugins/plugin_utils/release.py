# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""From the table of releases to the one row that a host is judged by. Pure: the table is handed in."""

from __future__ import annotations

import difflib
import hashlib
import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ansible_collections.ascend.fleet.plugins.module_utils import _version

Overrides = Union[Dict[str, Any], Sequence[Dict[str, Any]], None]

# What makes two runtimes different: the id is made from these, so a new word here gives every runtime a new id.
WANTED = (
    "release",
    "family",
    "arch",
    "python_default",
    "cann",
    "ops",
    "nnal",
    "cxx_abi",
    "torch",
    "torch_npu",
    "torchvision",
    "torchaudio",
    "triton_ascend",
    "transformers",
    "numpy",
    "vllm",
    "vllm_ascend",
)
# Words of a row and the kinds of value they take. "pin" is a version, "pins" a version or a range, "?" allows null.
FIELDS = {
    "kind": "pin",
    "released": "pin?",
    "maintained": "flag",
    "vllm": "pin",
    "vllm_ascend": "pin",
    "python": "range",
    "python_default": "pin",
    "cann": "pin",
    "ops": "pin",
    "nnal": "pin",
    "cxx_abi": "abi",
    "torch": "pin",
    "torch_npu": "pin",
    "torchvision": "pin?",
    "torchaudio": "pin?",
    "triton_ascend": "pin?",
    "transformers": "pins?",
    "numpy": "pins?",
    "hdk": "ranges?",
    "soc_version": "pin?",
    "options": "pin?",
    "supported": "flag?",
    "notes": "pin?",
    "source": "pin?",
}
REQUIRED = ("kind", "vllm", "vllm_ascend", "python", "python_default", "cann", "cxx_abi", "torch", "torch_npu")
EMPTY = {"maintained": False}


class ReleaseError(Exception):
    """No row can be given: ``problem`` is unknown | row | override, ``have`` what was asked, ``near`` what is near.

    The text names cause and remedy; ``known`` are the releases, when none of them was named.
    """

    def __init__(self, problem: str, have: str, text: str, near: Sequence[str] = (), known: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.problem = problem
        self.have = have
        self.near = list(near)
        self.known = list(known)


def resolve(
    table: Dict[str, Any],
    name: str = "",
    family: Optional[str] = None,
    arch: Optional[str] = None,
    *,
    chips: Optional[Dict[str, Any]] = None,
    overrides: Overrides = None,
    extra: Sequence[Tuple[str, Dict[str, Any]]] = (),
) -> Dict[str, Any]:
    """The row of a release for one chip family and arch.

    :param table: {default, releases: {name: row}} as in data/releases.yml
    :param name: a release; empty = the table's default
    :param chips: data/chips.yml, for the name that a build knows the chip by
    :param overrides: the user's: {word: value} or a list of {when, set, source}
    :param extra: (source, {word: value}) pairs that are set last, empty values left out (role variables)
    :raises ReleaseError: unknown release, a row or an override with a wrong word or value.
    """
    rows = table.get("releases") or {}
    name = str(name or table.get("default") or "")
    if name not in rows:
        near = difflib.get_close_matches(name, list(rows), n=3, cutoff=0.5)
        text = "There is no release %r in our data." % name
        text += " Did you mean %s?" % " or ".join(near) if near else ""
        text += " Known: %s. A folder named in ascend_data_dirs can add one." % ", ".join(ordered(rows))
        raise ReleaseError("unknown", name, text, near, ordered(rows))
    source_row = dict(rows[name])
    families = source_row.pop("families", None) or {}
    own = source_row.pop("overrides", None) or []
    row = dict({word: None for word in FIELDS}, **EMPTY)  # type: Dict[str, Any]
    _set(row, source_row, "row", "release %s" % name)
    _set(row, families.get(family) or {}, "row", "family %s of release %s" % (family, name))
    row["soc_version"] = row["soc_version"] or soc_version(chips or {}, family, name)
    applied = []
    for item in list(own) + _listed(overrides):
        if not isinstance(item, dict) or not isinstance(item.get("set"), dict):
            raise ReleaseError(
                "override",
                str(item)[:80],
                "An override is {when: {family, arch}, set: {word: value}, source}; "
                "%s has no dictionary `set`." % str(item)[:80],
            )
        if fits(item.get("when"), family, arch):
            _set(row, item["set"], "override", str(item.get("source") or "override"))
            applied.append(str(item.get("source") or "override"))
    for source, words in extra:
        given = {word: value for word, value in words.items() if value not in (None, "")}
        if given:
            _set(row, given, "override", source)
            applied.append(source)
    missing = [word for word in REQUIRED if row[word] is None]
    if missing:
        raise ReleaseError(
            "row",
            name,
            "The row of release %s lacks %s: add it to data/releases.yml or to the file of the same "
            "name in ascend_data_dirs." % (name, ", ".join(missing)),
        )
    for word in ("ops", "nnal"):
        row[word] = row[word] or row["cann"]
    if row["supported"] is False:
        row["kind"] = "unsupported"
    row.update(release=name, family=family, arch=arch, applied=applied, order=ordered(rows).index(name))
    row["runtime_id"] = runtime_id(row)
    return row


def ordered(rows: Dict[str, Any]) -> List[str]:
    """Release names from the oldest to the newest, in the order of publication: a maintenance release of an old line is
    published after a newer line, and its number says nothing about what it replaces."""
    return sorted(rows, key=lambda name: (str((rows[name] or {}).get("released") or ""), name))


def soc_version(chips: Dict[str, Any], family: Optional[str], release: str) -> Optional[str]:
    """What a source build of a release is told about the chip when it cannot ask npu-smi, or None."""
    for chip in chips.get("families") or []:
        for line in (chip.get("soc_version") or []) if chip.get("family") == family else []:
            if _version.in_ranges(release, [line["releases"]]):
                return str(line["value"])
    return None


def fits(when: Optional[Dict[str, Any]], family: Optional[str], arch: Optional[str]) -> bool:
    """Whether a condition {family, arch} (a value or a list of values each) holds; no condition always holds."""
    have = {"family": family, "arch": arch}
    if not isinstance(when or {}, dict):
        shown = str(when)[:80]
        raise ReleaseError("override", shown, "An override's `when` is {family, arch}, not %s." % shown)
    for word, want in (when or {}).items():
        if word not in have:
            raise ReleaseError("override", word, "An override can depend on family and arch, not on %r." % word)
        wanted = want if isinstance(want, (list, tuple)) else [want]
        if have[word] is None or have[word] not in [str(item) for item in wanted]:
            return False
    return True


def runtime_id(row: Dict[str, Any]) -> str:
    """``<release>-<8 hex>``: the same wanted set has the same id on every controller."""
    text = json.dumps({word: row.get(word) for word in WANTED}, sort_keys=True, separators=(",", ":"))
    return "%s-%s" % (row["release"], hashlib.sha256(text.encode("utf-8")).hexdigest()[:8])


def _listed(overrides: Overrides) -> List[Any]:
    if not overrides:
        return []
    if isinstance(overrides, dict):
        if "set" not in overrides:
            overrides = {"set": overrides}
        overrides = [overrides]
    if not isinstance(overrides, (list, tuple)):
        raise ReleaseError(
            "override",
            str(overrides)[:80],
            "ascend_overrides is a dictionary {word: value} or a list of "
            "{when: {family, arch}, set: {word: value}, source}.",
        )
    return [
        dict(item, source=item.get("source") or "ascend_overrides") if isinstance(item, dict) else item
        for item in overrides
    ]


def _set(row: Dict[str, Any], words: Dict[str, Any], problem: str, where: str) -> None:
    for word, value in words.items():
        if word not in FIELDS:
            near = difflib.get_close_matches(str(word), list(FIELDS), n=2, cutoff=0.6)
            hint = "did you mean %s?" % " or ".join(near) if near else "it knows %s." % ", ".join(sorted(FIELDS))
            raise ReleaseError(problem, str(word), "A release has no word %r (%s): %s" % (word, where, hint), near)
        row[word] = _typed(word, value, problem, where)


def _typed(word: str, value: Any, problem: str, where: str) -> Any:
    kind = FIELDS[word]
    if kind.endswith("?") and (value is None or value == ""):
        return None
    kind = kind.rstrip("?")
    if kind == "flag" and isinstance(value, bool):
        return value
    if kind == "abi" and not isinstance(value, bool) and str(value) in ("0", "1"):
        return int(value)
    if kind in ("pin", "pins") and isinstance(value, str) and value:
        return str(value)
    if kind in ("range", "pins") and _is_range(value):
        return [None if end is None else str(end) for end in value]
    if kind == "ranges" and isinstance(value, (list, tuple)) and all(_is_range(item) for item in value):
        return [[None if end is None else str(end) for end in item] for item in value]
    wanted = {
        "flag": "true or false",
        "abi": "0 or 1",
        "pin": "a version as text (in quotes)",
        "range": "[low, high] as texts",
        "pins": "a version or [low, high], as texts in quotes",
        "ranges": "a list of [low, high]",
    }[kind]
    raise ReleaseError(problem, "%s: %r" % (word, value), "%s must be %s, not %r (%s)." % (word, wanted, value, where))


def _is_range(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and isinstance(value[0], str)
        and (value[1] is None or isinstance(value[1], str))
    )
