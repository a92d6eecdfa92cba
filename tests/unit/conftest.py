# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets every unit test import the collection, and gives it a node that is a folder.

The code for nodes is tested on every Python that a node may have, without Ansible. Tests of the controller's code and
of the modules themselves are left to the Pythons that have Ansible.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CHECKOUT = Path(__file__).resolve().parents[2]
NAME = "ansible_collections.ascend.fleet"


def _make_importable() -> None:
    """A checkout of any name becomes ansible_collections.ascend.fleet by a link, as `make link` makes it."""
    try:
        found = importlib.util.find_spec(NAME)
    except ModuleNotFoundError:
        found = None
    if found is not None:
        return
    link = CHECKOUT / ".collections/ansible_collections/ascend/fleet"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to("../../..")
    sys.path.insert(0, str(CHECKOUT / ".collections"))
    importlib.invalidate_caches()


_make_importable()
settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=3000)
settings.load_profile(os.environ.get("FLEET_HYPOTHESIS", "quick"))

collect_ignore = []
if importlib.util.find_spec("ansible") is None:
    collect_ignore += ["action", "modules", "nodes", "plugin_utils"]


class Node:
    """A node in a folder: files below ``root``, commands by what was promised for them.

    ``answers`` maps a command line ("npu-smi info -m", the program without its folder) to (rc, out, err); anything else
    is a command that does not exist. ``calls`` lists the command lines in order, ``environ`` is that of the last one.
    """

    def __init__(self, root: Path) -> None:
        from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

        self.root = root
        self.answers: dict = {}
        self.calls: list = []
        self.environ: dict = {}
        self.runner = Runner(self._run, root=str(root))

    def _run(self, argv, environ_update=None, **_how):
        words = argv[4:] if argv[0] == "timeout" else argv
        line = " ".join([os.path.basename(words[0]), *words[1:]])
        self.calls.append(line)
        self.environ = environ_update or {}
        return self.answers.get(line, (127, "", "%s: command not found" % words[0]))

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def file(self, name: str, text: str = "", mode: int = 0o644) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def link(self, name: str, target: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def program(self, name: str, **lines) -> None:
        """An executable, and what it answers: program("/usr/local/sbin/npu-smi", **{"info -m": (0, "…", "")})."""
        self.file(name, "", 0o755)
        for words, answer in lines.items():
            self.answers["%s %s" % (os.path.basename(name), words)] = answer


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path / "node")


@pytest.fixture
def runner(node):
    return node.runner
