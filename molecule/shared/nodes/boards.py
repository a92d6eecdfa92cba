# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a board of the simulated fleet is made of: a table of chips, and the state file rendered from it.

A board is written ``<chip>x<cards>``, like 910b4x8, a3x8 or 310pduox2; ``none`` is a host without any card.
"""

from __future__ import annotations

import copy
import re

from fleet_engine import FleetError

NO_BOARD = "none"
BOARD = re.compile(r"^(?P<chip>.+?)x(?P<cards>[1-9][0-9]?)$")
DEFAULT_DRIVER = "25.5.1"
# Driver line -> firmware of the same release; the first matching prefix counts.
FIRMWARE = (
    ("23.", "7.1.0.7.220"),
    ("24.", "7.5.0.5.220"),
    ("25.0", "7.7.0.1.231"),
    ("25.2", "7.7.0.6.236"),
    ("25.6", "9.0.0.101.221"),
    ("25.7", "9.0.0.105.229"),
    ("25.", "7.8.0.6.201"),
    ("26.", "9.0.0.0.205"),
)
# Layout family of the tables from this driver line on; the first matching prefix counts.
WIDE_FROM = ("26.",)

# layout: family of `npu-smi info`; ids: NPU ids in the order of the cards; chips: chips of one card.
# memory, hbm, power (None prints as the tool prints what it does not know), cores; pci: vendor-less ids.
CHIPS: dict[str, dict] = {
    "910b": {
        "layout": "H3",
        "map_name": "Ascend {name}",
        "chips": 1,
        "memory": [0, 0],
        "hbm": [3318, 65536],
        "power": 92.4,
        "cores": 20,
        "mcu": True,
        "pci": ("d802", "19e5", "3002"),
        "first_bus": 0xC1,
        "topology": "HCCS",
    },
    "a3": {
        "layout": "H3",
        "name": "Ascend910",
        "map_name": "Ascend910",
        "chips": 2,
        "memory": [0, 0],
        "hbm": [3133, 65536],
        "power": 165.3,
        "cores": 25,
        "mcu": True,
        "pci": ("d803", "19e5", "3003"),
        "first_bus": 0x9D,
        "phy_ids": True,
        "topology": "HCCS_SW",
        "pci_per_chip": True,
        "npu_name": "9391",
    },
    "310pduo": {
        "layout": "D3",
        "name": "310P3",
        "map_name": "Ascend 310P3",
        "chips": 2,
        "memory": [1529, 44280],
        "last_memory": [1412, 43693],
        "hbm": None,
        "power": None,
        "cores": None,
        "mcu": True,
        "pci": ("d500", "0200", "0110"),
        "first_bus": 0x01,
        "product": "Atlas 300I Duo",
        "first_id": 1,
    },
    "310p3": {
        "layout": "D3",
        "name": "310P3",
        "map_name": "Ascend 310P3",
        "chips": 1,
        "memory": [1848, 21525],
        "hbm": None,
        "power": None,
        "cores": None,
        "mcu": True,
        "pci": ("d500", "0200", "0100"),
        "first_bus": 0x81,
        "product": "Atlas 300I Pro",
        "first_id": 4,
    },
    "910a": {
        "layout": "H3",
        "name": "910A",
        "map_name": "Ascend 910A",
        "chips": 1,
        "memory": [2210, 15137],
        "hbm": [2, 32768],
        "power": 73.4,
        "cores": 32,
        "mcu": False,
        "pci": ("d801", "0200", "0100"),
        "first_bus": 0x61,
        "topology": "HCCS",
    },
    "950pr": {
        "layout": "A5",
        "name": "Ascend950PR",
        "map_name": "Ascend950PR",
        "chips": 1,
        "memory": [0, 0],
        "hbm": [5239, 131072],
        "power": 195.6,
        "cores": 32,
        "mcu": False,
        "pci": ("d806", "19e5", "4004"),
        "first_bus": 0x61,
        "product": "Atlas 350",
        "phy_ids": True,
        "npu_name": "9579",
    },
}
# Chips that differ from their family only by name and memory: (family, name, HBM in MB).
VARIANTS = {
    "910b1": ("910b", "910B1", 65536),
    "910b2": ("910b", "910B2", 65536),
    "910b3": ("910b", "910B3", 65536),
    "910b4": ("910b", "910B4", 32768),
    "910b4-1": ("910b", "910B4-1", 65536),
    "910b2c": ("910b", "910B2C", 65536),
}
# What else sits on the bus of such a server: (address, vendor, device, subvendor, subdevice, class).
OTHER_PCI = (
    ("0000:00:00.0", "19e5", "a120", "0000", "0000", "060400"),  # Kunpeng root port
    ("0000:75:00.0", "19e5", "a250", "0000", "0000", "120000"),  # Kunpeng ZIP engine: class of an NPU, but none
    ("0000:07:00.0", "19e5", "1711", "19e5", "0001", "030000"),  # display of the management controller
    ("0000:7d:00.0", "19e5", "a222", "19e5", "0454", "020000"),  # network
)


def _chip(name: str) -> dict:
    if name in VARIANTS:
        family, title, hbm = VARIANTS[name]
        chip = copy.deepcopy(CHIPS[family])
        chip.update(name=title, map_name=chip["map_name"].format(name=title), hbm=[chip["hbm"][0], hbm])
        return chip
    if name in CHIPS and "name" in CHIPS[name]:
        return copy.deepcopy(CHIPS[name])
    known = sorted([*VARIANTS, *(key for key, chip in CHIPS.items() if "name" in chip)])
    raise FleetError(f"Unknown chip {name!r} in a board; known are {', '.join(known)}.")


def _by_prefix(table: tuple, version: str, default: str) -> str:
    return next((value for prefix, value in table if version.startswith(prefix)), default)


def state(board: str, driver: str | None = DEFAULT_DRIVER) -> dict:
    """State of the fake hardware for a board; ``driver`` None: the cards are there, no driver is installed."""
    if board == NO_BOARD:
        return {"schema": 1, "board": board, "driver": None, "devices": {}, "pci": [], "processes": []}
    match = BOARD.match(board)
    if not match:
        raise FleetError(f"Board {board!r} is not <chip>x<cards>, like 910b4x8, nor {NO_BOARD}.")
    chip, cards = _chip(match["chip"]), int(match["cards"])
    layout = chip["layout"]
    if driver and layout == "H3" and driver.startswith(WIDE_FROM):
        layout = "H4"
    firmware = _by_prefix(FIRMWARE, driver or DEFAULT_DRIVER, "7.0.0.1.200")
    devices, pci = {}, []
    device_id, subvendor, subdevice = chip["pci"]
    for card in range(cards):
        npu = card + chip.get("first_id", 0)
        for number in range(chip["chips"]):
            logic = card * chip["chips"] + number
            bus = (chip["first_bus"] + 2 * (logic if chip.get("pci_per_chip") else card)) % 256
            address = f"0000:{bus:02X}:00.0"
            devices[f"{npu}:{number}"] = {
                "npu": npu,
                "chip": number,
                "logic": logic,
                "phy": logic,
                "health": "OK",
                "codes": [],
                "information": [],
                "power": None if number else chip["power"],
                "temperature": 38 + (logic * 3) % 9,
                "aicore": 0,
                "memory": chip.get("last_memory", chip["memory"]) if number else chip["memory"],
                "hbm": chip["hbm"],
                "hugepages": [0, 0],
                "bus": address,
                "firmware": firmware,
                "compatibility": "OK",
            }
            if number == 0 or chip.get("pci_per_chip"):
                pci.append([address.lower(), "19e5", device_id, subvendor, subdevice, "120000", f"{npu}:{number}"])
    kept = ("name", "map_name", "mcu", "cores", "product", "phy_ids", "topology", "npu_name")
    return {
        "schema": 1,
        "board": board,
        "layout": layout,
        "driver": driver,
        "tool": driver,
        "firmware": firmware,
        **{key: chip.get(key) for key in kept},
        "subsystem": chip["pci"],
        "devices": devices,
        "pci": [*map(list, OTHER_PCI), *pci],
        "processes": [],
        "process_table": True,
        "smi_error": None,
        "smi_noise": None,
        "slow": 0,
        "for_all": False,
        "incomplete": False,
    }
