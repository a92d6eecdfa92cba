# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What npu-smi prints, as data: the main table and the mapping of ids.

Pure text in, plain data out; nothing here raises, whatever the text is, and nothing is guessed: what the tool does not
give is None. Tables are read by cells, not by columns: the widths differ by chip and by tool version.
This file stands alone (no imports of siblings), because the launcher of a service carries a copy of it.

``devices`` of the main table: {npu_id, chip_id, logic_id, phy_id, name, health, power_w, temperature_c,
aicore_percent, bus_id, memory_used_mb, memory_total_mb, hbm_used_mb, hbm_total_mb, hugepages_used, hugepages_total}.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

PROCESSES_SHOWN = 8  # of one chip; the tool drops the rest without a word
_LONGEST = 1 << 20  # characters of output that are looked at
_WIDEST = 2000  # characters of a line that are looked at
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BUS = re.compile(r"^[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$")
_VERSIONS = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*([^\s|]+)")
_IDLE = re.compile(r"No running processes found(?: in NPU (\d+))?")
_MAP_COLUMN = re.compile(r"NPU ID|Slot ID|Chip Logic ID|Chip Phy-ID|Chip ID|Chip Name")
_MAP_KEY = {
    "NPU ID": "npu_id",
    "Slot ID": "slot_id",
    "Chip ID": "chip_id",
    "Chip Logic ID": "logic_id",
    "Chip Phy-ID": "phy_id",
    "Chip Name": "name",
}


class Row(NamedTuple):
    """One line of a table that starts with a bar: its cells, and whether the closing bar is there."""

    cells: Tuple[str, ...]
    closed: bool


# small readers ------------------------------------------------------------------------------------------------------


def lines_of(text: Any) -> List[str]:
    """Lines without colour codes, carriage returns and closing blanks."""
    if not isinstance(text, str):
        return []
    plain = _ANSI.sub("", text[:_LONGEST]).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return [line[:_WIDEST].rstrip() for line in plain.split("\n")]


def whole(text: Optional[str]) -> Optional[int]:
    """A non-negative decimal number, else None (NA, -, cut or other text)."""
    return int(text) if text and re.match(r"^[0-9]{1,18}$", text) else None


def decimal(text: Optional[str]) -> Optional[float]:
    return float(text) if text and re.match(r"^[0-9]{1,9}(\.[0-9]{1,9})?$", text) else None


def _words(cell: str, count: int) -> List[Optional[str]]:
    """The first count words of a cell, "used / total" as one word however it is spaced; None for what is not there."""
    words = re.sub(r" */ *", "/", cell).split()  # type: List[Any]
    return (words + [None] * count)[:count]


def _pair(word: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
    used, slash, total = (word or "").partition("/")
    return (used, total) if slash else (None, None)


def _amount(used: Optional[str], total: Optional[str]) -> Tuple[Optional[int], Optional[int]]:
    """used and total of a memory that may not exist: the tool prints 0 / 0 for a memory that the chip lacks."""
    have, size = whole(used), whole(total)
    return (None, None) if not size else (have, size)


def chip_name(text: Optional[str]) -> Optional[str]:
    """Name as the table prints it, for both spellings of the tool: "Ascend 910B4" of the mapping is 910B4."""
    name = re.sub(r"^Ascend\s+", "", (text or "").strip())
    return name or None


# the main table -----------------------------------------------------------------------------------------------------


def parse_info(text: Any) -> Dict[str, Any]:
    """Read `npu-smi info`.

    :return: {tool_version, driver_version, devices, processes, truncated, warnings, other}. processes is None when
        there is no process table, else a list of {npu_id, chip_id, pid, container_pid, name, memory_mb}; other are the
        lines that belong to no table.
    """
    return _Table(lines_of(text)).read()


class _Table:
    """Walks over the lines once; the state says which row is open and which columns the header promised."""

    def __init__(self, lines: List[str]) -> None:
        self.lines = [line.strip() for line in lines if line.strip()]
        self.tool_version = None  # type: Optional[str]
        self.driver_version = None  # type: Optional[str]
        self.devices = []  # type: List[Dict[str, Any]]
        self.processes = []  # type: List[Dict[str, Any]]
        self.answered = set()  # type: set
        self.idle_all = False
        self.process_header = None  # type: Optional[Tuple[str, ...]]
        self.header = False
        self.second_id = None  # type: Optional[str]
        self.open = None  # type: Optional[Dict[str, Any]]
        self.truncated = False
        self.warnings = []  # type: List[str]
        self.other = []  # type: List[str]

    def read(self) -> Dict[str, Any]:
        width, last = 0, ""
        for line in self.lines:
            if line.startswith("+"):
                width = max(width, len(line))
            elif line.startswith("|"):
                self._row(_split(line))
            else:
                self._noise(line)
                continue
            last = line
        in_table = bool(self.devices or self.open or self.process_header or self.processes)
        if self.open is not None:
            self._close()
            self.truncated = True
        if in_table:
            ended = last.startswith("+") and last.endswith("+") and len(last) >= width
            self.truncated = self.truncated or not ended or not self.header
        return {
            "tool_version": self.tool_version,
            "driver_version": self.driver_version,
            "devices": self.devices,
            "processes": self._process_list(),
            "truncated": self.truncated,
            "warnings": self.warnings,
            "other": self.other,
        }

    def _noise(self, line: str) -> None:
        if line.startswith("..."):
            self.truncated = True
        else:
            self.other.append(line[:500])

    def _row(self, row: Row) -> None:
        first = row.cells[0] if row.cells else ""
        versions = _VERSIONS.search(" ".join(row.cells))
        idle = _IDLE.search(" ".join(row.cells))
        if not row.closed:
            self.truncated = True
        if versions:
            self.tool_version, self.driver_version = versions.group(1), versions.group(2)
        elif idle:
            self._idle(idle, row.closed)
        elif any("Process id" in cell for cell in row.cells):
            self.process_header = row.cells
        elif self._is_header(row.cells):
            self.header = True
        elif set("".join(row.cells)) <= set(". -=+:"):
            self.truncated = True  # a row of dots where somebody left rows out
        elif self.process_header is not None:
            self._process(row)
        elif len(row.cells) == 3:
            self._device_row(first, row.cells[1], row.cells[2])
        elif len(row.cells) == 4:
            self._wide_row(row)
        else:
            self.truncated = True

    def _is_header(self, cells: Tuple[str, ...]) -> bool:
        words = " ".join(cells)
        if "Phy-ID" in words:
            self.second_id = "phy_id"
        elif re.search(r"\bDevice\b", words):
            self.second_id = "logic_id"
        return "Bus-Id" in words or ("NPU" in words and "Health" in words)

    # two rows make a device: the first begins it, the second ends it

    def _device_row(self, first: str, middle: str, rest: str) -> None:
        ids = first.split()
        if (_BUS.match(middle) or middle == "NA") and all(whole(word) is not None for word in ids):
            self._second(whole(ids[0]) if ids else None, whole(ids[1]) if len(ids) > 1 else None, middle, rest)
        elif len(ids) == 2 and whole(ids[0]) is not None:
            self._first(whole(ids[0]), ids[1], middle, rest)
        else:
            self.truncated = True

    def _wide_row(self, row: Row) -> None:
        """The layout with the NPU id in a cell of its own; its second row has no id at all."""
        number, name, middle, rest = row.cells
        if whole(number) is not None and name:
            self._first(whole(number), name, middle, rest)
        elif not number and not name:
            self._second(None, None, middle, rest)
        else:
            self.truncated = True

    def _first(self, npu: Optional[int], name: str, health: str, rest: str) -> None:
        if self.open is not None:
            self._close()
            self.truncated = True
        power, heat, pages = _words(rest, 3)
        used, total = _pair(pages)
        self.open = {
            "npu_id": npu,
            "chip_id": None,
            "logic_id": None,
            "phy_id": None,
            "name": chip_name(name),
            "health": health or None,
            "power_w": decimal(power),
            "temperature_c": whole(heat),
            "aicore_percent": None,
            "bus_id": None,
            "memory_used_mb": None,
            "memory_total_mb": None,
            "hbm_used_mb": None,
            "hbm_total_mb": None,
            "hugepages_used": whole(used),
            "hugepages_total": whole(total),
        }

    def _second(self, chip: Optional[int], second: Optional[int], bus: str, rest: str) -> None:
        if self.open is None:
            self.truncated = True
            self.warnings.append("npu-smi: a row of a device (%s) has no first line: its NPU id is not known" % bus)
            return
        device = self.open
        device["chip_id"] = chip
        if second is not None and self.second_id:
            device[self.second_id] = second
        device["bus_id"] = bus.upper() if _BUS.match(bus) else None
        busy, memory, hbm = _words(rest, 3)
        device["aicore_percent"] = whole(busy)
        device["memory_used_mb"], device["memory_total_mb"] = _amount(*_pair(memory))
        device["hbm_used_mb"], device["hbm_total_mb"] = _amount(*_pair(hbm))
        self.truncated = self.truncated or memory is None
        self._close()

    def _close(self) -> None:
        self.devices.append(self.open or {})
        self.open = None

    # processes

    def _idle(self, match: Any, closed: bool) -> None:
        if match.group(1) is not None:
            self.answered.add(int(match.group(1)[:18]))
        elif closed:  # without the closing bar the number may just be cut off
            self.idle_all = True

    def _process(self, row: Row) -> None:
        ids = [whole(word) for word in row.cells[0].split()]
        pid = whole(row.cells[1]) if len(row.cells) > 1 else None
        if not ids or len(ids) > 2 or None in ids or len(row.cells) < 4:
            self.truncated = True
            return
        self.answered.add(ids[0])
        if pid is None:
            return  # a row of NA stands for an idle NPU
        self.processes.append(
            {
                "npu_id": ids[0],
                "chip_id": ids[1] if len(ids) > 1 else None,
                "pid": pid,
                "container_pid": whole(row.cells[4]) if len(row.cells) > 4 else None,
                "name": row.cells[2] or None,
                "memory_mb": whole(row.cells[3]),
            }
        )

    def _process_list(self) -> Optional[List[Dict[str, Any]]]:
        if not (self.processes or self.answered or self.idle_all):
            return None
        if not self.idle_all and {device["npu_id"] for device in self.devices} - self.answered:
            self.truncated = True
        counts = {}  # type: Dict[Tuple[Any, Any], int]
        for process in self.processes:
            place = (process["npu_id"], process["chip_id"])
            counts[place] = counts.get(place, 0) + 1
        for (npu, chip), count in sorted(counts.items(), key=str):
            if count >= PROCESSES_SHOWN:
                self.warnings.append(
                    "npu-smi lists %d processes for NPU %s chip %s, the most it prints: there may be more"
                    % (count, npu, "-" if chip is None else chip)
                )
        return self.processes


def _split(line: str) -> Row:
    closed = line.endswith("|") and len(line) > 1
    cells = [cell.strip() for cell in (line[1:-1] if closed else line[1:]).split("|")]
    if not closed and cells[-1]:
        cells[-1] = re.sub(r"\s*\S+$", "", cells[-1])  # a cut may have gone through the last word: 61609 is not 616
    return Row(tuple(cells), closed)


# the mapping of ids -------------------------------------------------------------------------------------------------


def parse_mapping(text: Any) -> List[Dict[str, Any]]:
    """Read `npu-smi info -m`: a list of {npu_id, chip_id, logic_id, phy_id, name}, chips only.

    Management controllers (rows of Mcu) and NPUs that the tool calls unusable (id -1) are left out. logic_id and phy_id
    are None where that column is absent.
    """
    columns = []  # type: List[str]
    chips = []  # type: List[Dict[str, Any]]
    for line in lines_of(text):
        names = _MAP_COLUMN.findall(line)
        if "NPU ID" in names and "Chip ID" in names:
            columns = [_MAP_KEY[name] for name in names]
            continue
        words = line.split(None, len(columns) - 1) if columns else []
        if len(words) < len(columns) or not words:
            continue
        row = dict(zip(columns, words))
        npu, chip, name = whole(row.get("npu_id")), whole(row.get("chip_id")), chip_name(row.get("name"))
        logic, phy = whole(row.get("logic_id")), whole(row.get("phy_id"))
        if npu is None or chip is None or (logic is None and phy is None) or (name or "").lower() == "mcu":
            continue
        chips.append({"npu_id": npu, "chip_id": chip, "logic_id": logic, "phy_id": phy, "name": name})
    return chips
