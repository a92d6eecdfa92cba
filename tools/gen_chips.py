# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carry the chip table to the nodes: data/chips.yml becomes plugins/module_utils/_data_chips.py.

``make data`` calls ``generate``; nodes have no YAML reader and need only what recognises a chip and its packages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

SOURCE = "data/chips.yml"
TARGET = "plugins/module_utils/_data_chips.py"
_HEADER = '''\
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Chip families as a node needs them. Made from data/chips.yml by `make data`: change that file, not this one."""
from __future__ import annotations

'''


def generate(root: Path | str) -> dict[str, str]:
    """Text of every file that is made from the chip table, by path below root.

    :raises ValueError: a row lacks a field or has one of the wrong kind; the text names the row.
    """
    table = yaml.safe_load((Path(root) / SOURCE).read_text(encoding="utf-8"))
    rows = [_row(row) for row in table["families"]]
    lines = ["VENDOR = %s" % json.dumps(table["vendor"]), "", "FAMILIES = ["]
    for row in rows:
        lines.append("    {")
        for key, value in row.items():
            lines += _field(key, value)
        lines.append("    },")
    lines.append("]")
    return {TARGET: _HEADER + "\n".join(lines) + "\n"}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """The part of a row that goes to the nodes."""
    name = row.get("family")
    for key, kind in (("family", str), ("pci", list), ("names", list), ("kernel_dirs", list), ("ops", list)):
        if not isinstance(row.get(key), kind):
            raise ValueError(f"{SOURCE}: family {name!r}: '{key}' must be a {kind.__name__}")
    return {
        "family": name,
        "pci": row["pci"],
        "names": row["names"],
        "kernel_dirs": row["kernel_dirs"],
        "packages": sorted({entry["package"] for entry in row["ops"]}),
    }


def _field(key: str, value: Any) -> list[str]:
    """One item of a dict in the style that the linter wants: a list of dicts gets a line for each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return ['        "%s": [' % key] + ["            %s," % _literal(entry) for entry in value] + ["        ],"]
    return ['        "%s": %s,' % (key, _literal(value))]


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{%s}" % ", ".join('"%s": %s' % (key, _literal(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(_literal(item) for item in value)
    return json.dumps(value) if isinstance(value, str) else repr(value)
