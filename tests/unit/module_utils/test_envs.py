# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python envs read from their files."""

from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _envs

PREFIX = "/opt/ascend-fleet/envs/x"
SITE = PREFIX + "/lib/python3.11/site-packages"


def dist(node, folder, name, version, body="\nName: not-this\n"):
    text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s" % (name, version, body)
    node.file("%s/%s/METADATA" % (SITE, folder), text)


def test_a_conda_env(node):
    node.file(PREFIX + "/conda-meta/python-3.11.9-h955ad1f_0.json")
    node.file(PREFIX + "/conda-meta/python_abi-3.11-4_cp311.json")
    dist(node, "torch-2.10.0+cpu.dist-info", "torch", "2.10.0+cpu")
    dist(node, "torch_npu-2.10.0.post4.dist-info", "torch_npu", "2.10.0.post4")
    dist(node, "Jinja2-3.1.4.dist-info", "Jinja2", "3.1.4")
    node.file(SITE + "/torch/__init__.py")
    assert _envs.gather(node.runner, PREFIX + "/") == {
        "exists": True,
        "python": "3.11.9",
        "packages": {"torch": "2.10.0+cpu", "torch-npu": "2.10.0.post4", "jinja2": "3.1.4"},
    }


def test_a_venv_names_its_python(node):
    node.file(PREFIX + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n")
    assert _envs.gather(node.runner, PREFIX)["python"] == "3.11.7"


def test_without_a_record_the_folder_gives_the_line(node):
    node.file(SITE + "/x.py")
    assert _envs.gather(node.runner, PREFIX)["python"] == "3.11"


def test_the_newest_line_counts(node):
    node.file(PREFIX + "/lib/python3.9/site-packages/x.py")
    node.file(SITE + "/x.py")
    assert _envs.site_packages(node.runner, PREFIX) == SITE


def test_nothing_there(runner):
    assert _envs.gather(runner, PREFIX) == {"exists": False, "python": None, "packages": {}}


def test_old_and_broken_metadata(node):
    node.file(SITE + "/egg.egg-info/PKG-INFO", "Name: egg\nVersion: 1.0\n")
    node.file(SITE + "/flat.egg-info", "Name: flat\nVersion: 2.0\n")
    node.file(SITE + "/empty-1.0.dist-info/METADATA", "")
    node.file(SITE + "/cut-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: cut\n")
    node.file(SITE + "/gone-1.0.dist-info/RECORD")
    node.file(SITE + "/late-1.0.dist-info/METADATA", "Name: late\n\nVersion: 1.0\n")
    dist(node, "twice-1.0.dist-info", "twice", "1.0", "Version: 9\n")
    assert _envs.gather(node.runner, PREFIX)["packages"] == {"egg": "1.0", "flat": "2.0", "twice": "1.0"}


@pytest.mark.parametrize("name", ["torch_npu", "Torch-NPU", "torch.npu", "torch--npu"])
def test_one_name_for_all_spellings(name):
    assert _envs.normalize(name) == "torch-npu"
