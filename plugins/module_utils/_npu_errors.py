# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Why npu-smi has no answer, in the words of the person who has to mend it.

Exit statuses are not to be trusted (many failures end in 0), so the text decides and the status only adds to it.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional

from ._npu_smi import lines_of

# A message of the library that stands before good output as well; alone it says nothing.
_HARMLESS = re.compile(r"DrvMngGetConsoleLogLevel failed", re.IGNORECASE)
_CODE = re.compile(r"\bret(?:urn)?(?: is |=| )\s*(-?\d{1,6})\b", re.IGNORECASE)
_LIBRARY = re.compile(r"error while loading shared libraries: ([^\s:]+)")

_BY_CODE = {
    -8002: "this user may not ask; npu-smi needs root or the driver's group",
    -8005: "the driver does not answer: it is not loaded, was changed without a reboot, does not fit the firmware, or "
    "this user is neither root nor in the driver's group",
    -8006: "a device did not answer in time",
    -8008: "a device is lost: it is no longer on the bus",
    -8012: "the devices are still starting",
    -8013: "npu-smi was called in a container that may not ask",
    -8015: "a device could not be reset",
    -8017: "a firmware upgrade is running",
    -8020: "a container or another process owns the devices; see /proc/uda/namespace_node",
}
_BY_TEXT = tuple(
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), meaning)
    for pattern, meaning in (
        (r"because the device is used", _BY_CODE[-8020]),
        (r"There is no NPU card", "the driver sees no NPU on this host"),
        (r"Failed to get (card number|device type)", "the driver is up and a device gives no answer"),
        (r"Invalid (card|chip|phy) id", "this id is not on the host; a lost card looks the same"),
        (r"does not support", "this product does not give that value"),
        (r"parallel|busy|being executed", "another npu-smi ran at the same time"),
        (r"Permission denied|not permitted|only by the root user", _BY_CODE[-8002]),
        (
            r"Command or option is not found|^\s*Usage: npu-smi",
            "npu-smi printed its help: the driver shows no usable chip",
        ),
    )
)
NOTHING_LISTED = "npu-smi listed no device: the driver shows no usable chip"


def fault(text: str, code: Optional[int], meaning: str) -> Dict[str, Any]:
    """The shape of ``smi.error``."""
    return {"text": text, "code": code, "meaning": meaning}


def find_error(out: str, err: str, rc: int, timeout: Optional[int] = None) -> Dict[str, Any]:
    """What went wrong in a call that gave no devices: {text, code, meaning}; always an answer, code None if unknown."""
    if rc in (124, 137):
        return fault(
            "no answer within %s seconds" % timeout,
            None,
            "npu-smi hangs: a device may be lost or the driver blocked; look at dmesg",
        )
    lines = [line.strip() for line in lines_of(err) + lines_of(out) if line.strip()]
    telling = [line for line in lines if not _HARMLESS.search(line)] or lines
    text = "\n".join(telling)[:2000]
    library = _LIBRARY.search(text)
    if library:
        meaning = "npu-smi cannot load %s: the driver's library folders are missing or not mounted" % library.group(1)
        return fault(_line_with(telling, library.group(0)), None, meaning)
    return (
        _by_code(telling)
        or _by_text(text, telling)
        or fault(
            (telling or ["exit status %d without a word" % rc])[0][:300],
            None,
            NOTHING_LISTED if rc == 0 else "npu-smi failed with exit status %d" % rc,
        )
    )


def _by_code(telling: List[str]) -> Optional[Dict[str, Any]]:
    for line in telling:
        match = _CODE.search(line)
        if match and int(match.group(1)) in _BY_CODE:
            code = int(match.group(1))
            return fault(line[:300], code, _BY_CODE[code])
    return None


def _by_text(text: str, telling: List[str]) -> Optional[Dict[str, Any]]:
    for pattern, meaning in _BY_TEXT:
        match = pattern.search(text)
        if match:
            line = _line_with(telling, match.group(0).strip())
            code = _CODE.search(line)
            return fault(line, int(code.group(1)) if code else None, meaning)
    return None


def _line_with(lines: List[str], part: str) -> str:
    return next((line for line in lines if part in line), part)[:300]
