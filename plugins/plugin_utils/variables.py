# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Names of variables: which ones are ours, and which ones of a host are almost one of ours. Pure."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable, List

SHARED = (
    "ascend_release",
    "ascend_overrides",
    "ascend_family",
    "ascend_data_dirs",
    "ascend_artifacts",
    "ascend_serial",
    "ascend_hosts",
    "ascend_proxy_env",
)
FACTS = (
    "ascend_npu",
    "ascend_cann",
    "ascend_stack",
    "ascend_host",
    "ascend_envs",
    "ascend_units",
    "ascend_reads",
    "ascend_models",
)
INTERNAL = ("ascend_probe_result", "ascend_probe_again", "ascend_nodes")
# Variables that change a word of the release row. The layers must agree on the runtime, so every layer sees them.
ROW_WORDS = {
    "cann_version": "cann",
    "cann_ops_version": "ops",
    "cann_nnal_version": "nnal",
    "conda_env_python": "python_default",
    "conda_env_torch": "torch",
    "conda_env_torch_npu": "torch_npu",
    "vllm_ascend_soc_version": "soc_version",
}
PREFIX_LIKE = 0.86  # of difflib's ratio, for names that begin as ours do


def misspelt(names: Iterable[str], known: Dict[str, Any]) -> List[Dict[str, str]]:
    """[{name, meant}] of the variables that are not ours and almost are, sorted by name.

    A name that begins as ours do (``ascend_``, ``cann_``, ...) is compared generously, any other name passes unless one
    or two letters are wrong: people keep variables of their own.

    :param known: the role variables, as in data/json/variables.json ({name: {role, ...}}).
    """
    ours = set(known) | set(SHARED) | set(FACTS) | set(INTERNAL)
    public = sorted(set(known) | set(SHARED))
    prefixes = tuple({str(item.get("role")) + "_" for item in known.values()} | {"ascend_"})
    found = []
    for name in sorted(set(names)):
        if name in ours or name.startswith(("ansible_", "__", "_")) or len(name) < 8:
            continue
        meant = _near(name, public, name.startswith(prefixes))
        if meant:
            found.append({"name": name, "meant": meant})
    return found


def _near(name: str, public: List[str], ours_by_prefix: bool) -> str:
    best, distance = "", 3
    for candidate in public:
        if abs(len(candidate) - len(name)) >= distance:
            continue
        steps = edits(name, candidate, distance)
        if steps < distance:
            best, distance = candidate, steps
    if best and (ours_by_prefix or distance == 1 or len(name) >= 12):
        return best
    if ours_by_prefix:
        near = difflib.get_close_matches(name, public, n=1, cutoff=PREFIX_LIKE)
        return near[0] if near else ""
    return ""


def edits(one: str, other: str, limit: int = 99) -> int:
    """Letters to insert, delete, replace or swap with their neighbour to make one word the other; at most limit."""
    before = []  # type: List[int]
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) >= limit:
            return limit
        before, last = last, line
    return min(last[-1], limit)


def row_words(settings: Dict[str, Any]) -> List[Any]:
    """(variable, {word: value}) for every set role variable that changes the release row, in order of the layers."""
    return [
        (name, {word: str(settings[name])}) for name, word in ROW_WORDS.items() if settings.get(name) not in (None, "")
    ]


TRUE, FALSE = ("true", "yes", "on", "1", "y", "t"), ("false", "no", "off", "0", "n", "f")


def typed(value: Any, kind: str) -> Any:
    """A value as the kind of its variable: text from the command line becomes what it says.

    :param kind: as in an argument spec: bool, int, float, list, dict, or anything else, which is left alone.
    :raises ValueError: it cannot be that kind; the text says what is wanted.
    """
    if value is None:
        return None
    if kind == "bool" and not isinstance(value, bool):
        word = str(value).lower()
        if word not in TRUE + FALSE:
            raise ValueError("true or false")
        return word in TRUE
    if kind in ("int", "float"):
        try:
            return {"int": int, "float": float}[kind](str(value))
        except ValueError:
            raise ValueError("a number") from None
    if kind == "list" and isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    if kind == "list" and not isinstance(value, (list, tuple)):
        raise ValueError("a list")
    if kind == "dict" and not isinstance(value, dict):
        raise ValueError("a dictionary")
    return value
