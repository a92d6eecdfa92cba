# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _work
from env_world import Node


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def test_the_place_is_private_clean_and_gone_afterwards(node):
    node.file("/var/cache/ascend-fleet/work/x/old", "left by a run that was killed")
    with _work.Work(node.runner, "x", 60) as work:
        assert node.runner.names(work.folder) == ["home", "tmp"]
        assert os.stat(node.path(work.folder)).st_mode & 0o777 == 0o700
    assert not node.runner.lexists("/var/cache/ascend-fleet/work/x")


def test_a_failure_carries_the_remedy_the_last_lines_and_the_place_of_the_rest(node):
    node.on("tool", (3, "\n".join(map(str, range(50))), "from https://user:secret@mirror.example/simple\nboom"))
    with pytest.raises(_work.Failed) as caught, _work.Work(node.runner, "x", 60) as work:
        work.call(["tool"], "Trying it", advice=lambda text: "Do this." if "boom" in text else None)
    result = caught.value.result()
    assert result["msg"].startswith("Trying it failed with exit status 3. Do this. The whole output is in ")
    assert result["log"][-1] == "boom"
    log = node.runner.read("/var/cache/ascend-fleet/logs/x.log")
    assert "\n0\n1\n" in log
    assert "secret" not in log + result["msg"]


def test_commands_get_nothing_of_the_account(node):
    node.on("tool")
    with _work.Work(node.runner, "x", 60) as work:
        work.call(["tool"], "Trying it", env={"MORE": "1"})
    environment = node.environments[0]
    assert environment["HOME"] == "/var/cache/ascend-fleet/work/x/home"
    assert environment["PYTHONPATH"] == ""
    assert environment["MORE"] == "1"


def test_the_time_is_for_all_of_the_work(node):
    node.on("tool")
    with pytest.raises(_work.Failed, match="did not end within 0 s"), _work.Work(node.runner, "x", 0) as work:
        work.call(["tool"], "Trying it")
    assert node.calls == []


def test_a_command_that_was_ended_by_the_clock_is_told_apart(node):
    node.on("tool", (124, "", ""))
    with pytest.raises(_work.Failed, match="did not end within 1 s"), _work.Work(node.runner, "x", 1) as work:
        work.call(["tool"], "Trying it")
    with pytest.raises(_work.Failed, match="exit status 124"), _work.Work(node.runner, "x", 600) as work:
        work.call(["tool"], "Trying it")


def test_a_place_without_exec_is_refused(node, monkeypatch):
    monkeypatch.setattr(node.runner, "space", lambda path: {"noexec": True})
    with pytest.raises(_work.Failed, match="noexec"), _work.Work(node.runner, "x", 60):
        pass


@pytest.mark.parametrize("path", ["/", "/opt", "opt/x/y", "/opt/../etc", ""])
def test_no_tree_near_the_root_is_removed(node, path):
    with pytest.raises(ValueError, match="refusing"):
        _work.remove_tree(node.runner, path)


def test_a_link_is_removed_and_not_followed(node):
    node.file("/data/kept/file", "x")
    os.makedirs(node.path("/opt/x"))
    os.symlink(node.path("/data/kept"), node.path("/opt/x/env"))
    assert _work.remove_tree(node.runner, "/opt/x/env")
    assert node.runner.read("/data/kept/file") == "x"
    assert not _work.remove_tree(node.runner, "/opt/x/env")


def test_the_frames_of_a_traceback_are_left_out():
    err = """Traceback (most recent call last):
  File "/e/bin/vllm", line 3, in <module>
    import torch
    ^^^^^^^^^^^^
  File "/e/lib/torch.py", line 9, in <module>
    raise RuntimeError(
RuntimeError: libhccl.so: cannot open

  note: This error originates from a subprocess, and is likely not a problem with pip.
"""
    assert _work.last_lines(_work.Result(1, "", err)) == [
        "Traceback (most recent call last):",
        "RuntimeError: libhccl.so: cannot open",
    ]
