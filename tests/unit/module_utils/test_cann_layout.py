# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import cann_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _cann_layout as layout

ROOT = world.ROOT
TREE = ROOT + "/cann-9.1.0"


@pytest.fixture
def node(tmp_path):
    return world.World(tmp_path / "node")


def test_toolkit_in_both_layouts(node):
    node.by_hand("9.1.0")
    node.write(ROOT + "/ascend-toolkit/8.3.RC2/x86_64-linux/ascend_toolkit_install.info", "version=8.3.RC2\n")
    assert layout.toolkit(node.runner, ROOT, "9.1.0", "x86_64").path == TREE
    assert layout.toolkit(node.runner, ROOT, "8.3.RC2", "x86_64").path == ROOT + "/ascend-toolkit/8.3.RC2"
    assert layout.toolkit(node.runner, ROOT, "9.1.0", "aarch64").status == layout.PARTIAL
    assert layout.toolkit(node.runner, ROOT, "9.2.0", "x86_64").status == layout.ABSENT
    assert layout.versions(node.runner, ROOT, "toolkit") == ["8.3.RC2", "9.1.0"]
    assert layout.active(node.runner, ROOT, "x86_64") == "9.1.0"


def test_a_link_named_like_a_version_is_no_tree(node):
    node.by_hand("9.1.0")
    node.link(ROOT + "/cann-9.1", "cann-9.1.0")
    assert layout.toolkit(node.runner, ROOT, "9.1", "x86_64").status == layout.ABSENT


@pytest.mark.parametrize("text", ["", "version", "version=9.0.0", "\0\0version=9.2.0\n=\n"])
def test_cut_or_other_toolkit_files_are_partial(node, text):
    node.write(TREE + "/x86_64-linux/ascend_toolkit_install.info", text)
    found = layout.toolkit(node.runner, ROOT, "9.1.0", "x86_64")
    assert found.status == layout.PARTIAL
    assert TREE in found.why


def test_an_empty_folder_is_nothing(node):
    node.runner.make_folder(TREE)
    assert layout.toolkit(node.runner, ROOT, "9.1.0", "x86_64").status == layout.ABSENT


@pytest.mark.parametrize(
    "name, family, status",
    [
        ("Ascend-cann-910b-ops", "910b", layout.COMPLETE),
        ("Ascend-cann-910b-ops", "910", layout.OTHER),
        ("Ascend-cann-A3-ops", "a3", layout.COMPLETE),
        ("Ascend-cann-310p-ops", "310p", layout.COMPLETE),
        ("Ascend-cann-kernels-910b", "910b", layout.COMPLETE),
        ("", "910b", layout.OTHER),
    ],
)
def test_operators_by_chip(node, name, family, status):
    node.write(TREE + "/x86_64-linux/ascend_ops_install.info", "package_name=%s\nversion=9.1.0\n" % name)
    assert layout.ops(node.runner, TREE, "9.1.0", family, "x86_64").status == status


def test_operators_of_another_version_and_none(node):
    assert layout.ops(node.runner, None, "9.1.0", "910b", "x86_64").status == layout.ABSENT
    assert layout.ops(node.runner, TREE, "9.1.0", "910b", "x86_64").status == layout.ABSENT
    node.write(TREE + "/x86_64-linux/ascend_ops_install.info", "package_name=Ascend-cann-910b-ops\nversion=9.0.0\n")
    assert layout.ops(node.runner, TREE, "9.1.0", "910b", "x86_64").status == layout.OTHER


@pytest.mark.parametrize(
    "text, status",
    [
        ("Version=7.7.0\nversion_dir=8.3.RC2\n", layout.COMPLETE),
        ("version_dir=8.2.RC1\n", layout.OTHER),
        ("Ver", layout.PARTIAL),
    ],
)
def test_kernels_of_the_legacy_layout(node, text, status):
    tree = ROOT + "/ascend-toolkit/8.3.RC2"
    node.write(tree + "/opp_kernel/version.info", text)
    assert layout.ops(node.runner, tree, "8.3.RC2", "910b", "x86_64").status == status


@pytest.mark.parametrize(
    "text, library, status",
    [
        ("    Ascend-cann-atb : 9.1.0\n", True, layout.COMPLETE),
        ("Ascend-cann-atb Version : 9.1.0.B150\n", True, layout.COMPLETE),
        ("Ascend-cann-atb : 9.1.0\n", False, layout.PARTIAL),
        ("Ascend-cann-atb : 9.1.01\n", True, layout.PARTIAL),
        ("Ascend-ca", True, layout.PARTIAL),
    ],
)
def test_nnal(node, text, library, status):
    folder = ROOT + "/nnal/atb/9.1.0"
    node.write(folder + "/version.info", text)
    if library:
        node.write(folder + "/atb/cxx_abi_0/lib/libatb.so")
    assert layout.nnal(node.runner, ROOT, "9.1.0").status == status
    assert layout.versions(node.runner, ROOT, "nnal") == ["9.1.0"]


def test_roots_and_pins():
    assert layout.root_of(TREE) == ROOT
    assert layout.root_of("/opt/a/ascend-toolkit/8.3.RC2") == "/opt/a"
    assert layout.root_of("/opt/a/nnal/atb/8.3.RC2") == "/opt/a"
    assert layout.pins(TREE, "/opt/a/nnal/atb/9.1.0") == {
        ROOT + "/cann": TREE,
        ROOT + "/ascend-toolkit/latest": TREE,
        "/opt/a/nnal/atb/9.1.0/latest": "/opt/a/nnal/atb/9.1.0",
        "/opt/a/nnal/atb/latest": "/opt/a/nnal/atb/9.1.0",
        "/opt/a/nnal/asdsip/latest": "/opt/a/nnal/asdsip/9.1.0",
    }


def test_anything_of_cann_counts_as_a_cann(node):
    assert not layout.any_cann(node.runner, ROOT)
    node.write(ROOT + "/driver/version.info", "Version=25.5.1\n")
    assert not layout.any_cann(node.runner, ROOT)
    node.write(world.RECORD, "x")
    assert layout.any_cann(node.runner, ROOT)


def test_usable_takes_the_asked_root_before_another(node):
    node.by_hand("9.1.0")
    other = "/opt/ascend"
    node.write(other + "/cann-9.1.0/x86_64-linux/ascend_toolkit_install.info", "version=9.1.0\n")
    node.write(other + "/cann-9.1.0/set_env.sh", ":")
    assert layout.usable(node.runner, other, "9.1.0") == other + "/cann-9.1.0"
    assert layout.usable(node.runner, "/none", "9.1.0") == TREE
    assert layout.usable(node.runner, ROOT, "9.9.9") is None
