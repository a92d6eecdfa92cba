# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""``ascend_npu``: devices, driver, firmware and processes of a host. The shape is fixed in the docs of npu_facts."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional

from . import _driver
from ._chips import family_of_device, family_of_pci
from ._npu_tools import Tools
from ._runner import Runner

PCI = "/sys/bus/pci/devices"
DEFAULT_TIMEOUT = 60  # seconds, for each call of a tool
_COLUMNS = (
    "npu_id",
    "chip_id",
    "logic_id",
    "phy_id",
    "name",
    "family",
    "health",
    "fault_codes",
    "firmware",
    "power_w",
    "temperature_c",
    "aicore_percent",
    "bus_id",
    "memory_used_mb",
    "memory_total_mb",
    "hbm_used_mb",
    "hbm_total_mb",
    "hugepages_used",
    "hugepages_total",
    "compatibility",
)


def gather(runner: Runner, timeout: int = DEFAULT_TIMEOUT) -> Dict[str, Any]:
    """Look at the NPUs of a host. Errors are part of the result, none is raised."""
    root = _driver.root_of(runner)
    tools = Tools(runner, root + "/driver", timeout)
    answer = tools.query(firmware_known=runner.exists(root + "/firmware/version.info"))
    info = answer["info"] or {}
    pci = pci_functions(runner)
    devices = merge(info.get("devices") or [], answer["mapping"], tools.warnings)
    for device in devices:
        device["family"] = _family(device, pci)
        device["firmware"] = _firmware_of(device, answer["firmware"])
    board = answer["board"] or {}
    return {
        "subset": "minimal",
        "pci": pci,
        "device_nodes": device_nodes(runner),
        "smi": {
            "path": tools.path,
            "version": info.get("tool_version"),
            "usable": bool(info.get("devices")) and answer["error"] is None,
            "error": answer["error"],
        },
        "driver": _driver.driver(runner, info.get("driver_version") or board.get("driver")),
        "firmware": _driver.firmware(runner, answer["firmware"], answer["board"]),
        "devices": devices,
        "processes": _processes(info.get("processes"), devices),
        "truncated": bool(info.get("truncated")),
        "warnings": tools.warnings + info.get("warnings", []) + (info.get("other", []) if devices else []),
    }


def pci_functions(runner: Runner) -> List[Dict[str, Any]]:
    """The NPUs on the PCI bus, by address: {address, vendor, device, subsystem, family}; no driver is needed."""
    found = []
    for address in runner.names(PCI):
        vendor = _hex(runner, address, "vendor")
        device = _hex(runner, address, "device") if vendor else None
        family = family_of_pci(vendor, device) if vendor and device else None
        if family:
            parts = (_hex(runner, address, "subsystem_vendor"), _hex(runner, address, "subsystem_device"))
            subsystem = ":".join(part for part in parts if part) if all(parts) else None
            found.append(
                {"address": address, "vendor": vendor, "device": device, "subsystem": subsystem, "family": family}
            )
    return found


def _hex(runner: Runner, address: str, name: str) -> Optional[str]:
    """One id of a PCI function as four lower-case digits."""
    text = (runner.read("%s/%s/%s" % (PCI, address, name), 32) or "").strip().lower()
    return text[2:] if re.match(r"^0x[0-9a-f]{4}$", text) else None


def device_nodes(runner: Runner) -> List[str]:
    """/dev/davinci<N> in the order of N; davinci_manager is none of them."""
    numbers = [int(name[7:]) for name in runner.names("/dev") if re.match(r"^davinci[0-9]{1,6}$", name)]
    return ["/dev/davinci%d" % number for number in sorted(numbers)]


def merge(table: List[Dict[str, Any]], mapping: List[Dict[str, Any]], warnings: List[str]) -> List[Dict[str, Any]]:
    """Devices of the table with the ids of the mapping, in the order of the table.

    A chip that only the mapping knows is appended with nulls: the tool names it and cannot tell how it is.
    """
    chips = {(entry["npu_id"], entry["chip_id"]): entry for entry in mapping}
    devices, seen = [], set()
    for row in table:
        device = dict(row, family=None, fault_codes=None, firmware=None, compatibility=None)
        if device["chip_id"] is None:
            of_npu = [entry for entry in mapping if entry["npu_id"] == device["npu_id"]]
            device["chip_id"] = of_npu[0]["chip_id"] if len(of_npu) == 1 else None
        place = (device["npu_id"], device["chip_id"])
        entry = chips.get(place, {})
        for key in ("logic_id", "phy_id"):
            device[key] = entry.get(key) if entry.get(key) is not None else device[key]
        seen.add(place)
        devices.append(device)
    for place, entry in chips.items():
        if place not in seen:
            warnings.append("npu-smi info -m names NPU %d chip %d, the table of npu-smi info does not" % place)
            devices.append(dict.fromkeys(_COLUMNS))
            devices[-1].update(entry)
    return devices


def _family(device: Dict[str, Any], pci: List[Dict[str, Any]]) -> Optional[str]:
    """Family by the device's name, else by its place on the bus, else by the only family on the bus."""
    by_name = family_of_device(device)
    if by_name:
        return by_name
    for entry in pci:
        if entry["address"].lower() == (device.get("bus_id") or "").lower():
            return entry["family"]
    families = {entry["family"] for entry in pci}
    return families.pop() if len(families) == 1 else None


def _firmware_of(device: Dict[str, Any], by_index: Dict[int, List[str]]) -> Optional[str]:
    """Firmware of a card: the upgrade tool counts by logic id; two versions on one card are no answer."""
    versions = by_index.get(device["logic_id"], []) if device["logic_id"] is not None else []
    return versions[0] if len(versions) == 1 else None


def _processes(
    processes: Optional[List[Dict[str, Any]]], devices: List[Dict[str, Any]]
) -> Optional[List[Dict[str, Any]]]:
    """Processes with the chip filled in where an NPU has just one."""
    for process in processes or []:
        if process["chip_id"] is None:
            chips = {device["chip_id"] for device in devices if device["npu_id"] == process["npu_id"]}
            process["chip_id"] = chips.pop() if len(chips) == 1 else None
    return processes
