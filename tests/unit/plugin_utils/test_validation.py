# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the instances of a host answered, against what its inventory wants."""

from __future__ import annotations

from ansible_collections.ascend.fleet.plugins.plugin_utils import validation


def row(name="chat", **more):
    base = {
        "name": name,
        "state": "started",
        "port": 8000,
        "model": "m",
        "devices": ["0", "1"],
        "ready": True,
        "completion": "Paris",
        "latency_s": 0.4,
        "error": None,
    }
    return dict(base, **more)


def errors(asked, wanted=()):
    return validation.errors(validation.rows(asked, wanted))


def test_one_that_answers_is_well_wanted_or_not():
    assert errors([row()]) == []
    assert errors([row()], [{"name": "chat"}]) == []


def test_one_that_is_wanted_and_not_there():
    assert errors([], [{"name": "chat"}]) == ["chat is not on this node: run the role vllm_service."]


def test_stopped_is_well_unless_it_is_wanted_started():
    stopped = row(state="stopped", ready=None, completion=None)
    assert errors([stopped]) == []
    assert errors([stopped], [{"name": "chat", "state": "stopped"}]) == []
    assert "wanted started" in errors([stopped], [{"name": "chat"}])[0]


def test_one_that_runs_against_the_inventory():
    assert "wanted absent" in errors([row()], [{"name": "chat", "state": "absent"}])[0]
    assert errors([], [{"name": "chat", "state": "absent"}]) == []


def test_the_table_has_a_line_for_each_and_pads_its_columns():
    lines = validation.table("n1", validation.rows([row(), row("b", devices=[], port=80000, pending_restart=True)], []))
    assert lines == [
        "n1:  b     port 80000  all NPUs  ready, serves m, answered in 0.4 s: Paris, restart pending",
        "n1:  chat  port 8000   NPU 0 1   ready, serves m, answered in 0.4 s: Paris",
    ]


def test_a_failure_is_told_by_its_first_line():
    lines = validation.table("n1", [row(error="it failed. Next: x\n  journal", ready=False)])
    assert lines[0].endswith("NOT READY: it failed. Next: x")


def test_a_host_without_instances_says_so():
    assert validation.table("n1", []) == ["n1: no instances"]
