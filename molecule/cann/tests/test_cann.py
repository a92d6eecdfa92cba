# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two lines of CANN side by side on a host that had none."""

from __future__ import annotations

import pytest

testinfra_hosts = ["ansible://t_cann"]
ASCEND = "/usr/local/Ascend"
TREES = {"9.1.0": f"{ASCEND}/cann-9.1.0", "8.3.RC2": f"{ASCEND}/ascend-toolkit/8.3.RC2"}


@pytest.mark.parametrize("version", TREES)
@pytest.mark.parametrize("package", ["toolkit", "ops-910b", "nnal"])
def test_each_package_is_there_with_its_state(state, root, package, version):
    found = state("cann", f"{package}-{version}")
    assert found["status"] == "complete"
    assert found["have"]["version"] == version
    assert root.file(found["have"]["path"]).is_directory


def test_each_installer_ran_once_and_the_second_run_started_none(installer_calls):
    installs = [(call["package"], call["version"]) for call in installer_calls() if "--install" in call["argv"]]
    assert sorted(installs) == sorted((name, version) for name in ("toolkit", "ops", "nnal") for version in TREES)


def test_installers_worked_in_a_folder_of_their_own_that_is_gone(installer_calls, root):
    for call in installer_calls():
        assert call["tmpdir"].startswith("/var/tmp/ascend-fleet-")
        assert call["home"] != "/root"
        assert not root.file(call["tmpdir"]).exists


def test_the_first_one_is_the_default_and_stays_it(root):
    assert root.file(f"{ASCEND}/cann").linked_to == TREES["9.1.0"]
    assert root.file(f"{ASCEND}/nnal/atb/latest").linked_to == f"{ASCEND}/nnal/atb/9.1.0"
    assert TREES["9.1.0"] in root.file("/etc/Ascend/ascend_cann_install.info").content_string


@pytest.mark.parametrize("version", TREES)
def test_the_environment_names_one_version_and_nothing_that_moves(root, version):
    lines = root.file(f"/etc/ascend-fleet/cann-{version}.env").content_string.splitlines()
    env = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert env["ASCEND_HOME_PATH"] == f'"{TREES[version]}"'
    assert env["ATB_HOME_PATH"] == f'"{ASCEND}/nnal/atb/{version}/atb/cxx_abi_1"'
    for name, value in env.items():
        parts = value.strip('"').split(":")
        assert "" not in parts or parts == [""], name
        assert not any(part.startswith(f"{ASCEND}/cann/") or "/latest" in part for part in parts), name


@pytest.mark.parametrize("version", TREES)
def test_bash_and_systemd_read_the_same(root, version):
    file = f"/etc/ascend-fleet/cann-{version}.env"
    names = [line.split("=")[0] for line in root.file(file).content_string.splitlines() if not line.startswith("#")]
    bash = root.check_output(f"env -i bash -c 'set -a; . {file}; /usr/bin/env'")
    unit = root.check_output(f"systemd-run --quiet --pipe --wait -p EnvironmentFile={file} /usr/bin/env")
    for name in names:
        seen = [line for line in bash.splitlines() if line.startswith(f"{name}=")]
        assert seen
        assert seen == [line for line in unit.splitlines() if line.startswith(f"{name}=")]


def test_other_users_can_read_and_enter_the_trees(host):
    for tree in TREES.values():
        assert host.run(f"ls {tree}/opp && head -c 1 {tree}/compiler/../cann_uninstall.sh").rc == 0


def test_no_package_is_left_behind(root):
    assert root.run("ls -A /var/cache/ascend-fleet 2>/dev/null").stdout == ""
    assert root.run("ls -A /var/lib/ascend-fleet/kept").stdout == ""
