# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host on which somebody had installed an older CANN: everything of theirs is the same as before."""

from __future__ import annotations

import json

testinfra_hosts = ["ansible://t_cann_310p"]
ASCEND = "/usr/local/Ascend"


def test_everything_that_was_there_is_the_same(root):
    assert root.run("python3 /root/picture.py /root/after.json").rc == 0
    before, after = (json.loads(root.file(f"/root/{name}.json").content_string) for name in ("before", "after"))
    assert {path: after.get(path) for path in before} == before
    new = {path for path in after if path not in before}
    ours = (f"{ASCEND}/cann-9.1.0", f"{ASCEND}/nnal", "/etc/Ascend/2")  # the installer's dated copy of the record
    assert [path for path in sorted(new) if not path.startswith(ours)] == []
    assert f"{ASCEND}/nnal/atb/latest" not in new


def test_ours_is_complete_and_for_this_chip(state):
    assert state("cann", "toolkit-9.1.0")["status"] == "complete"
    assert state("cann", "ops-310p-9.1.0")["have"]["family"] == "310p"
    assert state("cann", "env-9.1.0")["have"]["tree"] == f"{ASCEND}/cann-9.1.0"


def test_what_is_theirs_has_no_state_of_ours(state):
    assert state("cann", "toolkit-8.5.0") is None
