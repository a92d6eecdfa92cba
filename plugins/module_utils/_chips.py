# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Which family a device, a PCI function or an operator package belongs to: the chip table applied."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional

from ._data_chips import FAMILIES, VENDOR


def family_of_pci(vendor: str, device: str) -> Optional[str]:
    """Family of a PCI function by its ids (four lower-case hex digits). Never by class: Kunpeng's engines share it."""
    if vendor == VENDOR:
        for row in FAMILIES:
            if device in row["pci"]:
                return row["family"]
    return None


def family_of_device(device: Dict[str, Any]) -> Optional[str]:
    """Family of a device of the main table by its name and what the name leaves open; None when neither says."""
    for row in FAMILIES:
        for rule in row["names"]:
            if _fits(rule, device):
                return row["family"]
    return None


def _fits(rule: Dict[str, Any], device: Dict[str, Any]) -> bool:
    if not re.match(r"(?:%s)\Z" % rule["match"], device.get("name") or ""):
        return False
    if rule.get("phy_id") and device.get("phy_id") is None:
        return False
    if rule.get("ddr") and not device.get("memory_total_mb"):
        return False
    return "hbm_mb" not in rule or rule["hbm_mb"] == device.get("hbm_total_mb")


def families_of(npu: Dict[str, Any]) -> List[str]:
    """Every family of a host, sorted, from the devices and the PCI functions of ``ascend_npu``."""
    found = {entry.get("family") for entry in (npu.get("devices") or []) + (npu.get("pci") or [])}
    return sorted(family for family in found if family)


def family_of_package(package: Optional[str]) -> Optional[str]:
    """Family of an operator package by the name that its record carries (Ascend-cann-910b-ops and older forms)."""
    for row in FAMILIES:
        if package and package.lower() in [name.lower() for name in row["packages"]]:
            return row["family"]
    return None


def family_of_kernels(folder: str) -> Optional[str]:
    """Family of a folder of compiled operators (ascend910_93 and so on)."""
    for row in FAMILIES:
        if folder in row["kernel_dirs"]:
            return row["family"]
    return None
