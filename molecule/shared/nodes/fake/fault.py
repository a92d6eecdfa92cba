# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges the JSON object on standard input into the state of this node's fake hardware, then shows it everywhere."""

from __future__ import annotations

import json
import sys

import boot
import fake_state

state = fake_state.load()
change = json.load(sys.stdin)
unknown = sorted(set(change.get("devices") or {}) - set(state["devices"]))
if unknown:
    sys.exit("No device %s on this node, it has %s." % (", ".join(unknown), ", ".join(sorted(state["devices"]))))
fake_state.save(fake_state.merge(state, change))
boot.main(["refresh"])
