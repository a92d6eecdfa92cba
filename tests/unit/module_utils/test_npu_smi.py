# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What npu-smi prints becomes data, whatever is cut from it or put around it."""

from __future__ import annotations

import npu_tables as tables
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _npu_smi, _npu_values
from hypothesis import given
from hypothesis import strategies as st

parse = _npu_smi.parse_info
WHOLE = {
    "a2": tables.a2().text(),
    "a2 busy": tables.a2(processes=(("0       0", "41230", "python3", "28012"),)).text(),
    "a2 wide": tables.a2_wide().text(),
    "a3": tables.a3().text(),
    "duo": tables.duo().text(),
    "first": tables.first_generation().text(),
    "a5": tables.a5(),
}


def places(found):
    return [(device["npu_id"], device["chip_id"]) for device in found["devices"]]


def test_a2():
    found = parse(WHOLE["a2"])
    assert (found["tool_version"], found["driver_version"]) == ("25.5.1", "25.5.1")
    assert found["devices"][1] == {
        "npu_id": 1, "chip_id": 0, "logic_id": None, "phy_id": None, "name": "910B4", "health": "OK", "power_w": 85.1,
        "temperature_c": 41, "aicore_percent": 7, "bus_id": "0000:C1:00.0", "memory_used_mb": None,
        "memory_total_mb": None, "hbm_used_mb": 2872, "hbm_total_mb": 32768, "hugepages_used": 0, "hugepages_total": 0,
    }  # fmt: skip
    assert found["processes"] == []
    assert found["warnings"] == found["other"] == []


def test_a_memory_that_fills_its_column_and_a_container_pid():
    found = parse(WHOLE["a2 wide"])
    assert (found["devices"][0]["hbm_used_mb"], found["devices"][0]["hbm_total_mb"]) == (61609, 65536)
    assert found["processes"] == [
        {"npu_id": 0, "chip_id": 0, "pid": 1504884, "container_pid": 4123, "name": "python3.1", "memory_mb": 58000}
    ]


def test_a3_has_two_dies_for_each_npu():
    found = parse(WHOLE["a3"])
    assert places(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [device["phy_id"] for device in found["devices"]] == [0, 1, 2, 3]
    assert [device["power_w"] for device in found["devices"]] == [162.8, None, 162.8, None]
    assert found["devices"][3]["health"] == "Warning"
    assert [(row["npu_id"], row["chip_id"], row["name"]) for row in found["processes"]] == [(1, 1, None)]


def test_a_duo_shares_one_bus_address_and_has_no_process_table():
    found = parse(WHOLE["duo"])
    assert places(found) == [(2, 0), (2, 1)]
    assert {device["bus_id"] for device in found["devices"]} == {"0000:01:00.0"}
    assert [device["logic_id"] for device in found["devices"]] == [0, 1]
    assert [device["memory_total_mb"] for device in found["devices"]] == [44280, 43693]
    assert [device["hbm_total_mb"] for device in found["devices"]] == [None, None]
    assert [device["power_w"] for device in found["devices"]] == [None, None]
    assert found["processes"] is None


def test_the_first_generation_has_sparse_ids_and_a_tool_of_its_own_version():
    found = parse(WHOLE["first"])
    assert places(found) == [(1, 0), (4, 0)]
    assert (found["tool_version"], found["driver_version"]) == ("1.9.3", "21.0.rc1")
    device = found["devices"][0]
    assert (device["memory_total_mb"], device["hbm_used_mb"], device["hugepages_total"]) == (15171, 0, None)


def test_a5_has_its_npu_id_in_a_cell_of_its_own():
    found = parse(WHOLE["a5"])
    assert places(found) == [(0, None)]
    device = found["devices"][0]
    assert (device["name"], device["bus_id"], device["hbm_total_mb"]) == ("Ascend950DT", None, 98304)
    assert [(row["npu_id"], row["chip_id"], row["pid"]) for row in found["processes"]] == [(0, None, 2066378)]


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_table_is_not_cut(name):
    assert parse(WHOLE[name])["truncated"] is False


@pytest.mark.parametrize("name", WHOLE)
def test_a_cut_anywhere_never_invents_a_value(name):
    """Every prefix of every table: each value is that of the whole table or None, and no device is made up."""
    whole = parse(WHOLE[name])
    by_npu = {}
    for row in whole["devices"]:
        by_npu.setdefault(row["npu_id"], []).append(row)
    pids = {row["pid"]: row for row in whole["processes"] or []}
    for end in range(len(WHOLE[name])):
        part = parse(WHOLE[name][:end])
        for row in part["devices"]:
            same = by_npu[row["npu_id"]]
            assert any(all(row[key] in (None, one[key]) for key in row) for one in same), (end, row)
        for row in part["processes"] or []:
            assert all(row[key] in (None, pids[row["pid"]][key]) for key in row), (end, row)
        for key in ("tool_version", "driver_version"):
            assert part[key] in (None, whole[key]), end


@pytest.mark.parametrize("name", WHOLE)
def test_a_cut_inside_a_row_is_seen(name):
    lines = WHOLE[name].rstrip("\n").split("\n")
    for index, line in enumerate(lines):
        if line.startswith("|") and index > 4:
            assert parse("\n".join([*lines[:index], line[: len(line) // 2]]))["truncated"] is True, line
            assert parse("\n".join([*lines[:index], line[:-1].rstrip()]))["truncated"] is True, line


def test_a_cut_inside_a_border_is_seen():
    text = WHOLE["a2"].rstrip("\n")
    assert parse(text[:-1])["truncated"] is True
    assert parse(text[: text.rindex("+=") + 1])["truncated"] is True


def test_processes_of_some_npus_only_mean_a_cut_table():
    lines = tables.a2(cards=3).text().split("\n")
    found = parse("\n".join(line for line in lines if "in NPU 2" not in line))
    assert found["processes"] == []
    assert found["truncated"] is True


def test_a_table_without_its_head_is_cut():
    rows = [line for line in WHOLE["a3"].split("\n") if "Ascend910" in line or "0000:" in line]
    found = parse("\n".join(rows))
    assert places(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found["devices"][0]["phy_id"] is None  # without the head the second number has no name
    assert found["truncated"] is True


def test_a_row_without_its_first_line_makes_no_device():
    lines = WHOLE["a2"].split("\n")
    del lines[6]
    found = parse("\n".join(lines))
    assert places(found) == [(1, 0)]
    assert found["truncated"] is True
    assert "0000:C0:00.0" in found["warnings"][0]


def test_rows_that_somebody_left_out_are_seen():
    lines = WHOLE["a2"].split("\n")
    for elision in ("...", "| ...                 | ...           | ...          |"):
        found = parse("\n".join([*lines[:8], elision, *lines[8:]]))
        assert places(found) == [(0, 0), (1, 0)]
        assert found["truncated"] is True


def test_eight_processes_on_a_chip_may_be_more():
    rows = tuple(("0       0", str(100 + n), "python3", "10") for n in range(8))
    assert "may be more" in parse(tables.a2(processes=rows).text())["warnings"][0]
    assert parse(tables.a2(processes=rows[:7]).text())["warnings"] == []


def test_noise_colours_and_carriage_returns_do_no_harm():
    text = "DrvMngGetConsoleLogLevel failed. (ret=4)\n%s[WARNING]The driver package may be incomplete.\n" % WHOLE["a2"]
    found = parse(("\x1b[32m" + text + "\x1b[0m").replace("\n", "\r\n"))
    assert found["devices"] == parse(WHOLE["a2"])["devices"]
    assert found["truncated"] is False
    assert [line[:9] for line in found["other"]] == ["DrvMngGet", "[WARNING]"]


@pytest.mark.parametrize("text", [None, b"", 7, "", "\n\n", "no table here", "|", "||||", "+", "| 1 | 2 | 3 |\n" * 5])
def test_what_is_no_table_gives_no_devices(text):
    found = parse(text)
    assert found["devices"] == []
    assert found["processes"] is None


@given(st.text(alphabet="|+-=/ .0123456789ABNPUOKaes:\n", max_size=400))
def test_table_like_rubbish_is_answered(text):
    found = parse(text)
    assert isinstance(found["devices"], list)
    _npu_smi.parse_mapping("NPU ID  Chip ID  Chip Logic ID  Chip Name\n" + text)
    _npu_values.parse_groups(text)


@given(st.data())
def test_a_spoiled_table_is_answered(data):
    """Characters of a good table replaced at random: still plain types, never an exception."""
    text = list(WHOLE[data.draw(st.sampled_from(sorted(WHOLE)))])
    for _spot in range(data.draw(st.integers(1, 20))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from("|+ 0\n=/\x00é"))
    for device in parse("".join(text))["devices"]:
        assert device["npu_id"] is None or isinstance(device["npu_id"], int)


def test_a_hostile_line_costs_no_time():
    assert parse("| 0 910B4 | OK | " + "/ " * 500000 + "|\n" + "|" * 1000000)["devices"] != [None]


# the mapping of ids


def test_mapping_leaves_controllers_out():
    assert _npu_smi.parse_mapping(tables.a2_mapping()) == [
        {"npu_id": npu, "chip_id": 0, "logic_id": npu, "phy_id": None, "name": "910B4"} for npu in (0, 1)
    ]


def test_mapping_with_physical_ids():
    found = _npu_smi.parse_mapping(tables.a3_mapping())
    assert [(row["npu_id"], row["chip_id"], row["logic_id"], row["phy_id"]) for row in found] == [
        (0, 0, 0, 0), (0, 1, 1, 1), (1, 0, 2, 2), (1, 1, 3, 3),
    ]  # fmt: skip


def test_mapping_of_a5_has_a_slot_and_no_logic_id():
    heads = ("NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name")
    assert _npu_smi.parse_mapping(tables.mapping((0, 3, 0, 5, "Ascend950PR"), heads=heads)) == [
        {"npu_id": 0, "chip_id": 0, "logic_id": None, "phy_id": 5, "name": "Ascend950PR"}
    ]


@pytest.mark.parametrize(
    "text",
    [
        "", "dcmi module initialize failed. ret is -8005\n", "0  0  0  Ascend 910B4\n",
        tables.mapping((-1, 0, 0, "Ascend 910B4")), tables.mapping(("0", "0")),
    ],
)  # fmt: skip
def test_mapping_of_nothing_usable(text):
    assert _npu_smi.parse_mapping(text) == []


# key : value output


def test_board():
    text = (
        "\tNPU ID                         : 0\r\n\tSoftware Version               : 25.5.1\r\n"
        "\tFirmware Version               : 7.8.0.6.201\r\n\tCompatibility                  : OK\r\n"
        "\tPCIe Bus Info                  : 0000:C1:00.0\r\n"
    )
    assert _npu_values.parse_board(text) == {"driver": "25.5.1", "firmware": "7.8.0.6.201", "compatibility": "OK"}
    assert _npu_values.parse_groups(text)[0]["PCIe Bus Info"] == "0000:C1:00.0"


def test_board_without_values():
    assert _npu_values.parse_board("Firmware Version : NA\nError parameter of -t\n") == {
        "driver": None, "firmware": None, "compatibility": None,
    }  # fmt: skip


def test_upgrade_tool():
    assert _npu_values.parse_upgrade_tool(tables.upgrade_tool("7.8.0.6.201", "7.7.0.1.231")) == {
        0: ["7.8.0.6.201"], 1: ["7.7.0.1.231"],
    }  # fmt: skip
    assert _npu_values.parse_upgrade_tool('{"device_id":0, "component":nve, "version":}\npermission denied') == {}
