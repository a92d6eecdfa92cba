# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Devices of this host, and which of them the process may see.

Where they come from, first that gives an answer: FAKE_NPU_COUNT; the state of the simulated hardware; the device nodes.
"""

from __future__ import annotations

import json
import os
import re

STATE = "/etc/fake-npu/state.json"
NODES = "/dev"


def host_devices() -> list[dict]:
    """Devices in the order of their logical ids, each {phy, name}; name is "" where nothing tells it."""
    count = os.environ.get("FAKE_NPU_COUNT")
    if count is not None:
        return [{"phy": index, "name": os.environ.get("FAKE_NPU_NAME", "")} for index in range(int(count))]
    try:
        with open(STATE, encoding="utf-8") as stream:
            rows = json.load(stream)["devices"].values()
    except OSError:
        nodes = (re.fullmatch(r"davinci([0-9]+)", name) for name in os.listdir(NODES))
        return [{"phy": number, "name": ""} for number in sorted(int(match[1]) for match in nodes if match)]
    alive = sorted((row for row in rows if not row.get("lost")), key=lambda row: row["logic"])
    return [{"phy": row["phy"], "name": row.get("name") or chip_name()} for row in alive]


def chip_name() -> str:
    """Name of the chip by the state of the simulated hardware, "" where there is none."""
    try:
        with open(STATE, encoding="utf-8") as stream:
            return json.load(stream).get("name") or ""
    except OSError:
        return ""


def visible_ids(setting: str | None, count: int) -> list[int]:
    """Logical ids that CANN takes from ASCEND_RT_VISIBLE_DEVICES on a host with COUNT devices.

    Everything from the first character, order or number on that it does not accept is dropped without a word:
    "1, 2" gives [1], "1,3,8" on 8 devices gives [1, 3], "2,1" gives [2].
    """
    if setting is None:
        return list(range(count))
    ids: list[int] = []
    for word in setting.split(","):
        if not re.fullmatch(r"[0-9]+", word) or int(word) >= count or (ids and int(word) <= ids[-1]):
            break
        ids.append(int(word))
    return ids


def visible_devices() -> list[dict]:
    """Devices of this process in the order it numbers them, each {phy, name, logic}."""
    devices = host_devices()
    ids = visible_ids(os.environ.get("ASCEND_RT_VISIBLE_DEVICES"), len(devices))
    return [dict(devices[index], logic=index) for index in ids]
