# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The driver and the firmware of a host as its files tell them; no tool is called."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Dict, List, Optional

from ._runner import Runner

RECORD = "/etc/ascend_install.info"
DEFAULT_ROOT = "/usr/local/Ascend"
_MODULES = ("drv_pcie_host", "drv_vpcie")  # on a host, in a virtual machine
_MODULE_FILES = tuple("/lib/modules/%s/" + folder + "/%s.ko" for folder in ("updates", "updates/dkms", "extra"))
_LARGEST_MODULE = 64 << 20  # bytes


def pairs(text: Optional[str]) -> Dict[str, str]:
    """``key=value`` lines; the last one of a key counts, quotes around a value are dropped."""
    found = {}  # type: Dict[str, str]
    for line in (text or "").splitlines():
        key, sign, value = line.partition("=")
        if sign and key.strip():
            found[key.strip()] = value.strip().strip('"')
    return found


def root_of(runner: Runner) -> str:
    """Folder that holds driver and firmware, as the installer recorded it."""
    path = pairs(runner.read(RECORD)).get("Driver_Install_Path_Param", "")
    return path.rstrip("/") if path.startswith("/") and path.strip("/") else DEFAULT_ROOT


def driver(runner: Runner, reported: Optional[str]) -> Optional[Dict[str, Any]]:
    """``driver`` of ``ascend_npu``, or None when nothing speaks of one.

    :param reported: version that npu-smi printed, None when it did not answer.
    """
    record = pairs(runner.read(RECORD))
    root = root_of(runner)
    file = pairs(runner.read(root + "/driver/version.info"))
    module = next((name for name in _MODULES if runner.is_dir("/sys/module/" + name)), None)
    if not (file.get("Version") or reported or module or "Driver_Install_Type" in record):
        return None
    running = _running(runner, module)
    for_all = record.get("Driver_Install_For_All", "").lower()
    return {
        "version": file.get("Version") or reported,
        "running": running,
        "reboot_pending": _pending(runner, file.get("Version"), reported, module),
        "user": record.get("UserName"),
        "group": record.get("UserGroup"),
        "for_all": {"yes": True, "no": False}.get(for_all),
        "install_path": root if file or record else None,
        "install_status": record.get("Driver_Install_Status"),
        "firmware_ranges": ranges(file.get("compatible_version_fw")),
        "source": "version.info" if file.get("Version") else "npu-smi" if reported else None,
    }


def ranges(text: Optional[str]) -> List[List[str]]:
    """``[7.0.0,7.1.99],[…]`` as [[low, high]], both ends included, as the driver means it."""
    return [[low, high] for low, high in re.findall(r"\[\s*([0-9][\w.]*)\s*,\s*([0-9][\w.]*)\s*\]", text or "")]


def _running(runner: Runner, module: Optional[str]) -> Optional[str]:
    for name in ("version", "srcversion") if module else ():
        text = (runner.read("/sys/module/%s/%s" % (module, name), 256) or "").strip()
        if text:
            return text
    return None


def _pending(
    runner: Runner, installed: Optional[str], reported: Optional[str], module: Optional[str]
) -> Optional[bool]:
    """Whether the installed driver waits for a reboot; None when neither versions nor modules can be compared."""
    if installed and reported and installed.lower() != reported.lower():
        return True
    loaded = (runner.read("/sys/module/%s/srcversion" % module, 256) or "").strip() if module else ""
    on_disk = _srcversion_on_disk(runner, module) if loaded else None
    if loaded and on_disk:
        return loaded != on_disk
    return False if installed and reported else None


def _srcversion_on_disk(runner: Runner, module: Optional[str]) -> Optional[str]:
    """Source version that the module file carries: the same text that the kernel shows for a loaded one."""
    kernel = (runner.read("/proc/sys/kernel/osrelease", 256) or "").strip()
    for pattern in _MODULE_FILES:
        raw = runner.read_bytes(pattern % (kernel, module), _LARGEST_MODULE)
        match = re.search(rb"\0srcversion=([0-9A-F]{10,40})\0", raw) if raw else None
        if match:
            return match.group(1).decode("ascii")
    return None


def firmware(
    runner: Runner, by_index: Dict[int, List[str]], board: Optional[Dict[str, Optional[str]]]
) -> Optional[Dict[str, Any]]:
    """``firmware`` of ``ascend_npu``: the version that most cards run, mixed when they differ.

    :param by_index: versions of each device index, from the upgrade tool.
    :param board: parse_board of the first card, used when nothing else speaks.
    """
    if by_index:
        counts = Counter(version for versions in by_index.values() for version in versions)
        most = max(counts.items(), key=lambda item: (item[1], item[0]))[0]
        return {"version": most, "source": "upgrade-tool", "mixed": len(counts) > 1}
    version = pairs(runner.read(root_of(runner) + "/firmware/version.info")).get("Version")
    if version:
        return {"version": version, "source": "version.info", "mixed": False}
    if board and board.get("firmware"):
        return {"version": board["firmware"], "source": "npu-smi", "mixed": False}
    return None
