# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as npu-smi prints them, written by hand from the layouts: one for each layout family."""

from __future__ import annotations


def _line(fill: str, *widths: int) -> str:
    return "+" + "+".join(fill * width for width in widths) + "+"


def _cells(*cells: str, widths: tuple) -> str:
    return "|" + "|".join((" " + cell).ljust(width) for cell, width in zip(cells, widths)) + "|"


class Table:
    """A table with three cells in a row; ``chips`` are (first row, second row) of each chip as triples of cells."""

    def __init__(self, version: str, heads: tuple, widths: tuple, driver: str = "") -> None:
        self.widths = widths
        self.full = sum(widths) + len(widths) - 1
        self.lines = [
            _line("-", self.full),
            _cells("npu-smi %s    Version: %s" % (version, driver or version), widths=(self.full,)),
            _line("-", *widths),
            *(_cells(*head, widths=widths) for head in heads),
            _line("=", *widths),
        ]

    def chip(self, first: tuple, second: tuple, fill: str = "=") -> Table:
        self.lines += [_cells(*row, widths=self.widths) for row in (first, second)]
        self.lines.append(_line(fill, *self.widths))
        return self

    def processes(self, heads: tuple, rows: list, idle: tuple = ()) -> Table:
        widths = (27, 15, 20, *([self.full - 65] if len(heads) == 4 else [20, self.full - 86]))
        self.lines += [_line("-", *widths), _cells(*heads, widths=widths), _line("=", *widths)]
        for row in rows:
            self.lines += [_cells(*row, widths=widths), _line("=", *widths)]
        for npu in idle:
            self.lines.append(_cells("No running processes found in NPU %d" % npu, widths=(self.full,)))
            self.lines.append(_line("=", *widths))
        return self

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


A2_HEADS = (
    ("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)"),
    ("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"),
)
A3_HEADS = (A2_HEADS[0], ("Chip  Phy-ID", *A2_HEADS[1][1:]))
P_HEADS = (
    ("NPU     Name", "Health", "Power(W)     Temp(C)           Hugepages-Usage(page)"),
    ("Chip    Device", "Bus-Id", "AICore(%)    Memory-Usage(MB)"),
)
OLD_HEADS = (
    ("NPU   Name", "Health", "Power(W)   Temp(C)"),
    ("Chip", "Bus-Id", "AICore(%)  Memory-Usage(MB)  HBM-Usage(MB)"),
)
PROCESS_HEADS = ("NPU     Chip", "Process id", "Process name", "Process memory(MB)")
WIDE = (27, 15, 53)


def a2(cards: int = 2, version: str = "25.5.1", processes: tuple = (), name: str = "910B4") -> Table:
    """H3: Atlas A2, one chip for each NPU, DDR shown as 0 / 0."""
    table = Table(version, A2_HEADS, WIDE)
    for npu in range(cards):
        table.chip(
            ("%d     %s" % (npu, name), "OK", "85.%d        4%d                0    / 0" % (npu, npu)),
            ("0", "0000:C%d:00.0" % npu, "7           0    / 0          2872 / 32768"),
        )
    busy = {int(row[0].split()[0]) for row in processes}
    return table.processes(PROCESS_HEADS, list(processes), tuple(npu for npu in range(cards) if npu not in busy))


def a2_wide(version: str = "26.0.rc1") -> Table:
    """H4: 26.x, five process columns, and a memory that fills its column."""
    table = Table(version, A2_HEADS, (27, 15, 70))
    table.chip(
        ("0     910B2", "OK", "424.0                64                      0    / 0"),
        ("0", "0000:C1:00.0", "100                  0    / 0                61609/ 65536"),
    )
    heads = (*PROCESS_HEADS, "Process id in container")
    return table.processes(heads, [("0       0", "1504884", "python3.1", "58000", "4123")])


def a3(version: str = "25.2.0") -> Table:
    """H3 with Phy-ID: two dies for each NPU, power on the first only, a process on one die."""
    table = Table(version, A3_HEADS, WIDE)
    for npu, (first, second) in enumerate((("9C", "9E"), ("98", "9A"))):
        table.chip(
            ("%d     Ascend910" % npu, "OK", "162.8       37                0    / 0"),
            ("0     %d" % (2 * npu), "0000:%s:00.0" % first, "0           0    / 0          3133 / 65536"),
            fill="-",
        )
        table.chip(
            ("%d     Ascend910" % npu, "Warning" if npu else "OK", "-           36                0    / 0"),
            ("1     %d" % (2 * npu + 1), "0000:%s:00.0" % second, "3           0    / 0          2887 / 65536"),
        )
    return table.processes(PROCESS_HEADS, [("1       1", "36222", "", "118")], (0,))


def duo(version: str = "25.2.0") -> Table:
    """D3: Atlas 300I Duo, two chips on one bus address, no power, no HBM, no processes."""
    table = Table(version, P_HEADS, (31, 17, 54))
    for chip, (health, used, fill) in enumerate((("OK", "1529 / 44280", "-"), ("Alarm", "1412 / 43693", "="))):
        table.chip(
            ("2       310P3", health, "NA           4%d                0     / 0" % chip),
            ("%d       %d" % (chip, chip), "0000:01:00.0", "0            %s" % used),
            fill,
        )
    return table


def first_generation(version: str = "1.9.3") -> Table:
    """H1: Ascend 910, tool and driver of different versions, no hugepages, no processes, sparse ids."""
    table = Table(version, OLD_HEADS, (18, 15, 50), driver="21.0.rc1")
    for npu in (1, 4):
        table.chip(
            ("%d     910A" % npu, "OK", "67.2       30"),
            ("0", "0000:3%d:00.0" % npu, "0          303 / 15171   0  / 32768"),
        )
    return table


def a5(version: str = "25.7.rc1.6") -> str:
    """A5: the NPU id in a cell of its own, no chip id, no bus address."""
    lines = [
        "+-----------------------------------------------------------------+",
        "| npu-smi %s                               Version: %s  |" % (version, version),
        "+--------+------------------+---------------+---------------------+",
        "| NPU ID | Name             | Health        | Power(W) Temp(C) Hugepages-Usage(page) |",
        "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB) HBM-Usage(MB) |",
        "+========+==================+===============+=====================+",
        "| 0      | Ascend950DT      | OK            | 377.2    48      0     / 0   |",
        "|        |                  | NA            | 5      0   / 0   4857  / 98304 |",
        "+===========================+===============+=====================+",
        "| NPU ID                    | Process id    | Process name | Process memory(MB) |",
        "+===========================+===============+=====================+",
        "| 0                         | 2066378       | python        | 360 |",
        "+===========================+===============+=====================+",
    ]
    return "\n".join(lines) + "\n"


def mapping(*rows: tuple, heads: tuple = ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")) -> str:
    return "\n".join("\t" + "".join(str(cell).ljust(31) for cell in row) for row in (heads, *rows)) + "\n"


def a2_mapping(cards: int = 2) -> str:
    chips = [(npu, 0, npu, "Ascend 910B4") for npu in range(cards)]
    controllers = [(npu, 1, "-", "Mcu") for npu in range(cards)]
    return mapping(*sorted(chips + controllers, key=lambda row: row[:2]))


def a3_mapping() -> str:
    rows = [(npu, chip, 2 * npu + chip, 2 * npu + chip, "Ascend910") for npu in (0, 1) for chip in (0, 1)]
    return mapping(*rows, heads=("NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name"))


def upgrade_tool(*versions: str) -> str:
    lines = ["{"]
    for index, version in enumerate(versions):
        for component in ("nve", "uefi"):
            lines.append("Get component version(%s) succeed for deviceId(%d), componentType(0)." % (version, index))
            lines.append('{"device_id":%d, "component":%s, "version":%s}' % (index, component, version))
    return "\n".join([*lines, "}"]) + "\n"
