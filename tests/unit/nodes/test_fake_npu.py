# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated cards against the real reader: what the state says is what the collection reads from the rendering.

Two pieces of code that were written from the same facts, each the other's test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

NODES = Path(__file__).resolve().parents[3] / "molecule" / "shared" / "nodes"
if not NODES.is_dir():
    pytest.skip("the simulated nodes are not part of an installed collection", allow_module_level=True)
sys.path[:0] = [str(NODES), str(NODES / "fake")]

import boards
import fake_items
import fake_state
import fake_tables
from ansible_collections.ascend.fleet.plugins.module_utils._npu_smi import parse_info, parse_mapping
from fleet_engine import FleetError

HOSTS = [
    ("910b4x8", "25.5.1", 8),
    ("910b2x2", "26.0.rc1", 2),
    ("a3x8", "25.2.0", 16),
    ("a3x1", "26.0.rc2", 2),
    ("310pduox2", "25.5.1", 4),
    ("310p3x2", "25.5.1", 2),
    ("910ax8", "23.0.5", 8),
    ("950prx8", "25.7.rc1.6", 8),
]


def rendered(state, holders=()):
    return "\n".join(fake_tables.info(state, fake_state.devices(state), fake_state.processes(state, holders)))


@pytest.mark.parametrize(("board", "driver", "chips"), HOSTS)
def test_table_is_read_as_the_state_says(board, driver, chips):
    state = boards.state(board, driver)
    read = parse_info(rendered(state))
    assert (read["tool_version"], read["driver_version"], read["truncated"]) == (driver, driver, False)
    assert read["processes"] == []
    assert len(read["devices"]) == chips
    for device, wanted in zip(read["devices"], fake_state.devices(state)):
        assert device["npu_id"] == wanted["npu"]
        assert device["name"] == state["name"]
        assert device["health"] == "OK"
        assert device["bus_id"] == wanted["bus"]
        assert device["power_w"] == wanted["power"]
        assert device["temperature_c"] == wanted["temperature"]
        # "0 / 0" is how the tool says that a chip has no such memory.
        memory = wanted["memory"] if wanted["memory"][1] else [None, None]
        assert [device["memory_used_mb"], device["memory_total_mb"]] == memory
        assert [device["hbm_used_mb"], device["hbm_total_mb"]] == (wanted["hbm"] or [None, None])


@pytest.mark.parametrize(("board", "driver", "chips"), HOSTS)
def test_mapping_is_read_as_the_state_says(board, driver, chips):
    state = boards.state(board, driver)
    read = parse_mapping("\n".join(fake_tables.mapping(state, fake_state.devices(state))))
    assert len(read) == chips
    for chip, wanted in zip(read, fake_state.devices(state)):
        assert (chip["npu_id"], chip["chip_id"]) == (wanted["npu"], wanted["chip"])
        assert chip["logic_id"] == (None if state["layout"] == "A5" else wanted["logic"])
        assert chip["phy_id"] == (wanted["phy"] if state["phy_ids"] else None)


@pytest.mark.parametrize(("board", "driver", "chips"), HOSTS)
def test_every_line_of_the_table_is_as_wide_as_its_border(board, driver, chips):
    lines = rendered(boards.state(board, driver)).splitlines()
    # The heads and rows of a 950's process table really are one column short.
    allowed = {len(lines[0])} | ({len(lines[0]) - 1} if board.startswith("950") else set())
    assert {len(line) for line in lines} <= allowed
    assert (
        len(lines[0])
        == {
            "910b4x8": 98,
            "910b2x2": 116,
            "a3x8": 98,
            "a3x1": 116,
            "310pduox2": 106,
            "310p3x2": 106,
            "910ax8": 98,
            "950prx8": 99,
        }[board]
    )


def test_processes_are_listed_eight_for_each_chip_and_no_more():
    state = boards.state("910b4x2", "25.5.1")
    state["processes"] = [{"device": "1:0", "pid": 100 + number, "name": "VLLM::EngineCore"} for number in range(11)]
    read = parse_info(rendered(state))
    assert [process["pid"] for process in read["processes"]] == list(range(100, 108))
    assert {process["name"] for process in read["processes"]} == {"VLLM::EngineCor"}


def test_who_holds_a_device_node_is_listed_at_its_chip():
    state = boards.state("a3x2", "25.5.1")
    read = parse_info(rendered(state, [(3, 4711, "python3.12"), (99, 1, "nobody")]))
    assert [(row["npu_id"], row["chip_id"], row["pid"], row["name"]) for row in read["processes"]] == [
        (1, 1, 4711, "python3.12")
    ]


def test_a_lost_chip_is_nowhere_and_an_unreadable_one_loses_its_first_row():
    state = boards.state("910b4x4", "25.5.1")
    fake_state.merge(state, {"devices": {"1:0": {"lost": True}, "2:0": {"health": None}}})
    lines = rendered(state).splitlines()
    assert not [line for line in lines if line.startswith(("| 1 ", "| 2 "))]
    assert sum(state["devices"]["2:0"]["bus"] in line for line in lines) == 1
    assert sum(state["devices"]["1:0"]["bus"] in line for line in lines) == 0


def test_merge_goes_into_dicts_and_replaces_the_rest():
    state = {"devices": {"0:0": {"health": "OK", "codes": ["a"]}}, "smi_error": "-8005"}
    fake_state.merge(state, {"devices": {"0:0": {"codes": []}}, "smi_error": None})
    assert state == {"devices": {"0:0": {"health": "OK", "codes": []}}, "smi_error": None}


def test_chip_id_closes_a_group_of_usages_and_opens_one_of_common():
    state = boards.state("310pduox1", "25.5.1")
    chips = fake_state.devices(state)
    usages = fake_items.usages(state, 1, chips, True)
    common = fake_items.common(state, 1, chips, True)
    assert [group[-1][0] for group in usages[1:]] == ["Chip ID", "Chip ID"]
    assert [group[0][0] for group in common[1:]] == ["Chip ID", "Chip ID", "Chip Name"]


def test_others_than_root_are_not_told_the_firmware():
    state = boards.state("910b4x1", "25.5.1")
    chips = fake_state.devices(state)
    as_root, as_user = (dict(fake_items.board(state, 0, chips, root)[0]) for root in (True, False))
    assert (as_root["Firmware Version"], as_root["Compatibility"]) == ("7.8.0.6.201", "OK")
    assert (as_user["Firmware Version"], as_user["Compatibility"]) == ("NA", "NOT SUPPORT")


def test_product_is_not_supported_on_a_server():
    state = boards.state("910b4x1", "25.5.1")
    with pytest.raises(fake_items.Unsupported):
        fake_items.product(state, 0, fake_state.devices(state), True)


@pytest.mark.parametrize("board", ["910b9x8", "910b4", "910b4x0", "x8", ""])
def test_a_board_that_does_not_exist_is_named(board):
    with pytest.raises(FleetError, match="oard"):
        boards.state(board)


def test_a_host_without_driver_still_has_its_cards_on_the_bus():
    state = boards.state("a3x2", None)
    npus = [entry for entry in state["pci"] if entry[2] == "d803"]
    assert state["driver"] is None
    assert [entry[6] for entry in npus] == ["0:0", "0:1", "1:0", "1:1"]
    assert any(entry[2] == "a250" and entry[5] == "120000" for entry in state["pci"])
