# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Key-value output of npu-smi and of the driver's upgrade tool, as data.

Pure text in, plain data out; nothing here raises, whatever the text is.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional

from ._npu_smi import lines_of


def parse_groups(text: Any) -> List[Dict[str, str]]:
    """Read `key : value` output (`-t board` and its like): one dict for each group between blank lines."""
    groups = [{}]  # type: List[Dict[str, str]]
    for line in lines_of(text):
        key, colon, value = line.partition(" : ")
        if not line.strip():
            if groups[-1]:
                groups.append({})
        elif colon and key.strip():
            groups[-1].setdefault(key.strip(), value.strip())
    return [group for group in groups if group]


def parse_board(text: Any) -> Dict[str, Optional[str]]:
    """Read `npu-smi info -t board -i N`: {driver, firmware, compatibility}; NA and absent values are None."""
    board = {}  # type: Dict[str, str]
    for group in parse_groups(text):
        board.update(group)

    def value(key: str) -> Optional[str]:
        found = board.get(key, "")
        return found if found and found != "NA" else None

    return {
        "driver": value("Software Version"),
        "firmware": value("Firmware Version"),
        "compatibility": value("Compatibility"),
    }


def parse_upgrade_tool(text: Any) -> Dict[int, List[str]]:
    """Read `upgrade-tool --device_index -1 --component -1 --version`: firmware versions by device index.

    The output looks like JSON and is none (its values have no quotes), so it is read by pattern.
    """
    found = {}  # type: Dict[int, List[str]]
    for line in lines_of(text):
        match = re.search(r'"device_id"\s*:\s*(\d{1,6})\b.*"version"\s*:\s*"?([0-9][0-9A-Za-z.]{2,60})', line)
        if match:
            versions = found.setdefault(int(match.group(1)), [])
            if match.group(2) not in versions:
                versions.append(match.group(2))
    return found
