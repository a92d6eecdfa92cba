# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host that somebody had set up by hand: their files and the environment of their unit are as before."""

from __future__ import annotations

import json
from pathlib import Path

testinfra_hosts = ["ansible://a2-1"]
PICTURE = Path(__file__).resolve().parents[2] / "shared" / "playbooks" / "picture.py"


def test_every_foreign_file_has_its_content_mode_and_owner(root):
    taken = root.run("python3 -c %s /root/after.json", PICTURE.read_text())
    assert taken.rc == 0, taken.stderr
    before, after = (json.loads(root.file(f"/root/{name}.json").content_string) for name in ("before", "after"))
    assert len(before) > 20
    assert {path: after.get(path) for path in before} == before


def test_their_unit_gets_the_same_environment_at_its_next_start(root):
    assert root.run("systemctl restart theirs.service").rc == 0
    root.run("for n in 1 2 3 4 5 6 7 8 9 10; do test -s /run/theirs.env && break; sleep 0.2; done")
    volatile = ("INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID")

    def exported(path: str) -> list[str]:
        lines = root.file(path).content_string.splitlines()
        return [line for line in lines if not any(word in line for word in volatile)]

    assert exported("/root/theirs-before.env") == exported("/run/theirs.env")
    assert any("cann-8.5.0" in line for line in exported("/run/theirs.env"))


def test_ours_stands_beside_theirs(root):
    assert root.file("/usr/local/Ascend/cann-9.1.0").is_directory
    assert root.file("/usr/local/Ascend/cann").linked_to.endswith("cann-8.5.0")
