"""Chips as people name them, and the family of a host."""

from __future__ import annotations

from typing import Any

import judged_host as host
import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import devices

DIES = [host.device(0), dict(host.device(0), chip_id=1), host.device(4), dict(host.device(6), chip_id=None)]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("0", ["0:0", "0:1"]), (0, ["0:0", "0:1"]), ("0:1", ["0:1"]), ("4", ["4:0"]), ("6", ["6"]), ("6:0", []),
        ("1", []), ("00", []), (2144, []),
    ],
)  # fmt: skip
def test_an_id_names_one_chip_or_all_of_an_npu(word: Any, found: list[str]) -> None:
    asked = devices.choose(DIES, word)
    assert asked.valid and [devices.label(one) for one in asked.found] == found


@pytest.mark.parametrize("word", ["", "a", "0:", ":0", "0:0:0", "0,1", " 0", "0\n", "-1", True, None, 1.5, ["0"], "٣"])
def test_what_is_no_id_is_not_valid(word: Any) -> None:
    assert not devices.choose(DIES, word).valid


@pytest.mark.parametrize(
    ("health", "sick"), [("OK", False), ("ok", False), (None, False), ("Warning", True), ("UNKNOWN", True)]
)
def test_a_health_that_is_not_given_is_no_fault(health: Any, sick: bool) -> None:
    assert devices.sick({"health": health}) is sick


def test_a_chip_that_only_the_id_table_knows_is_silent() -> None:
    assert devices.silent({"npu_id": 1, "health": None, "bus_id": None, "memory_total_mb": None, "hbm_total_mb": None})
    assert not devices.silent(host.device(0, health=None))


def bus(*addresses: str) -> list[dict[str, str]]:
    return [{"address": address, "family": "910b"} for address in addresses]


def test_a_card_of_the_bus_that_is_not_listed_is_lost() -> None:
    npu = {"devices": [host.device(0)], "pci": bus("0000:c0:00.0", "0000:c1:00.0")}
    assert devices.lost(npu) == ["0000:c1:00.0"]
    assert devices.lost({"devices": [host.device(0, bus_id="00000000:C0:00.0")], "pci": bus("0000:c0:00.0")}) == []
    assert devices.lost({"devices": [host.device(0, bus_id="NA"), host.device(1)], "pci": bus("0000:c5:00.0")}) == []
    assert devices.lost({"devices": [], "pci": bus("0000:c5:00.0")}) == []
    assert devices.lost({}) == []


def test_the_family_of_a_host() -> None:
    assert devices.family_of({"devices": [host.device(0)]}) == "910b"
    assert devices.family_of({"devices": [], "pci": bus("0000:c0:00.0")}) == "910b"
    assert devices.family_of({"devices": [host.device(0), host.device(1, family="a3")]}) is None
    assert devices.family_of({"devices": [host.device(0)]}, "310p") == "310p"
    assert devices.family_of({}) is None
