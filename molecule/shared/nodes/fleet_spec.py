# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of a simulated fleet, read and checked, and the inventory written from it.

A specification is JSON, or YAML where PyYAML can be imported:

    vars: {…}                       variables of all nodes
    mounts: [[source, target, ro]]  of all nodes; a relative source is below the checkout, an absent one is left out
    nodes:
      - name: a2-1                  letters, digits and dashes
        board: 910b4x8              see boards.py
        driver: "25.5.1"            none: cards without a driver
        os: debian
        groups: [ascend_nodes]
        vars: {…}                   variables of this host
        mounts: […]
        faults: {…}                 merged into the state of the fake hardware
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import boards
from fleet_engine import CHECKOUT, FleetError

sys.path.insert(0, str(Path(__file__).parent / "fake"))
import fake_state  # the node's own code: one merge rule on both sides

NAME = re.compile(r"^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$")
GROUP = re.compile(r"^[a-z][a-z0-9_]*$")
KEYS = {"name", "board", "driver", "os", "groups", "vars", "mounts", "faults"}
OSES = ("debian",)
NONE = (None, "none")


@dataclass
class Node:
    """One node of the fleet: ``state`` is that of its fake hardware, ``mounts`` are (source, target, ro or rw)."""

    name: str
    state: dict
    groups: list[str] = field(default_factory=lambda: ["ascend_nodes"])
    variables: dict = field(default_factory=dict)
    mounts: list[tuple[str, str, str]] = field(default_factory=list)


def _load(path: Path) -> dict:
    try:
        text = path.read_text()
    except OSError as error:
        raise FleetError(f"Cannot read the specification {path}: {error.strerror}.") from None
    try:
        data = json.loads(text)
    except ValueError:
        try:
            import yaml
        except ImportError:
            raise FleetError(f"{path} is not JSON, and this Python has no PyYAML. Next: pip install pyyaml") from None
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise FleetError(f"{path} is not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list) or not data["nodes"]:
        raise FleetError(f"{path} has no list `nodes`.")
    return data


def _mounts(entries: list) -> list[tuple[str, str, str]]:
    found = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) not in (2, 3) or entry[2:] not in ([], ["ro"], ["rw"]):
            raise FleetError(f"A mount is [source, target] or [source, target, ro or rw], not {entry!r}.")
        source = CHECKOUT / entry[0]
        if source.exists():
            found.append((str(source.resolve()), entry[1], (entry[2:] or ["ro"])[0]))
    return found


def _node(entry: dict, mounts: list) -> Node:
    if not isinstance(entry, dict) or not NAME.match(str(entry.get("name", ""))):
        raise FleetError(f"A node needs a name of small letters, digits and dashes: {entry!r}.")
    name = entry["name"]
    unknown = sorted(set(entry) - KEYS)
    if unknown:
        raise FleetError(f"Node {name}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}.")
    if entry.get("os", OSES[0]) not in OSES:
        raise FleetError(f"Node {name}: os {entry['os']!r} cannot be simulated; known are {', '.join(OSES)}.")
    groups = entry.get("groups", ["ascend_nodes"])
    if not isinstance(groups, list) or not all(GROUP.match(str(group)) for group in groups):
        raise FleetError(f"Node {name}: groups are a list of names of small letters, digits and underscores.")
    driver = entry.get("driver", boards.DEFAULT_DRIVER)
    state = boards.state(str(entry.get("board", boards.NO_BOARD)), None if driver in NONE else str(driver))
    fake_state.merge(state, entry.get("faults") or {})
    return Node(name, state, groups, entry.get("vars") or {}, _mounts(mounts + (entry.get("mounts") or [])))


def read(path: Path) -> tuple[list[Node], dict]:
    """(nodes, variables of all); raises FleetError with the place of the first mistake."""
    data = _load(path)
    nodes = [_node(entry, data.get("mounts") or []) for entry in data["nodes"]]
    names = [node.name for node in nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FleetError(f"Two nodes are named {', '.join(twice)}.")
    return nodes, data.get("vars") or {}


def _yaml(value, depth: int = 0) -> str:
    """Block YAML of nested dicts; every other value is JSON, which YAML reads as it is."""
    pad = "  " * depth
    return "".join(
        f"{pad}{key}:\n{_yaml(inner, depth + 1)}"
        if isinstance(inner, dict) and inner
        else f"{pad}{key}: {json.dumps(inner, ensure_ascii=False)}\n"
        for key, inner in value.items()
    )


def inventory(nodes: list[Node], shared: dict, addresses: dict[str, str]) -> str:
    """The inventory as YAML text; ``shared`` are variables of all nodes, connection included."""
    groups: dict[str, dict] = {}
    for node in nodes:
        variables = {"ansible_host": addresses[node.name], **node.variables}
        for group in node.groups:
            groups.setdefault(group, {"hosts": {}})["hosts"][node.name] = variables
            variables = {}
    everything = {"all": {"vars": shared, "children": groups}}
    return "---\n# Written by fleetnodes.py; gone with the nodes.\n" + _yaml(everything)
