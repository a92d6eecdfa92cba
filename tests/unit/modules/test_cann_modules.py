# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""run_package and script_env from their options to what they return, on a node in a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.ascend.fleet.plugins.module_utils import _run_checks
from ansible_collections.ascend.fleet.plugins.module_utils._script_env import EnvError
from ansible_collections.ascend.fleet.plugins.modules import run_package, script_env

sys.path.append(str(Path(__file__).resolve().parents[1] / "module_utils"))
import cann_world as world

ROOT = world.ROOT
ENV = "/etc/ascend-fleet/cann-9.1.0.env"


class Failed(Exception):
    """What fail_json was called with."""


class Module:
    """As much of AnsibleModule as run() uses."""

    def __init__(self, check_mode=False, **params):
        self.check_mode = check_mode
        self.params = params

    def fail_json(self, msg, **result):
        raise Failed(msg, result)


@pytest.fixture
def node(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(_run_checks, "parents", lambda *_args: [])  # the folder belongs to whoever runs the tests
    return world.World(tmp_path / "node")


def package(node, source, check_mode=False, **more):
    settings = node.settings(source, arch=os.uname().machine, **more)
    return run_package.run(Module(check_mode), node.runner, settings)


def toolkit(node):
    return node.package(world.TOOLKIT.replace("x86_64", os.uname().machine))


def test_options_and_defaults_agree_with_the_documentation():
    documented = yaml.safe_load(run_package.DOCUMENTATION)["options"]
    params = {name: option.get("default") for name, option in documented.items()}
    params.update(src="/p", sha256=" AB ", package="nnal", version="9.1.0")
    settings = run_package.settings_of(params, "aarch64")
    assert (settings.sha256, settings.arch, settings.toolkit_version) == ("ab", "aarch64", "9.1.0")
    assert (settings.family, settings.tmp_dir, settings.install_path) == ("", "", ROOT)


def test_check_mode_says_what_would_come_and_does_nothing(node):
    result = package(node, ("/pkg/not-there.run", "0" * 64), check_mode=True)
    assert result["changed"]
    assert result["have"] is None
    assert result["would"][0] == "install CANN toolkit 9.1.0 below " + ROOT
    assert result["diff"] == {"before": "", "after": "toolkit 9.1.0\n"}
    assert node.calls == []
    assert not node.runner.exists("/var/lib/ascend-fleet")


def test_it_is_installed_once(node):
    source = toolkit(node)
    result = package(node, source)
    assert result["changed"]
    assert result["default"]
    assert result["have"] == {"package": "toolkit", "version": "9.1.0", "path": ROOT + "/cann-9.1.0"}
    again = package(node, source)
    assert (again["changed"], again["would"], again["have"]) == (False, [], result["have"])
    assert package(node, source, check_mode=True)["changed"] is False


def test_problems_come_as_a_list_and_as_one_message(node):
    with pytest.raises(Failed) as caught:
        package(node, ("/pkg/not-there.run", "0" * 64), accept_eula=False)
    message, result = caught.value.args
    assert len(result["problems"]) == 2
    assert message == " ".join(result["problems"])
    assert "cann_accept_eula" in message


def environment(node, check_mode=False, **more):
    params = {
        "version": "9.1.0",
        "nnal_version": None,
        "cxx_abi": None,
        "install_path": ROOT + "/",
        "scripts": [],
        "dest": None,
        "timeout": 60,
    }
    params.update(more)
    return script_env.run(Module(check_mode, **params), node.runner, script_env.wanted_of(params))


def test_the_environment_on_a_bare_host_in_check_mode_and_not(node):
    result = environment(node, check_mode=True, nnal_version="9.1.0", cxx_abi=1)
    assert result["changed"]
    assert result["env"] == {}
    assert result["would"] == ["write %s from the scripts of CANN 9.1.0 and NNAL 9.1.0" % ENV]
    with pytest.raises(EnvError, match="install it first"):
        environment(node)


def test_the_environment_is_written_once_and_read_back(node):
    package(node, toolkit(node))
    node.env = {"ASCEND_HOME_PATH": ROOT + "/cann", "ASCEND_TOOLKIT_HOME": ROOT + "/cann"}
    node.env["ASCEND_OPP_PATH"] = ROOT + "/cann/opp"
    planned = environment(node, check_mode=True)
    assert planned["changed"]
    assert not node.runner.exists(ENV)
    first = environment(node)
    assert first["env"]["ASCEND_HOME_PATH"] == ROOT + "/cann-9.1.0"
    assert first["diff"]["after"] == node.read(ENV)
    second = environment(node)
    assert (second["changed"], second["env"]) == (False, first["env"])
