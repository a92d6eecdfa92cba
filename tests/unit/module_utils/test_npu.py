# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ascend_npu of whole hosts: tools, files, the bus and what happens when one of them is missing."""

from __future__ import annotations

import npu_tables as tables
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _chips, _driver, _lock, _npu, _npu_tools

SMI = "/usr/local/sbin/npu-smi"
UPGRADE = "/usr/local/Ascend/driver/tools/upgrade-tool"
ALL = "--device_index -1 --component -1 --version"
KEYS = ["subset", "pci", "device_nodes", "smi", "driver", "firmware", "devices", "processes", "truncated", "warnings"]
NO_DEVICE = "dcmi module initialize failed. ret is -8005\n"


@pytest.fixture(autouse=True)
def no_other_npu_smi(monkeypatch):
    """This machine's own tool must not be found."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(_npu_tools, "LOCK_WAIT", 0)


@pytest.fixture
def a2(node):
    node.program(SMI, **{"info": (0, tables.a2().text(), ""), "info -m": (0, tables.a2_mapping(), "")})
    node.program(UPGRADE, **{ALL: (0, tables.upgrade_tool("7.8.0.6.201", "7.8.0.6.201"), "")})
    node.file(
        "/usr/local/Ascend/driver/version.info",
        "Version=25.5.1\ncompatible_version=[V100R001C21]\ncompatible_version_fw=[7.0.0,8.9.9]\npackage_version=25.5.1\n",
    )
    node.file("/usr/local/Ascend/firmware/version.info", "Version=7.8.0.6.201\npackage_version=25.5.1\n")
    node.file(
        "/etc/ascend_install.info",
        "UserGroup=HwHiAiUser\nUserName=HwHiAiUser\nDriver_Install_Type=full\nDriver_Install_For_All=yes\n"
        "Driver_Install_Path_Param=/usr/local/Ascend\nDriver_Install_Status=complete\n",
    )
    for number in (0, 10, 2):
        node.file("/dev/davinci%d" % number)
    node.file("/dev/davinci_manager")
    for npu in range(2):
        pci(node, "0000:c%d:00.0" % npu, "0x19e5", "0xd802", "0x19e5", "0x3002")
    return node


def pci(node, address, vendor, device, subvendor="0x0000", subdevice="0x0000"):
    values = {"vendor": vendor, "device": device, "subsystem_vendor": subvendor, "subsystem_device": subdevice}
    for name, value in values.items():
        node.file("%s/%s/%s" % (_npu.PCI, address, name), value + "\n")


def test_a_whole_host(a2):
    found = _npu.gather(a2.runner)
    assert list(found) == KEYS
    assert found["smi"] == {"path": SMI, "version": "25.5.1", "usable": True, "error": None}
    assert found["driver"] == {
        "version": "25.5.1", "running": None, "reboot_pending": False, "user": "HwHiAiUser", "group": "HwHiAiUser",
        "for_all": True, "install_path": "/usr/local/Ascend", "install_status": "complete",
        "firmware_ranges": [["7.0.0", "8.9.9"]], "source": "version.info",
    }  # fmt: skip
    assert found["firmware"] == {"version": "7.8.0.6.201", "source": "upgrade-tool", "mixed": False}
    assert [(row["logic_id"], row["family"], row["firmware"]) for row in found["devices"]] == [
        (0, "910b", "7.8.0.6.201"), (1, "910b", "7.8.0.6.201"),
    ]  # fmt: skip
    assert found["pci"][0] == {
        "address": "0000:c0:00.0", "vendor": "19e5", "device": "d802", "subsystem": "19e5:3002", "family": "910b",
    }  # fmt: skip
    assert found["device_nodes"] == ["/dev/davinci0", "/dev/davinci2", "/dev/davinci10"]
    assert (found["processes"], found["truncated"], found["warnings"]) == ([], False, [])


def test_it_asks_each_tool_once_and_finds_the_drivers_libraries(a2, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/opt/lib:")
    _npu.gather(a2.runner)
    assert a2.calls == ["npu-smi info", "npu-smi info -m", "upgrade-tool " + ALL]
    assert a2.environ["LC_ALL"] == "C"
    folders = a2.environ["LD_LIBRARY_PATH"].split(":")
    assert "/usr/local/Ascend/driver/lib64/common" in folders
    assert folders[-1] == "/opt/lib"
    assert "" not in folders


def test_a_bare_host(node):
    found = _npu.gather(node.runner)
    assert list(found) == KEYS
    assert found["smi"]["path"] is None
    assert found["smi"]["usable"] is False
    assert "no Ascend driver is installed" in found["smi"]["error"]["meaning"]
    assert (found["driver"], found["firmware"], found["devices"], found["processes"]) == (None, None, [], None)
    assert node.calls == []


def test_cards_on_the_bus_without_a_driver(node):
    pci(node, "0000:01:00.0", "0x19e5", "0xd500", "0x0200", "0x0110")
    pci(node, "0000:02:00.0", "0x19e5", "0xa250")  # an engine of a Kunpeng: same vendor and class
    pci(node, "0000:03:00.0", "0x8086", "0xd802")
    pci(node, "0000:04:00.0", "19e5", "d802")  # no ids as the kernel writes them
    found = _npu.gather(node.runner)
    assert [(entry["address"], entry["family"]) for entry in found["pci"]] == [("0000:01:00.0", "310p")]
    assert _chips.families_of(found) == ["310p"]


@pytest.mark.parametrize(
    ("answer", "code", "word"),
    [
        ((0, NO_DEVICE, ""), -8005, "without a reboot"),
        ((251, "DrvMngGetConsoleLogLevel failed. (ret=4)\n" + NO_DEVICE, ""), -8005, "group"),
        ((0, "dcmi model initialized failed, because the device is used. ret is -8020\n", ""), -8020, "container"),
        ((0, "  dcmi model initialized failed, because the device is used. ret is -802", ""), -802, "container"),
        ((127, "", SMI + ": error while loading shared libraries: libc_sec.so: cannot open"), None, "libc_sec.so"),
        ((0, "Usage: npu-smi info [options]\n", ""), None, "no usable chip"),
        ((0, "There is no NPU card on this server.\n", ""), None, "no NPU"),
        ((124, "", ""), None, "hangs"),
        ((137, "", ""), None, "hangs"),
        ((0, "", ""), None, "no usable chip"),
        ((3, "something new\n", ""), None, "exit status 3"),
        ((126, "", "Permission denied"), None, "root or the driver's group"),
        ((211, "dcmi something failed. ret is -7777\n", ""), None, "exit status 211"),
    ],
)
def test_a_tool_that_does_not_answer_is_a_fact(a2, answer, code, word):
    a2.answers["npu-smi info"] = answer
    found = _npu.gather(a2.runner, timeout=7)
    assert found["smi"]["usable"] is False
    assert found["smi"]["error"]["code"] == code
    assert word in found["smi"]["error"]["meaning"]
    assert found["smi"]["error"]["text"]
    assert found["driver"]["version"] == "25.5.1"  # the files still speak
    assert a2.calls == ["npu-smi info"]


def test_a_call_that_hangs_after_a_table_is_not_usable(a2):
    a2.answers["npu-smi info"] = (124, tables.a2().text()[:900], "")
    found = _npu.gather(a2.runner)
    assert found["smi"]["usable"] is False
    assert found["truncated"] is True
    assert a2.calls == ["npu-smi info"]


def test_without_files_the_board_of_the_first_card_is_asked(a2):
    for name in ("driver/version.info", "firmware/version.info", "driver/tools/upgrade-tool"):
        a2.path("/usr/local/Ascend/" + name).unlink()
    board = "\tSoftware Version : 25.5.1\n\tFirmware Version : 7.8.0.6.201\n"
    a2.answers["npu-smi info -t board -i 0"] = (0, board, "")
    found = _npu.gather(a2.runner)
    assert found["firmware"] == {"version": "7.8.0.6.201", "source": "npu-smi", "mixed": False}
    assert (found["driver"]["version"], found["driver"]["source"]) == ("25.5.1", "npu-smi")
    assert a2.calls[-1] == "npu-smi info -t board -i 0"


def test_an_upgrade_tool_that_refuses_leaves_the_file(a2):
    a2.answers["upgrade-tool " + ALL] = (1, "", "permission denied")
    found = _npu.gather(a2.runner)
    assert found["firmware"] == {"version": "7.8.0.6.201", "source": "version.info", "mixed": False}
    assert found["devices"][0]["firmware"] is None
    assert "upgrade-tool" in found["warnings"][0]


def test_cards_with_different_firmware(a2):
    a2.answers["upgrade-tool " + ALL] = (0, tables.upgrade_tool("7.8.0.6.201", "7.7.0.1.231", "7.8.0.6.201"), "")
    found = _npu.gather(a2.runner)
    assert found["firmware"] == {"version": "7.8.0.6.201", "source": "upgrade-tool", "mixed": True}
    assert [row["firmware"] for row in found["devices"]] == ["7.8.0.6.201", "7.7.0.1.231"]


def test_a_lost_card_is_named_by_the_mapping(a2):
    a2.answers["npu-smi info -m"] = (0, tables.a2_mapping(3), "")
    found = _npu.gather(a2.runner)
    lost = found["devices"][2]
    assert (lost["npu_id"], lost["chip_id"], lost["logic_id"], lost["health"]) == (2, 0, 2, None)
    assert set(lost) == set(found["devices"][0])
    assert "NPU 2 chip 0" in found["warnings"][0]


def test_a_mapping_that_fails_leaves_the_table(a2):
    a2.answers["npu-smi info -m"] = (0, "Failed to get card number.\n", "")
    found = _npu.gather(a2.runner)
    assert [row["logic_id"] for row in found["devices"]] == [None, None]
    assert found["smi"]["usable"] is True
    assert "info -m" in found["warnings"][0]


def test_a3_takes_logic_ids_from_the_mapping(node):
    node.program(SMI, **{"info": (0, tables.a3().text(), ""), "info -m": (0, tables.a3_mapping(), "")})
    found = _npu.gather(node.runner)
    assert [(row["logic_id"], row["phy_id"], row["family"]) for row in found["devices"]] == [
        (n, n, "a3") for n in range(4)
    ]


def test_a5_takes_its_chip_id_from_the_mapping(node):
    heads = ("NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name")
    mapping = tables.mapping((0, 0, 0, 0, "Ascend950DT"), heads=heads)
    node.program(SMI, **{"info": (0, tables.a5(), ""), "info -m": (0, mapping, "")})
    found = _npu.gather(node.runner)
    assert [(row["chip_id"], row["phy_id"], row["family"]) for row in found["devices"]] == [(0, 0, "950")]
    assert found["processes"][0]["chip_id"] == 0


def test_the_other_install_path_is_searched(node):
    node.program("/usr/local/bin/npu-smi", **{"info": (0, tables.duo().text(), "")})
    found = _npu.gather(node.runner)
    assert found["smi"]["path"] == "/usr/local/bin/npu-smi"
    assert {row["family"] for row in found["devices"]} == {"310p"}


def test_a_driver_in_another_place(a2):
    a2.path("/usr/local/Ascend").rename(a2.path("/usr/local/elsewhere"))
    text = a2.path("/etc/ascend_install.info").read_text().replace("/usr/local/Ascend", "/usr/local/elsewhere/")
    a2.file("/etc/ascend_install.info", text)
    found = _npu.gather(a2.runner)
    assert found["driver"]["install_path"] == "/usr/local/elsewhere"
    assert found["firmware"]["source"] == "upgrade-tool"


def test_somebody_who_holds_the_lock_is_waited_for_and_named(a2):
    with _lock.held(a2.runner, _lock.NPU_SMI, 0, "does something long", mode=0o666):
        found = _npu.gather(a2.runner)
    assert found["smi"]["usable"] is False
    assert "does something long" in found["smi"]["error"]["text"]
    assert a2.calls == []
    assert _npu.gather(a2.runner)["smi"]["usable"] is True


def test_a_lock_that_cannot_be_opened_is_a_warning(a2):
    a2.path(_lock.NPU_SMI).mkdir(parents=True)  # opening a folder for writing fails for root as well
    found = _npu.gather(a2.runner)
    assert found["smi"]["usable"] is True
    assert "cannot lock" in found["warnings"][0]


def test_the_lock_is_open_to_every_user(a2):
    _npu.gather(a2.runner)
    assert a2.path(_lock.NPU_SMI).stat().st_mode & 0o777 == 0o666


# the driver


@pytest.mark.parametrize(
    ("installed", "reported", "loaded", "on_disk", "pending"),
    [
        ("25.5.1", "25.5.1", None, None, False),
        ("25.5.2", "25.5.1", None, None, True),
        ("25.5.1", None, None, None, None),
        ("25.5.1", None, "ABCDEF0123456789", "ABCDEF0123456789", False),
        ("25.5.1", None, "ABCDEF0123456789", "0123456789ABCDEF", True),
        ("25.5.1", "25.5.1", "ABCDEF0123456789", "0123456789ABCDEF", True),
        ("25.0.RC1", "25.0.rc1", None, None, False),
    ],
)
def test_reboot_pending(node, installed, reported, loaded, on_disk, pending):
    node.file("/usr/local/Ascend/driver/version.info", "Version=%s\n" % installed)
    node.file("/proc/sys/kernel/osrelease", "5.10.0\n")
    if loaded:
        node.file("/sys/module/drv_pcie_host/srcversion", loaded + "\n")
        node.file("/lib/modules/5.10.0/updates/drv_pcie_host.ko", "\x7fELF\0license=GPL\0srcversion=%s\0" % on_disk)
    found = _driver.driver(node.runner, reported)
    assert found["reboot_pending"] is pending
    assert found["running"] == loaded


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("[7.0.0,7.1.99]", [["7.0.0", "7.1.99"]]),
        ("[23.0.rc3,23.0.rc3.],[23.0.0, 23.0.0.]", [["23.0.rc3", "23.0.rc3."], ["23.0.0", "23.0.0."]]),
        ("[V100R001C29],[V100R001C30]", []),
        ("", []),
        (None, []),
    ],
)
def test_firmware_ranges(text, ranges):
    assert _driver.ranges(text) == ranges


@pytest.mark.parametrize("path", ["", "relative", "/", "//"])
def test_a_senseless_install_path_is_not_followed(node, path):
    node.file("/etc/ascend_install.info", "Driver_Install_Path_Param=%s\n" % path)
    assert _driver.root_of(node.runner) == "/usr/local/Ascend"
