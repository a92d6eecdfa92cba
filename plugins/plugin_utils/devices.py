# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Chips as people name them (npu or npu:chip), and the chip family of a host. Pure: works on ``ascend_npu``."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.ascend.fleet.plugins.module_utils import _chips

CHIP = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?\Z")


class Asked(NamedTuple):
    """What one entry of ``devices`` means: the word, whether it is an id at all, and the devices that it names."""

    word: str
    valid: bool
    found: List[Dict[str, Any]]


def listed(npu: Dict[str, Any]) -> List[Dict[str, Any]]:
    return [one for one in npu.get("devices") or [] if isinstance(one, dict)]


def family_of(npu: Dict[str, Any], named: Optional[str] = None) -> Optional[str]:
    """The family of the host: the one that is named (ascend_family), else the only one that is seen, else None."""
    if named:
        return str(named)
    found = _chips.families_of(npu)
    return found[0] if len(found) == 1 else None


def label(device: Dict[str, Any]) -> str:
    """npu:chip of a device, npu alone when the tool counts no chips."""
    chip = device.get("chip_id")
    return str(device.get("npu_id")) if chip is None else "%s:%s" % (device.get("npu_id"), chip)


def choose(devices: List[Dict[str, Any]], word: Any) -> Asked:
    """The devices that an id names: ``npu:chip`` one, ``npu`` all chips of that NPU; an integer is its digits."""
    text = str(word) if isinstance(word, (str, int)) and not isinstance(word, bool) else ""
    match = CHIP.match(text)
    if not match:
        return Asked(str(word), False, [])
    npu, chip = match.group(1), match.group(2)
    found = [one for one in devices if str(one.get("npu_id")) == npu and chip in (None, str(one.get("chip_id")))]
    return Asked(text, True, found)


def sick(device: Dict[str, Any]) -> bool:
    """Whether the tool says that a device is not well; a health that it does not give is not a fault."""
    health = device.get("health")
    return health is not None and str(health).upper() != "OK"


def silent(device: Dict[str, Any]) -> bool:
    """Whether a device is named by the id table alone: the tool knows of it and cannot tell how it is."""
    return all(device.get(key) is None for key in ("health", "bus_id", "memory_total_mb", "hbm_total_mb"))


def lost(npu: Dict[str, Any]) -> List[str]:
    """PCI addresses of NPUs that no listed device has. Empty when any device hides its address: nothing can be told."""
    have = [one.get("bus_id") for one in listed(npu)]
    if not have or not all(isinstance(one, str) and ":" in one for one in have):
        return []
    known = {_address(one) for one in have}
    bus = [one for one in npu.get("pci") or [] if isinstance(one, dict) and one.get("address") and one.get("family")]
    return [str(one["address"]) for one in bus if _address(str(one["address"])) not in known]


def _address(text: str) -> str:
    """PCI address with the domain's leading zeros gone: tools write four or eight digits."""
    domain, _colon, rest = text.lower().partition(":")
    return "%s:%s" % (domain.lstrip("0") or "0", rest)
