# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Envs of two releases side by side: one from a conda of ours, one from a conda that somebody installed by hand."""

from __future__ import annotations

import json

import pytest

testinfra_hosts = ["ansible://t_conda"]
ENVS = {"0.23.0": ("/opt/ascend-fleet/envs", "3.12", "2.10.0"), "0.18.0": ("/opt/other", "3.11", "2.9.0")}


@pytest.fixture(params=ENVS)
def env(request, root):
    """(state, python line, torch version) of the one env of a release."""
    folder, python, torch = ENVS[request.param]
    names = root.run(f"ls {folder}").stdout.split()
    assert len(names) == 1
    assert names[0].startswith(request.param + "-")
    found = json.loads(root.file(f"/var/lib/ascend-fleet/conda_env/{names[0]}.json").content_string)
    assert found["have"]["prefix"] == f"{folder}/{names[0]}"
    return found, python, torch


def test_the_state_is_complete_and_names_what_is_there(env):
    found, python, torch = env
    assert found["status"] == "complete"
    assert found["have"]["python"].startswith(python + ".")
    assert found["have"]["packages"]["torch"].startswith(torch)


def test_its_python_imports_the_pinned_torch_for_every_user(env, root):
    found, _python, torch = env
    program = f"{found['have']['prefix']}/bin/python"
    alone = "sudo -u nobody env -i TORCH_DEVICE_BACKEND_AUTOLOAD=0"
    answer = root.run(f"cd / && {alone} {program} -c 'import torch; print(torch.__version__)'")
    assert answer.rc == 0, answer.stderr
    assert answer.stdout.startswith(torch)


def test_nothing_in_it_is_open_to_others(env, root):
    prefix = env[0]["have"]["prefix"]
    assert root.run(f"find {prefix} -perm /022 -not -type l | head").stdout == ""
    assert root.run(f"find {prefix} -not -user root | head").stdout == ""


def test_the_conda_that_was_there_and_all_settings_are_as_before(root):
    after = root.check_output("find /data /root -not -type d -printf '%p %m %u %T@ %s\\n'").splitlines()
    before = root.file("/var/tmp/before").content_string.splitlines()
    assert set(after) ^ set(before) == set()  # of folders, Ansible makes its own in root's home


def test_only_the_conda_that_we_installed_has_a_state(state):
    base = state("conda_env", "base")
    assert base["status"] == "complete"
    assert base["have"]["prefix"] == "/opt/ascend-fleet/conda"


def test_nothing_is_left_on_the_way(root):
    assert root.run("find /var/cache/ascend-fleet -type f").stdout == ""


def test_no_channel_or_index_of_the_host_was_asked(env, root):
    prefix = env[0]["have"]["prefix"]
    records = root.check_output(f"cat {prefix}/conda-meta/python-*.json")
    assert "/srv/ascend/channel" in records
    assert not root.file("/data/theirs").exists
