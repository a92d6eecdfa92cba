# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import cann_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _cann_env, _state
from ansible_collections.ascend.fleet.plugins.module_utils._script_env import EnvError, Script

ROOT = world.ROOT
TREE = ROOT + "/cann-9.1.0"
NNAL = ROOT + "/nnal/atb/9.1.0"
DEST = "/etc/ascend-fleet/cann-9.1.0.env"


@pytest.fixture
def node(tmp_path):
    node = world.World(tmp_path / "node")
    node.by_hand("9.1.0")
    node.write(NNAL + "/version.info", "Ascend-cann-atb : 9.1.0\n")
    node.write(NNAL + "/atb/set_env.sh", ": atb\n")
    for folder in (TREE + "/opp", NNAL + "/atb/cxx_abi_1"):
        node.runner.make_folder(folder)
    node.env = {
        "ASCEND_HOME_PATH": ROOT + "/cann",
        "ASCEND_TOOLKIT_HOME": TREE,
        "ASCEND_OPP_PATH": TREE + "/opp",
        "ATB_HOME_PATH": ROOT + "/nnal/atb/latest/atb/cxx_abi_1",
    }
    return node


def wanted(**more):
    values = {
        "version": "9.1.0",
        "nnal_version": "9.1.0",
        "cxx_abi": 1,
        "install_path": ROOT,
        "dest": DEST,
        "scripts": [],
    }
    values.update(more)
    return _cann_env.Wanted(**values)


def write(node, want):
    sources = _cann_env.find(node.runner, want)
    have = _cann_env.have_of(node.runner, want, sources)
    if _cann_env.is_current(node.runner, want, have):
        return None
    made = _cann_env.make(node.runner, want, sources, 60)
    _cann_env.write(node.runner, want, have, made["text"])
    return made["env"]


def test_order_of_the_scripts(node):
    node.write(TREE + _cann_env.BISHENG, ": bisheng\n")
    node.write("/site/more.sh", ":\n")
    assert _cann_env.find(node.runner, wanted(scripts=["/site/more.sh"])).scripts == [
        Script(TREE + "/set_env.sh"),
        Script(TREE + _cann_env.BISHENG),
        Script(NNAL + "/atb/set_env.sh", ("--cxx_abi=1",)),
        Script("/site/more.sh"),
    ]


def test_written_once_and_again_only_for_a_reason(node):
    env = write(node, wanted())
    assert env["ASCEND_HOME_PATH"] == TREE
    assert env["ATB_HOME_PATH"] == NNAL + "/atb/cxx_abi_1"
    state = _state.load(node.runner, "cann", "env-9.1.0")
    assert state["have"]["inputs"][TREE + "/set_env.sh"] == _state.sha256_of(node.runner, TREE + "/set_env.sh")
    assert state["made"]["paths"] == ["/etc/ascend-fleet", DEST]
    assert write(node, wanted()) is None
    node.write(DEST, "changed by hand")
    assert write(node, wanted()) is not None
    node.write(NNAL + "/atb/set_env.sh", ": changed\n")
    assert write(node, wanted()) is not None
    node.runner.make_folder(NNAL + "/atb/cxx_abi_0")
    assert write(node, wanted(cxx_abi=0)) is not None
    assert write(node, wanted(cxx_abi=0)) is None
    assert _state.load(node.runner, "cann", "env-9.1.0")["made"]["paths"] == ["/etc/ascend-fleet", DEST]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"version": "9.2.0"}, "no complete CANN toolkit 9.2.0"),
        ({"nnal_version": "9.2.0"}, "no NNAL 9.2.0"),
        ({"scripts": ["/site/none.sh"]}, "/site/none.sh is not on this host"),
    ],
)
def test_what_is_missing_is_named(node, more, words):
    with pytest.raises(EnvError, match=words):
        _cann_env.find(node.runner, wanted(**more))


def test_scripts_that_speak_of_another_version_are_refused(node):
    node.env["ASCEND_HOME_PATH"] = ROOT + "/cann-8.5.0"
    with pytest.raises(EnvError, match="wanted is a folder in " + TREE):
        write(node, wanted())
    assert not node.runner.exists(DEST)


def test_a_file_of_others_stays(node):
    node.write(DEST, "MINE=1\n")
    with pytest.raises(EnvError, match="was not written by this collection"):
        _cann_env.refuse_foreign(node.runner, wanted())
    node.write(DEST, "# Written by ascend.fleet from something\n")
    _cann_env.refuse_foreign(node.runner, wanted())
