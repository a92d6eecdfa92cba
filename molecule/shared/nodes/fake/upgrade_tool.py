# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated upgrade-tool of the driver: the firmware of every component of every chip, in text that is almost JSON."""

from __future__ import annotations

import sys

import fake_state

COMPONENTS = (("nve", 0), ("uefi", 3), ("imu", 8), ("imp", 9))


def main(words):
    arguments = dict(zip(words[::2], words[1::2]))
    if not {"--version", "--system_version"} & set(words):
        print("Command is invalid, use --help.")
        return 1
    wanted = arguments.get("--device_index", "-1")
    print("{")
    for device in fake_state.devices(fake_state.load()):
        if wanted not in ("-1", str(device["logic"])):
            continue
        if "--system_version" in words:
            print('{"device_id":%d, "version":%s}' % (device["logic"], device["firmware"]))
            continue
        for name, kind in COMPONENTS:
            print(
                "Get component version(%s) succeed for deviceId(%d), componentType(%d)."
                % (device["firmware"], device["logic"], kind)
            )
            print('{"device_id":%d, "component":%s, "version":%s}' % (device["logic"], name, device["firmware"]))
    print("}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
