# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main table of npu-smi, one entry for each layout family that drivers of different lines print.

H3: 910A, 910B and A3 of 23.0 to 25.x. H4: the same chips from 26.0 on. D3: 310P from 22.0.4 on. A5: 950.
"""

from __future__ import annotations

MAX_PROCESSES = 8  # of one chip; the tool drops the rest without a word


class Layout:
    """Shape of one family: column groups (widths between bars) and the templates of its rows."""

    def __init__(self, *, columns, tool, heads, row1, row2, processes, process_head, chip_rule, name_width):
        self.columns = columns
        self.width = sum(columns) + len(columns) + 1
        self.tool, self.heads, self.row1, self.row2 = tool, heads, row1, row2
        self.processes, self.process_head = processes, process_head
        self.chip_rule, self.name_width = chip_rule, name_width

    def rule(self, mark):
        return "+" + "+".join(mark * width for width in self.columns) + "+"

    def line(self, text):
        return "| " + text.ljust(self.width - 3) + "|"


LAYOUTS = {
    "H3": Layout(
        columns=(27, 15, 52),
        tool=25,
        chip_rule="full",
        name_width=15,
        heads=[
            "NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
            "Chip  {ids}| Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |",
        ],
        row1="{npu:<6}{name:<20}| {health:<14}| {power:<12}{temp:<18}{pages[0]:<5}/ {pages[1]:<14}|",
        row2="{chip:<6}{id:<20}| {bus:<14}| {aicore:<12}{ddr[0]:<5}/ {ddr[1]:<11}{hbm[0]:<5}/ {hbm[1]:<14}|",
        processes="{npu:<8}{chip:<18}| {pid:<14}| {name:<25}| {memory:<24}|",
        process_head="NPU     Chip              | Process id    | Process name             | Process memory(MB)      |",
    ),
    "H4": Layout(
        columns=(27, 15, 70),
        tool=36,
        chip_rule="full",
        name_width=9,
        heads=[
            "NPU   Name                | Health        | Power(W)             Temp(C)                 "
            "Hugepages-Usage(page)   |",
            "Chip  {ids}| Bus-Id        | AICore(%)            Memory-Usage(MB)        HBM-Usage(MB)           |",
        ],
        row1="{npu:<6}{name:<20}| {health:<14}| {power:<21}{temp:<24}{pages[0]:<5}/ {pages[1]:<17}|",
        row2="{chip:<6}{id:<20}| {bus:<14}| {aicore:<21}{ddr[0]:<5}/ {ddr[1]:<17}{hbm[0]:<5}/ {hbm[1]:<17}|",
        processes="{npu:<8}{chip:<18}| {pid:<14}| {name:<19}| {memory:<22}| {container:<24}|",
        process_head="NPU     Chip              | Process id    | Process name       | Process memory(MB)    | "
        "Process id in container |",
    ),
    "D3": Layout(
        columns=(31, 17, 54),
        tool=41,
        chip_rule="columns",
        name_width=15,
        heads=[
            "NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |",
            "Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |",
        ],
        row1="{npu:<8}{name:<22}| {health:<16}| {power:<13}{temp:<18}{pages[0]:<6}/ {pages[1]:<14}|",
        row2="{chip:<8}{id:<22}| {bus:<16}| {aicore:<13}{ddr[0]:<5}/ {ddr[1]:<33}|",
        processes="{npu:<8}{chip:<22}| {pid:<16}| {name:<25}| {memory:<26}|",
        process_head="NPU     Chip                  | Process id      "
        "| Process name             | Process memory(MB)        |",
    ),
    "A5": Layout(
        columns=(8, 18, 15, 53),
        tool=41,
        chip_rule="full",
        name_width=15,
        heads=[
            "NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |",
            "       |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |",
        ],
        row1="{npu:<7}| {name:<17}| {health:<14}| {power:<12}{temp:<18}{pages[0]:<6}/ {pages[1]:<14}|",
        row2="       |                  | {bus:<14}| {aicore:<12}{ddr[0]:<5}/ {ddr[1]:<11}{hbm[0]:<6}/ {hbm[1]:<14}|",
        processes="{npu:<26}| {pid:<14}| {name:<25}| {memory:<24}|",
        process_head="NPU ID                    | Process id    | Process name             | Process memory(MB)      |",
    ),
}


def _power(device, layout):
    if device["power"] is not None:
        return "%.1f" % device["power"]
    return "NA" if layout == "D3" else "-"


def _device_rows(state, layout, device):
    name = state["layout"]
    ids = state.get("phy_ids") or name == "D3"
    cells = {
        "npu": device["npu"],
        "name": device.get("name") or state["name"],
        "health": device["health"],
        "power": _power(device, name),
        "temp": device["temperature"],
        "pages": device["hugepages"],
        "chip": device["chip"],
        "id": device["phy" if state.get("phy_ids") else "logic"] if ids else "",
        "bus": device["bus"] or "NA",
        "aicore": device["aicore"],
        "ddr": device["memory"],
        "hbm": device["hbm"] or ["", ""],
    }
    # A chip whose health cannot be read loses its first row; the second one stays.
    if device["health"] is not None:
        yield "| " + layout.row1.format(**cells)
    yield "| " + layout.row2.format(**cells)


def _process_rows(layout, npus, rows):
    yield layout.rule("-")
    yield "| " + layout.process_head
    yield layout.rule("=")
    for npu in npus:
        shown = {}
        for row in (row for row in rows if row["npu"] == npu):
            shown.setdefault(row["chip"], []).append(row)
        for chip in sorted(shown):
            for row in shown[chip][:MAX_PROCESSES]:
                cells = dict(row, name=row["name"][: layout.name_width], container=row["container_pid"] or "NA")
                yield "| " + layout.processes.format(**cells)
        if not shown:
            yield layout.line("No running processes found in NPU %d" % npu)
        yield layout.rule("=")


def info(state, devices, processes):
    """Lines of `npu-smi info`.

    :param devices: answering devices in order
    :param processes: rows of fake_state.processes
    """
    layout = LAYOUTS[state["layout"]]
    lines = ["+" + "-" * (layout.width - 2) + "+"]
    lines.append(layout.line("npu-smi %sVersion: %s" % (state["tool"].ljust(layout.tool), state["driver"])))
    lines.append(layout.rule("-"))
    ids = ("Phy-ID" if state.get("phy_ids") else "").ljust(20)
    lines += ["| " + head.format(ids=ids) for head in layout.heads]
    lines.append(layout.rule("="))
    for number, device in enumerate(devices):
        lines += _device_rows(state, layout, device)
        more = number + 1 < len(devices) and devices[number + 1]["npu"] == device["npu"]
        if not more:
            lines.append(layout.rule("="))
        else:
            lines.append(layout.rule("-") if layout.chip_rule == "columns" else lines[0])
    if state.get("process_table", True):
        npus = sorted({device["npu"] for device in devices})
        lines += _process_rows(layout, npus, processes)
    return lines


def mapping(state, devices):
    """Lines of `npu-smi info -m`: a row for each chip, and for the management controller of a card."""
    phy = bool(state.get("phy_ids"))
    if state["layout"] == "A5":
        rows = [["NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name"]]
        rows += [[d["npu"], d["npu"], d["chip"], d["phy"], state["map_name"]] for d in devices]
    else:
        rows = [["NPU ID", "Chip ID", "Chip Logic ID"] + ["Chip Phy-ID"] * phy + ["Chip Name"]]
        for number, device in enumerate(devices):
            rows.append([device["npu"], device["chip"], device["logic"]] + [device["phy"]] * phy + [state["map_name"]])
            last = number + 1 == len(devices) or devices[number + 1]["npu"] != device["npu"]
            if state.get("mcu") and last:
                rows.append([device["npu"], device["chip"] + 1, "-"] + ["-"] * phy + ["Mcu"])
    return ["\t" + "".join(str(cell).ljust(31) for cell in row[:-1]) + row[-1] for row in rows]
