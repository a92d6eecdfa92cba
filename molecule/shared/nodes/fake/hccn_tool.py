# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated hccn_tool (A1 to A3: -i PHY -ITEM -g); the state's ``hccn`` holds {"<phy>": {"ip": …, "link": …}}."""

from __future__ import annotations

import sys

import fake_state


def main(words):
    state = fake_state.load()
    number = words[words.index("-i") + 1] if "-i" in words[:-1] else ""
    if number not in {str(device["phy"]) for device in fake_state.devices(state)}:
        sys.stderr.write("The device is not exist!\n")
        return 4
    port = (state.get("hccn") or {}).get(number, {})
    if "-link" in words:
        print("link status: %s" % port.get("link", "UP"))
    elif "-net_health" in words:
        print("net health status: %s" % port.get("net_health", "Success"))
    elif "-ip" in words and "ip" in port:
        print("ipaddr:%s\nnetmask:%s" % (port["ip"], port.get("netmask", "255.255.255.0")))
    elif "-ip" in words:
        sys.stderr.write("Get ipconf failed, because no ip was preset there!\n")
        return 13
    else:
        sys.stderr.write("The command is not supported on this product.\n")
        return 13
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
