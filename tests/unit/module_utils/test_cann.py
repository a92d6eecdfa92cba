# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ascend_cann: both layouts, links of every kind, broken installs, and what is ours."""

from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _cann

ROOT = "/usr/local/Ascend"
KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel/config"


def new_tree(node, version="9.1.0", root=ROOT, ops="Ascend-cann-910b-ops", arch="x86_64"):
    path = "%s/cann-%s" % (root, version)
    record = "package_name=Ascend-cann-toolkit\nversion=%s\narch=%s\npath=%s/%s-linux\n" % (version, arch, path, arch)
    node.file("%s/%s-linux/ascend_toolkit_install.info" % (path, arch), record)
    node.file(path + "/set_env.sh")
    if ops:
        record = "package_name=%s\nversion=%s\n" % (ops, version)
        node.file("%s/%s-linux/ascend_ops_install.info" % (path, arch), record)
    return path


def old_tree(node, version="8.1.RC1", root=ROOT, kernels=("ascend910b",), arch="aarch64"):
    path = "%s/ascend-toolkit/%s" % (root, version)
    node.file("%s/%s-linux/ascend_toolkit_install.info" % (path, arch), "version=%s\n" % version)
    node.file("%s/%s-linux/script/set_env.sh" % (path, arch))
    node.file(root + "/ascend-toolkit/set_env.sh")
    for folder in kernels:
        node.file(path + "/opp_kernel/version.info", "Version=7.7.0.1.238\nversion_dir=%s\n" % version)
        node.file("%s/%s/%s/abs.json" % (path, KERNELS, folder))
    return path


def state(path, key="toolkit-9.1.0", **more):
    made = {"paths": [], "links": [], "users": [], "units": [], "packages": []}
    return {"cann": {key: dict({"have": {"path": path}, "made": made, "origin": "installed"}, **more)}}


def only(found):
    assert len(found["trees"]) == 1, found["trees"]
    return found["trees"][0]


def test_a_host_without_cann(runner):
    assert _cann.gather(runner) == {"trees": [], "nnal": [], "active": None}


def test_the_newer_layout(node):
    path = new_tree(node)
    node.link(ROOT + "/cann", "cann-9.1.0")
    node.link(ROOT + "/ascend-toolkit/latest", "../cann-9.1.0")
    found = _cann.gather(node.runner)
    assert only(found) == {
        "version": "9.1.0", "path": path, "layout": "cann", "arch": "x86_64", "toolkit": "9.1.0",
        "ops": {"910b": "9.1.0"}, "complete": True, "env_scripts": [path + "/set_env.sh"],
        "links": [ROOT + "/ascend-toolkit/latest", ROOT + "/cann"], "origin": "foreign",
    }  # fmt: skip
    assert found["active"] == path


def test_the_older_layout_counts_once_under_all_its_names(node):
    path = old_tree(node, kernels=("ascend910b", "ascend310p"))
    node.link(ROOT + "/ascend-toolkit/8.1", "./8.1.RC1")
    node.link(ROOT + "/ascend-toolkit/latest", ROOT + "/ascend-toolkit/8.1")
    found = _cann.gather(node.runner)
    tree = only(found)
    assert (tree["path"], tree["layout"], tree["version"], tree["arch"]) == (path, "legacy", "8.1.RC1", "aarch64")
    assert tree["ops"] == {"310p": "8.1.RC1", "910b": "8.1.RC1"}
    assert tree["links"] == [ROOT + "/ascend-toolkit/8.1", ROOT + "/ascend-toolkit/latest"]
    assert tree["env_scripts"] == [path + "/aarch64-linux/script/set_env.sh", ROOT + "/ascend-toolkit/set_env.sh"]
    assert found["active"] == path


def test_latest_can_be_a_folder_of_links(node):
    old = old_tree(node, "8.0.RC3")
    path = old_tree(node)
    node.file(ROOT + "/ascend-toolkit/latest/version.cfg", "# version: 1.0\n")
    node.file(ROOT + "/ascend-toolkit/latest/var/manager.info")
    node.link(ROOT + "/ascend-toolkit/latest/compiler", "../8.1.RC1/compiler")
    node.file(path + "/compiler/version.info", "Version=7.7.0.1.238\n")
    found = _cann.gather(node.runner)
    assert [tree["path"] for tree in found["trees"]] == [old, path]
    assert found["active"] == path


def test_two_versions_side_by_side(node):
    new_tree(node, "8.5.0")
    path = new_tree(node, "9.1.0", ops="Ascend-cann-A3-ops")
    node.link(ROOT + "/cann", "cann-9.1.0")
    found = _cann.gather(node.runner)
    assert [(tree["version"], tree["ops"]) for tree in found["trees"]] == [
        ("8.5.0", {"910b": "8.5.0"}), ("9.1.0", {"a3": "9.1.0"}),
    ]  # fmt: skip
    assert found["active"] == path


def test_operators_of_another_version_than_the_folder(node):
    path = new_tree(node, "8.5.0", ops=None)
    node.file(path + "/x86_64-linux/ascend_ops_install.info", "package_name=Ascend-cann-910b-ops\nversion=9.0.0\n")
    assert only(_cann.gather(node.runner))["ops"] == {"910b": "9.0.0"}


def test_operators_of_a_package_that_is_not_known(node):
    path = new_tree(node, ops=None)
    node.file(path + "/x86_64-linux/ascend_ops_install.info", "package_name=Ascend-cann-960-ops\nversion=9.9.0\n")
    assert only(_cann.gather(node.runner))["ops"] == {"Ascend-cann-960-ops": "9.9.0"}


def test_kernels_without_a_chip(node):
    old_tree(node, kernels=("ascend999",))
    assert only(_cann.gather(node.runner))["ops"] == {"unknown": "8.1.RC1"}


@pytest.mark.parametrize(
    "loss",
    ["x86_64-linux/ascend_toolkit_install.info", "set_env.sh"],
)
def test_a_broken_install_is_not_complete(node, loss):
    path = new_tree(node)
    node.path(path + "/" + loss).unlink()
    tree = only(_cann.gather(node.runner))
    assert tree["complete"] is False
    assert tree["version"] == "9.1.0"


def test_an_empty_version_folder_is_a_tree_without_a_toolkit(node):
    node.path(ROOT + "/cann-9.1.0").mkdir(parents=True)
    tree = only(_cann.gather(node.runner))
    assert (tree["toolkit"], tree["arch"], tree["complete"], tree["env_scripts"]) == (None, None, False, [])


def test_names_that_are_no_versions_are_no_trees(node):
    for name in ("driver", "cann-custom", "ascend-toolkit/script", "nnae/8.0.RC3", "cann-9.1.0.txt"):
        node.file("%s/%s" % (ROOT, name) + ("" if name.endswith(".txt") else "/file"))
    node.link(ROOT + "/cann-9.0.0", "nowhere")
    node.link(ROOT + "/cann", "cann")
    assert _cann.gather(node.runner) == {"trees": [], "nnal": [], "active": None}


def test_further_roots_and_the_recorded_one(node):
    new_tree(node, "9.1.0")
    home = new_tree(node, "9.0.0", root="/home/me/Ascend")
    other = new_tree(node, "8.5.0", root="/opt/Ascend")
    node.link("/data/Ascend", "/home/me/Ascend")
    node.file(_cann.RECORD, "Toolkit_InstallPath=/opt/Ascend/cann-8.5.0\n")
    found = _cann.gather(node.runner, ["/home/me/Ascend/", "/data/Ascend", "relative"])
    assert [tree["path"] for tree in found["trees"]] == [ROOT + "/cann-9.1.0", home, other]


def test_a_root_that_is_a_link(node):
    new_tree(node, root="/data/Ascend")
    node.link(ROOT, "/data/Ascend")
    node.link("/data/Ascend/cann", "cann-9.1.0")
    found = _cann.gather(node.runner, stack=state(ROOT + "/cann-9.1.0"))
    tree = only(found)
    assert (tree["path"], tree["origin"]) == ("/data/Ascend/cann-9.1.0", "ours")
    assert found["active"] == tree["path"]


@pytest.mark.parametrize(
    ("stack", "origin"),
    [
        (state(ROOT + "/cann-9.1.0"), "ours"),
        (state(ROOT + "/cann-9.1.0", status="installing"), "ours"),
        (state(ROOT + "/cann-9.1.0", origin="adopted"), "foreign"),
        (state(ROOT + "/cann-9.1.0", key="ops-910b-9.1.0"), "foreign"),
        (state(ROOT + "/cann-8.5.0"), "foreign"),
        ({"cann": {"toolkit-9.1.0": None}}, "foreign"),
        ({}, "foreign"),
    ],
)
def test_ours_is_what_a_toolkit_state_names(node, stack, origin):
    new_tree(node)
    assert only(_cann.gather(node.runner, stack=stack))["origin"] == origin


def test_nnal(node):
    for version, text in (
        ("8.1.RC1", "    Ascend-cann-atb : 8.1.RC1\n    Ascend-cann-atb Version : 8.1.RC1.B150\n"),
        ("9.1.0", "Ascend-cann-atb : 9.1.0\n"),
        ("9.0.0", "nothing that helps\n"),
    ):
        node.file("%s/nnal/atb/%s/version.info" % (ROOT, version), text)
    node.link(ROOT + "/nnal/atb/latest", "9.1.0")
    assert _cann.gather(node.runner)["nnal"] == [
        {"version": "8.1.RC1", "path": ROOT + "/nnal/atb/8.1.RC1", "active": False},
        {"version": "9.1.0", "path": ROOT + "/nnal/atb/9.1.0", "active": True},
    ]


@pytest.mark.parametrize(
    ("links", "asked", "found"),
    [
        ({"/a": "b"}, "/a", "/b"),
        ({"/a": "/b/./c/.."}, "/a/x", "/b/x"),
        ({"/a": "../../../b"}, "/a", "/b"),
        ({"/a": "/c", "/c": "a"}, "/a", None),
        ({"/a": "/nowhere"}, "/a", None),
        ({}, "/", "/"),
    ],
)
def test_links_are_followed_below_the_nodes_root(node, links, asked, found):
    for name in ("/b/x", "/b/c/y"):
        node.file(name)
    for name, target in links.items():
        node.link(name, target)
    assert _cann.resolve(node.runner, asked) == found
