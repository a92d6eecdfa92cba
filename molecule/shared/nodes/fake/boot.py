# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a container look like an Ascend server; run at every boot of a test node, and with ``refresh`` after a fault.

First boot: keys, state, files of the driver. Every boot: device nodes (/dev is new then), the view of the PCI bus.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

import fake_state

SEED, HOME, ASCEND = "/etc/fake-npu/seed", "/usr/local/lib/fake-npu", "/usr/local/Ascend"
PCI, PCI_VIEW = "/sys/bus/pci/devices", "/run/fake-npu/pci"
DONE = "/var/lib/fake-npu/driver-files"
USER = "HwHiAiUser"
TOOL = '#!/bin/sh\nexec /usr/bin/python3 -ES %s/%s.py "$@"\n'


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path, "w") as stream:
        stream.write(text)
    os.chmod(path, mode)


def run(*argv):
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)


def keys():
    """Host key before sshd starts, the run's public key for the ordinary user."""
    for name, mode in (("ssh_host_ed25519_key", 0o600), ("ssh_host_ed25519_key.pub", 0o644)):
        with open(os.path.join(SEED, name)) as stream:
            put("/etc/ssh/" + name, stream.read(), mode)
    with open(os.path.join(SEED, "authorized_keys")) as stream:
        put("/home/ops/.ssh/authorized_keys", stream.read(), 0o600)
    os.chmod("/home/ops/.ssh", 0o700)
    for path in ("/home/ops/.ssh", "/home/ops/.ssh/authorized_keys"):
        shutil.chown(path, "ops", "ops")


def driver_files(state):
    """What an installed driver leaves, as of its package: versions, record, tools, user. Never done twice."""
    if not state["driver"] or os.path.exists(DONE):
        return
    run("groupadd", "-f", "-g", "1000", USER)
    run("useradd", "-g", USER, "-u", "1000", "-d", "/home/" + USER, "-m", "-s", "/bin/bash", USER)
    driver, firmware = state["driver"], state["firmware"]
    put(
        ASCEND + "/driver/version.info",
        "".join(
            line + "\n"
            for line in (
                "Version=" + driver,
                "ascendhal_version=7.35.23",
                "aicpu_version=1.0",
                "tdt_version=1.0",
                "log_version=1.0",
                "prof_version=2.0",
                "dvppkernels_version=1.1",
                "tsfw_version=1.0",
                "Innerversion=V100R001C25SPC001B001",
                "compatible_version=[V100R001C20],[V100R001C21],[V100R001C23],[V100R001C25]",
                "compatible_version_fw=[7.0.0,9.9.9]",
                "package_version=" + driver,
            )
        ),
        0o444,
    )
    put(
        ASCEND + "/firmware/version.info",
        "".join(
            line + "\n"
            for line in (
                "Version=" + firmware,
                "firmware_version=1.0",
                "package_version=" + driver,
                "compatible_version_drv=[23.0.rc3,23.0.rc3.],[23.0.0,99.0.0.]",
            )
        ),
        0o444,
    )
    put(
        "/etc/ascend_install.info",
        "".join(
            line + "\n"
            for line in (
                "UserName=" + USER,
                "UserGroup=" + USER,
                "Firmware_Install_Type=full",
                "Firmware_Install_Path_Param=" + ASCEND,
                "Driver_Install_Type=full",
                "Driver_Install_Path_Param=" + ASCEND,
                "Driver_Install_For_All=" + ("yes" if state.get("for_all") else "no"),
                "Driver_Install_Mode=normal",
                "Driver_Install_Status=complete",
            )
        ),
    )
    for folder in ("common", "driver"):
        os.makedirs(ASCEND + "/driver/lib64/" + folder, mode=0o755, exist_ok=True)
    put(ASCEND + "/driver/lib64/common/libc_sec.so", "")
    put(ASCEND + "/driver/lib64/driver/libdrvdsmi_host.so", "")
    put("/usr/local/dcmi/libdcmi.so", "")
    put(ASCEND + "/driver/tools/upgrade-tool", TOOL % (HOME, "upgrade_tool"), 0o755)
    put(ASCEND + "/driver/tools/hccn_tool", TOOL % (HOME, "hccn_tool"), 0o755)
    os.symlink(ASCEND + "/driver/tools/hccn_tool", "/usr/bin/hccn_tool")
    with open(HOME + "/npu-smi") as stream:
        put("/usr/local/sbin/npu-smi", stream.read(), 0o755)
    os.symlink("/usr/local/sbin/npu-smi", "/usr/local/bin/npu-smi")
    put(DONE, "")


def _make_node(path, mode):
    if not os.path.exists(path):
        # Same numbers as /dev/null: can be opened and held like a real one, harmless when written to.
        os.mknod(path, stat.S_IFCHR | mode, os.makedev(1, 3))
    shutil.chown(path, USER, USER)
    os.chmod(path, mode)


def device_nodes(state):
    """The nodes that host_sys_init leaves, of the driver's group."""
    wanted = {"/dev/davinci%d" % device["phy"] for device in fake_state.devices(state)} if state["driver"] else set()
    for name in os.listdir("/dev"):
        path = "/dev/" + name
        if fake_state.DEVICE_NODE.match(path) and path not in wanted:
            os.unlink(path)
    if wanted:
        for path in [*sorted(wanted), "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"]:
            _make_node(path, 0o666 if state.get("for_all") else 0o660)


def pci_view(state):
    """A folder of PCI functions in place of the machine's own: the bus that fact code reads.

    Functions of a lost chip are gone, as they are on a real bus.
    """
    if not os.path.isdir(PCI):
        raise SystemExit("%s is absent on this machine, nothing can be shown in its place" % PCI)
    os.makedirs(PCI_VIEW, exist_ok=True)
    if not os.path.ismount(PCI):
        run("mount", "--bind", PCI_VIEW, PCI)
    lost = {key for key, device in state["devices"].items() if device.get("lost")}
    shown = [entry for entry in state["pci"] if not set(entry[6:]) & lost]
    for name in set(os.listdir(PCI_VIEW)) - {entry[0] for entry in shown}:
        shutil.rmtree(os.path.join(PCI_VIEW, name))
    for address, vendor, device, subvendor, subdevice, kind, *_owner in shown:
        values = {
            "vendor": vendor,
            "device": device,
            "subsystem_vendor": subvendor,
            "subsystem_device": subdevice,
            "class": kind,
        }
        for name, value in values.items():
            put("%s/%s/%s" % (PCI_VIEW, address, name), "0x%s\n" % value, 0o444)
        put("%s/%s/numa_node" % (PCI_VIEW, address), "0\n")


def main(words):
    os.umask(0o022)
    os.makedirs("/run/fake-npu", exist_ok=True)
    for path in ("/run/fake-npu/npu-smi.lock", "/var/lib/fake-npu/calls.log"):
        if not os.path.exists(path):
            put(path, "", 0o666)
    if "refresh" not in words:
        if not os.path.exists(fake_state.STATE):
            shutil.copy(SEED + "/state.json", fake_state.STATE)
        keys()
    state = fake_state.load()
    driver_files(state)
    device_nodes(state)
    pci_view(state)


if __name__ == "__main__":
    main(sys.argv[1:])
