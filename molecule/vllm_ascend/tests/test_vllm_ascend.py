# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A runtime that was built from source, and that works with its environment file alone."""

from __future__ import annotations

import hashlib
import json

import pytest

testinfra_hosts = ["ansible://t_vllm"]


@pytest.fixture
def runtime(root):
    """State of the one runtime of the host."""
    names = root.run("ls /var/lib/ascend-fleet/vllm_ascend").stdout.split()
    assert len(names) == 1
    return json.loads(root.file(f"/var/lib/ascend-fleet/vllm_ascend/{names[0]}").content_string)


@pytest.fixture
def environment(root, runtime):
    lines = root.file(runtime["have"]["env_file"]).content_string.splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def test_the_state_describes_a_runtime_for_instances(runtime):
    have = runtime["have"]
    assert runtime["status"] == "complete"
    assert (have["kind"], have["release"], have["family"], have["device_type"]) == ("native", "0.23.0", "910b", "A2")
    assert have["exec"] == [have["prefix"] + "/bin/vllm"]
    assert have["versions"]["vllm"] == have["versions"]["vllm_ascend"] == "0.23.0"
    assert have["versions"]["triton_ascend"] == "3.2.2"
    assert have["versions"]["cann"] == "9.1.0"


def test_vllm_answers_any_user_with_the_environment_file_and_no_shell(root, runtime):
    have = runtime["have"]
    answer = root.run(
        "systemd-run --quiet --pipe --wait --collect --uid=nobody "
        f"--property=EnvironmentFile={have['env_file']} {have['exec'][0]} --version"
    )
    assert answer.rc == 0, answer.stderr
    assert answer.stdout.split()[-1] == "0.23.0"


def test_the_environment_has_the_env_first_and_no_moving_path(environment, runtime):
    assert environment["PATH"].startswith(f'"{runtime["have"]["prefix"]}/bin:/usr/local/Ascend/')
    assert environment["ATB_HOME_PATH"] == '"/usr/local/Ascend/nnal/atb/9.1.0/atb/cxx_abi_1"'
    for name, value in environment.items():
        parts = value.strip('"').split(":")
        assert "" not in parts, name
        assert not any(part.endswith(("/cann", "/latest")) or "/latest/" in part for part in parts), name
    assert "/usr/local/Ascend/driver/lib64" in environment["LD_LIBRARY_PATH"]
    assert environment["PYTHONNOUSERSITE"] == '"1"'


def test_the_build_was_told_the_chip_and_compiled_kernels(root, runtime):
    folder = f"/opt/ascend-fleet/wheels/{runtime['key']}"
    record = json.loads(root.file(f"{folder}/build.json").content_string)
    assert record["inputs"]["soc_version"] == "ascend910b1"
    assert record["inputs"]["custom_kernels"] is True
    for wheel in record["wheels"].values():
        content = root.file(f"{folder}/{wheel['file']}").content
        assert hashlib.sha256(content).hexdigest() == wheel["sha256"]


def test_what_we_made_is_there_and_closed_to_others(root, runtime):
    for path in runtime["made"]["paths"]:
        assert root.file(path).exists
    assert root.run(f"find {' '.join(runtime['made']['paths'])} -perm /022 -not -type l").stdout == ""
    assert root.file(runtime["have"]["env_file"]).mode == 0o644


def test_nothing_is_left_on_the_way(root):
    assert root.run("find /var/cache/ascend-fleet -type f").stdout == ""
