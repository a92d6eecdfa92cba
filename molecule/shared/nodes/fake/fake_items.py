# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ``key : value`` answers of npu-smi (-l and -t TYPE).

An answer is a list of groups, a group a list of (key, value). Groups are separated by a blank line. Where the chip's id
stands differs between types: it opens a group of `common` and closes one of the others.
"""

from __future__ import annotations

UNSUPPORTED = "This device does not support querying %s."


class Unsupported(Exception):
    """The product has no such item: the tool says so and still ends with status 0."""


def render(groups, width=30):
    lines = []
    for number, group in enumerate(groups):
        if number:
            lines.append("")
        lines += ["\t%s : %s" % (key.ljust(width), value) for key, value in group]
    return lines


def without_chips(groups):
    """The form of a 950, whose tool knows no chip ids: one group without them."""
    return [[pair for group in groups for pair in group if pair[0] not in ("Chip ID", "Chip Count")]]


def _na(value, form="%s"):
    return "NA" if value is None else form % value


def _rate(pair):
    return 0 if not pair or not pair[1] else pair[0] * 100 // pair[1]


def _card(npu, chips):
    return [("NPU ID", npu), ("Chip Count", len(chips))]


def listing(state, devices):
    """`info -l`: how many cards, and the chips of each."""
    npus = sorted({device["npu"] for device in devices})
    groups = [[("Total Count", len(npus))]]
    for npu in npus:
        chips = [device for device in devices if device["npu"] == npu]
        group = [("NPU ID", npu)]
        if state["layout"] == "A5":
            group += [("Product Name", state["product"]), ("Serial Number", "SIM%013d" % npu)]
        else:
            group.append(("Chip Count", len(chips)))
        groups.append(group)
    return groups


def board(state, npu, chips, root):
    first, (device, subvendor, subdevice) = chips[0], state["subsystem"]
    group = [("NPU ID", npu)]
    if state.get("product"):
        group += [
            ("Product Name", "SIM-" + state["name"]),
            ("Model", "NA"),
            ("Manufacturer", "Huawei"),
            ("Serial Number", "SIM%013d" % npu),
        ]
    if state["layout"] == "A5":
        group += [("NPU Name", state["npu_name"]), ("Chip Name", state["name"]), ("Chip Version", "V100")]
    # Only root is told the firmware and the verdict on the pair.
    group += [
        ("Software Version", state["driver"]),
        ("Firmware Version", first["firmware"] if root else "NA"),
        ("Compatibility", first["compatibility"] if root else "NOT SUPPORT"),
        ("Board ID", "0x30"),
        ("PCB ID", "A"),
        ("BOM ID", "1"),
        ("PCIe Bus Info", first["bus"] or "NA"),
        ("Slot ID", npu),
        ("Class ID", "NA"),
        ("PCI Vendor ID", "0x19E5"),
        ("PCI Device ID", "0x" + device.upper()),
        ("Subsystem Vendor ID", "0x" + subvendor.upper()),
        ("Subsystem Device ID", "0x" + subdevice.upper()),
        ("Chip Count", len(chips)),
    ]
    return [group]


def chip_board(state, npu, chip, root):
    # An A3 has no type; its name and that of the NPU make the name of the chip that compilers ask for.
    kind = [("NPU Name", state["npu_name"])] if state.get("npu_name") else [("Chip Type", "Ascend")]
    return [
        [
            ("NPU ID", npu),
            ("Chip ID", chip["chip"]),
            *kind,
            ("Chip Name", state["name"]),
            ("Chip Version", "V1"),
            ("Board ID", "0x30"),
            ("PCB ID", "NA"),
            ("BOM ID", "1"),
            ("VDie ID", "0000000%d 00000002 00000003 00000004 00000005" % (chip["logic"] % 10)),
            ("NDie ID", "0000000%d 00000002 00000003 00000004 00000006" % (chip["logic"] % 10)),
            ("Chip Position ID", chip["chip"]),
            ("PCIe Bus Info", chip["bus"] or "NA"),
            ("Firmware Version", chip["firmware"] if root else "NA"),
        ]
    ]


def common(state, npu, chips, root):
    groups = [_card(npu, chips)]
    for chip in chips:
        group = [("Chip ID", chip["chip"])]
        group.append(("Memory Usage Rate(%)", _rate(chip["memory"])))
        if chip["hbm"]:
            group.append(("HBM Usage Rate(%)", _rate(chip["hbm"])))
        group.append(("Aicore Usage Rate(%)", chip["aicore"]))
        if state["cores"]:
            group += [("Aicore Freq(MHZ)", 1650), ("Aicore curFreq(MHZ)", 800), ("Aicore Count", state["cores"])]
        group.append(("Temperature(C)", chip["temperature"]))
        if state["layout"] != "D3":
            group.append(("NPU Real-time Power(W)", _na(chip["power"], "%.1f")))
        groups.append(group)
    if state.get("mcu"):
        mcu = [("Chip Name", "mcu"), ("Temperature(C)", 36)]
        # A Duo reports power only here, for the card as a whole.
        groups.append(mcu + [("NPU Real-time Power(W)", "42.8")] * (state["layout"] == "D3"))
    return groups


def usages(state, npu, chips, root):
    groups = [_card(npu, chips)]
    for chip in chips:
        group = [
            ("DDR Capacity(MB)", chip["memory"][1]),
            ("DDR Usage Rate(%)", _rate(chip["memory"])),
            ("DDR Hugepages Total(page)", chip["hugepages"][1]),
            ("DDR Hugepages Usage Rate(%)", _rate(chip["hugepages"])),
        ]
        if chip["hbm"]:
            group += [("HBM Capacity(MB)", chip["hbm"][1]), ("HBM Usage Rate(%)", _rate(chip["hbm"]))]
        group += [("Aicore Usage Rate(%)", chip["aicore"]), ("Aicpu Usage Rate(%)", 0), ("Ctrlcpu Usage Rate(%)", 6)]
        if state["layout"] == "D3":
            group.append(("Vectorcore Usage Rate(%)", 0))
        group.append(("DDR Bandwidth Usage Rate(%)", 0))
        if chip["hbm"]:
            group.append(("HBM Bandwidth Usage Rate(%)", 0))
        groups.append([*group, ("Chip ID", chip["chip"])])
    return groups


def memory(state, npu, chips, root):
    groups = [_card(npu, chips)]
    for chip in chips:
        group = [("DDR Capacity(MB)", chip["memory"][1]), ("DDR Clock Speed(MHz)", 0 if chip["hbm"] else 1600)]
        if chip["hbm"]:
            group += [
                ("HBM Capacity(MB)", chip["hbm"][1]),
                ("HBM Clock Speed(MHz)", 1600),
                ("HBM Temperature(C)", chip["temperature"]),
                ("HBM Manufacturer ID", "0x57"),
            ]
        groups.append([*group, ("Chip ID", chip["chip"])])
    return groups


def health(state, npu, chips, root):
    groups = [_card(npu, chips)]
    groups += [[("Health", _na(chip["health"])), ("Chip ID", chip["chip"])] for chip in chips]
    if state.get("mcu"):
        groups.append([("Health", "OK"), ("Chip Name", "MCU")])
    return groups


def chip_health(state, npu, chip, root):
    texts = chip["information"] or ["NA"]
    groups = [
        [
            ("Health Status", _na(chip["health"])),
            ("Error Code", " ".join(chip["codes"]) or "NA"),
            ("Error Information", texts[0]),
        ]
    ]
    return groups + [[("", text)] for text in texts[1:]]


def product(state, npu, chips, root):
    if not state.get("product"):
        raise Unsupported("product")
    return [_card(npu, chips)] + [[("Product Type", state["product"]), ("Chip ID", chip["chip"])] for chip in chips]


def temperature(state, npu, chips, root):
    return [_card(npu, chips)] + [
        [("NPU Temperature (C)", chip["temperature"]), ("Chip ID", chip["chip"])] for chip in chips
    ]


def power(state, npu, chips, root):
    return [_card(npu, chips)] + [
        [("NPU Real-time Power(W)", _na(chip["power"], "%.1f")), ("Chip ID", chip["chip"])] for chip in chips
    ]


def ecc(state, npu, chips, root):
    kind = "HBM" if chips[0]["hbm"] else "DDR"
    return [_card(npu, chips)] + [
        [
            ("%s Single Bit Error Count" % kind, 0),
            ("%s Double Bit Error Count" % kind, 0),
            ("%s Single Bit Isolated Pages Count" % kind, 0),
            ("%s Double Bit Isolated Pages Count" % kind, 0),
            ("Chip ID", chip["chip"]),
        ]
        for chip in chips
    ]


# type -> (answer for a card, answer for one chip; None: the card's answer for that chip alone)
ITEMS = {
    "board": (board, chip_board),
    "common": (common, None),
    "usages": (usages, None),
    "memory": (memory, None),
    "health": (health, chip_health),
    "product": (product, None),
    "temp": (temperature, None),
    "power": (power, None),
    "ecc": (ecc, None),
}
WIDTHS = {"ecc": 40}


def topology(state, devices):
    """Lines of `-t topo`: every pair is linked alike, which is true of one server's cards."""
    if not state.get("topology"):
        raise Unsupported("topo")
    names = [("Phy-ID%d" % d["phy"]) if state.get("phy_ids") else ("NPU%d" % d["npu"]) for d in devices]
    lines = ["\t   " + "".join(name.ljust(11) for name in names) + "CPU Affinity"]
    for number, name in enumerate(names):
        cells = ["X" if other == number else state["topology"] for other in range(len(names))]
        low = number // 2 * 24
        lines.append(name.ljust(11) + "".join(cell.ljust(11) for cell in cells) + "%d-%d" % (low, low + 23))
    return [
        *lines,
        "",
        "Legend:",
        "",
        "  X    = Self",
        "  SYS  = Path traversing PCIe and NUMA nodes.",
        "  HCCS = Connection traversing HCCS.",
        "  NA   = Unknown relationship.",
    ]
