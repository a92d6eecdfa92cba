"""The guard in front of every playbook: the real ansible-playbook against interpreters that no module runs on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Answers which version it is, and to everything else what an old Python answers to the files of a newer ansible-core.
OLD_PYTHON = """#!/bin/sh
[ "$1" = -c ] && exec printf 3.6.8
echo 'SyntaxError: invalid syntax' >&2
exit 1
"""


def guard(tmp_path: Path, interpreter: str, *words: str) -> subprocess.CompletedProcess[str]:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(
        "ascend_nodes: {hosts: {n1: {ansible_connection: local, ansible_become: false, "
        "ansible_python_interpreter: %s}}}\n" % interpreter
    )
    program = Path(sys.executable).parent / "ansible-playbook"
    environ = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(
        [str(program), "-i", str(inventory), "playbooks/guard.yml", *words],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["old", "none"])
def test_a_node_without_a_usable_python_is_told_in_one_line(tmp_path: Path, kind: str) -> None:
    interpreter = tmp_path / "python3"
    if kind == "old":
        interpreter.write_text(OLD_PYTHON)
        interpreter.chmod(0o755)
    done = guard(tmp_path, str(interpreter))
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("fatal: [n1]")]
    have = "%s is Python 3.6.8" % interpreter if kind == "old" else "The node has no "
    assert have in line and "or newer on the node." in line and "set ansible_python_interpreter" in line
    assert "SyntaxError" not in done.stdout + done.stderr
    assert done.returncode == 2
    assert "failed        n1  ascend_probe : Look at the host: The node" in done.stdout


def test_a_node_with_a_usable_python_passes(tmp_path: Path) -> None:
    done = guard(tmp_path, sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unchanged     n1" in done.stdout


def test_an_inventory_without_the_group_is_said(tmp_path: Path) -> None:
    done = guard(tmp_path, sys.executable, "-e", "ascend_hosts=ascend_nodes_of_nobody")
    assert "no host matches ascend_nodes_of_nobody" in done.stdout
