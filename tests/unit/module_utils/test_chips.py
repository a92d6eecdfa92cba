# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The chip table, and the two files that are made from it."""

from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _chips, _data_chips


def device(name, memory=None, hbm=None, phy=None):
    return {"name": name, "memory_total_mb": memory, "hbm_total_mb": hbm, "phy_id": phy}


@pytest.mark.parametrize(
    ("seen", "family"),
    [
        (device("910B4", hbm=32768), "910b"),
        (device("910B4-1", hbm=65536), "910b"),
        (device("910B2C", hbm=65536), "910b"),
        (device("910B1", hbm=65536), "910b"),
        (device("910B", memory=15137, hbm=32768), "910"),  # first generation by its DDR
        (device("910B", hbm=65536), None),
        (device("910B", hbm=32768), None),
        (device("910A", memory=15137, hbm=32768), "910"),
        (device("910ProB", memory=13553, hbm=32768), "910"),
        (device("910PremiumA", memory=13553, hbm=32768), "910"),
        (device("Ascend910", hbm=65536, phy=0), "a3"),
        (device("Ascend910", hbm=65536), None),
        (device("310P3", memory=44280), "310p"),
        (device("310", memory=8192), "310"),
        (device("310B4", memory=15609), "310b"),
        (device("Ascend950PR", hbm=131072), "950"),
        (device("Ascend950DT", hbm=98304), "950"),
        (device("xxx", hbm=65536), None),
        (device("910B4\n"), None),
        (device(None), None),
        ({}, None),
    ],
)
def test_family_of_a_device(seen, family):
    assert _chips.family_of_device(seen) == family


@pytest.mark.parametrize(
    ("ids", "family"),
    [(("19e5", "d802"), "910b"), (("19e5", "d107"), "310b"), (("19e5", "a250"), None), (("8086", "d802"), None)],
)
def test_family_on_the_bus(ids, family):
    assert _chips.family_of_pci(*ids) == family


@pytest.mark.parametrize(
    ("package", "family"),
    [
        ("Ascend-cann-910b-ops", "910b"),
        ("Ascend-cann-A3-ops", "a3"),
        ("Ascend-cann-a3-ops", "a3"),
        ("Atlas-A3-cann-kernels", "a3"),
        ("Ascend-cann-kernels-310p", "310p"),
        ("Ascend-cann-toolkit", None),
        (None, None),
    ],
)
def test_family_of_a_package(package, family):
    assert _chips.family_of_package(package) == family


def test_no_id_and_no_package_belongs_to_two_families():
    for key in ("pci", "kernel_dirs", "packages"):
        values = [value for row in _data_chips.FAMILIES for value in row[key]]
        assert len(values) == len(set(values)), key


def test_families_of_a_host_come_from_both_sides():
    npu = {"devices": [{"family": "910b"}, {"family": None}], "pci": [{"family": "310p"}]}
    assert _chips.families_of(npu) == ["310p", "910b"]
    assert _chips.families_of({"devices": None, "pci": None}) == []
