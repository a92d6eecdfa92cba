# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installer runs for real here, as a shell script that lies the way the vendor's does, on a node in a folder."""

from __future__ import annotations

import os

import cann_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import (
    _cann_keep,
    _cann_layout,
    _lock,
    _run_package,
    _run_plan,
    _state,
)

ROOT = world.ROOT


@pytest.fixture
def node(tmp_path):
    return world.World(tmp_path / "node")


def install(node, settings):
    """What the module does: look, ask everything, act."""
    view = _run_plan.look(node.runner, settings)
    todo, reasons = _run_plan.wanted(settings, view)
    if not todo:
        return None
    problems, tmp = _run_plan.problems(node.runner, settings, view, arch="x86_64", euid=os.geteuid(), planned=False)
    problems = [problem for problem in problems if "needs root" not in problem]  # the tests may run as anybody
    assert not reasons + problems, reasons + problems
    return _run_package.install(node.runner, settings, view, tmp)


def refusal(node, settings, planned=False):
    view = _run_plan.look(node.runner, settings)
    _todo, reasons = _run_plan.wanted(settings, view)
    problems, _tmp = _run_plan.problems(node.runner, settings, view, arch="x86_64", euid=os.geteuid(), planned=planned)
    return " ".join(problem for problem in reasons + problems if "needs root" not in problem)


def state(node, key):
    return _state.load(node.runner, "cann", key)


# a bare host ----------------------------------------------------------------------------------------------------------


def test_toolkit_ops_and_nnal_on_a_bare_host_then_nothing_to_do(node):
    jobs = []
    for package, body in (("toolkit", world.TOOLKIT), ("ops", world.OPS), ("nnal", world.NNAL)):
        settings = node.settings(node.package(body, package), package)
        jobs.append(settings)
        done = install(node, settings)
        assert done["log"].endswith("ascend_%s_install.log" % package)
    assert node.installs() == 3
    assert [install(node, settings) for settings in jobs] == [None, None, None]
    assert node.installs() == 3
    assert os.readlink(node.real(ROOT + "/cann")) == "cann-9.1.0"
    assert os.readlink(node.real(ROOT + "/nnal/atb/latest")) == "9.1.0"
    toolkit = state(node, "toolkit-9.1.0")
    assert toolkit["status"] == "complete"
    assert toolkit["have"] == {"package": "toolkit", "version": "9.1.0", "path": ROOT + "/cann-9.1.0"}
    assert ROOT in toolkit["made"]["paths"]
    assert ROOT + "/cann-9.1.0" in toolkit["made"]["paths"]
    assert ROOT + "/ascend-toolkit/9.1.0" not in toolkit["made"]["paths"]
    assert ROOT + "/cann" in toolkit["made"]["links"]
    assert state(node, "ops-910b-9.1.0")["have"]["family"] == "910b"
    assert state(node, "nnal-9.1.0")["have"]["path"] == ROOT + "/nnal/atb/9.1.0"
    assert not node.runner.names(_cann_keep.FOLDER)
    assert not node.runner.names("/var/tmp")


def test_installer_gets_a_clean_world(node):
    body = (
        world.TOOLKIT
        + 'env > "$N/seen"; echo "$*" >> "$N/seen"; umask >> "$N/seen"; read -r x || echo eof >> "$N/seen"\n'
    )
    install(node, node.settings(node.package(body)))
    seen = node.read("/seen").splitlines()
    assert "--quiet --install --install-for-all --install-path=" + ROOT in seen
    assert "0022" in seen
    assert "eof" in seen
    names = {line.partition("=")[0] for line in seen if "=" in line and not line.startswith("-")}
    assert names <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "LANG", "PWD", "SHLVL", "_", "OLDPWD"}
    home = next(line for line in seen if line.startswith("HOME="))
    assert home != "HOME=" + os.environ.get("HOME", "")


def test_what_a_killed_run_left_to_unpack_goes(node):
    node.write("/var/tmp/ascend-fleet-cann-old/tmp/payload", "gigabytes")
    node.write("/var/tmp/somebodys/file", "theirs")
    install(node, node.settings(node.package(world.TOOLKIT)))
    assert node.runner.names("/var/tmp") == ["somebodys"]


def test_ops_see_the_version_of_their_toolkit_and_no_link(node):
    install(node, node.settings(node.package(world.TOOLKIT)))
    install(node, node.settings(node.package(world.OPS + 'echo "$ASCEND_HOME_PATH" > "$N/seen"\n', "ops"), "ops"))
    assert node.read("/seen") == ROOT + "/cann-9.1.0\n"


def test_legacy_tree_keeps_its_own_script(node):
    install(node, node.settings(node.package(world.LEGACY_TOOLKIT, version="8.3.RC2"), version="8.3.RC2"))
    tree = ROOT + "/ascend-toolkit/8.3.RC2"
    assert node.read(tree + "/set_env.sh") == "export ASCEND_HOME_PATH=%s\n" % tree
    assert tree + "/set_env.sh" in state(node, "toolkit-8.3.RC2")["files"]
    assert _cann_layout.toolkit_script(node.runner, tree) == tree + "/set_env.sh"


def test_nnal_without_a_script_of_its_own_keeps_a_copy(node):
    node.by_hand("9.1.0")
    body = world.NNAL + 'rm "$N{root}/nnal/atb/{version}/atb/set_env.sh"\n'
    body += "echo 'export ATB_HOME_PATH={root}/nnal/atb/latest/atb/cxx_abi_1' > \"$N{root}/nnal/atb/set_env.sh\"\n"
    install(node, node.settings(node.package(body, "nnal"), "nnal", make_default="false"))
    folder = ROOT + "/nnal/atb/9.1.0"
    assert _cann_layout.nnal_script(node.runner, folder) == folder + "/set_env.sh"
    assert node.read(folder + "/set_env.sh") == "export ATB_HOME_PATH=%s/atb/cxx_abi_1\n" % folder


# what others have -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body, version", [(world.TOOLKIT, "9.1.0"), (world.LEGACY_TOOLKIT, "8.3.RC2")])
@pytest.mark.parametrize("host", ["by_hand", "legacy_by_hand"])
def test_defaults_of_a_host_that_had_a_cann_are_put_back(node, host, body, version):
    getattr(node, host)()
    before = node.picture()
    install(node, node.settings(node.package(body, version=version), version=version))
    after = node.picture()
    assert {path: after.get(path) for path in before} == before
    added = sorted(set(after) - set(before))
    own = ("%s/cann-%s" % (ROOT, version), "%s/ascend-toolkit/%s" % (ROOT, version), ROOT + "/ascend-toolkit/8.3")
    assert [path for path in added if not path.startswith(own)] == []


def test_make_default_true_moves_them(node):
    node.by_hand()
    install(node, node.settings(node.package(world.TOOLKIT), make_default="true"))
    assert os.readlink(node.real(ROOT + "/cann")) == "cann-9.1.0"


def test_make_default_false_leaves_a_bare_host_without_defaults(node):
    install(node, node.settings(node.package(world.TOOLKIT), make_default="false"))
    assert not node.runner.lexists(ROOT + "/cann")
    assert not node.runner.lexists(ROOT + "/ascend-toolkit")
    assert not node.runner.lexists("/etc/Ascend")
    assert node.runner.is_file(ROOT + "/cann-9.1.0/set_env.sh")


def test_nnal_does_not_become_the_default_of_somebody_elses_toolkit(node):
    node.by_hand()
    install(node, node.settings(node.package(world.TOOLKIT)))
    install(node, node.settings(node.package(world.NNAL, "nnal"), "nnal"))
    assert not node.runner.lexists(ROOT + "/nnal/atb/latest")
    assert not node.runner.lexists(ROOT + "/nnal/atb/set_env.sh")
    assert state(node, "nnal-9.1.0")["status"] == "complete"


def test_complete_tree_of_somebody_is_used_as_it_is(node):
    node.by_hand("9.1.0")
    assert install(node, node.settings(node.package(world.TOOLKIT))) is None
    assert state(node, "toolkit-9.1.0") is None


def test_incomplete_tree_of_somebody_is_an_error_and_stays(node):
    node.write(ROOT + "/cann-9.1.0/lib64/x.so", "half")
    said = refusal(node, node.settings(node.package(world.TOOLKIT)))
    assert "no run of this collection began it" in said
    assert node.read(ROOT + "/cann-9.1.0/lib64/x.so") == "half"


def test_operators_do_not_go_into_somebody_elses_tree(node):
    node.by_hand("9.1.0")
    said = refusal(node, node.settings(node.package(world.OPS, "ops"), "ops"))
    assert "was not installed by this collection" in said


def test_other_operators_in_the_tree_are_not_replaced(node):
    install(node, node.settings(node.package(world.TOOLKIT)))
    install(node, node.settings(node.package(world.OPS, "ops"), "ops"))
    said = refusal(node, node.settings(node.package(world.OPS, "ops"), "ops", family="a3"))
    assert "not replaced inside a tree" in said


# installers that lie --------------------------------------------------------------------------------------------------


def test_status_two_with_everything_there_is_success(node):
    done = install(node, node.settings(node.package(world.TOOLKIT, status=2)))
    assert done["rc"] == 2
    assert state(node, "toolkit-9.1.0")["status"] == "complete"


def test_status_zero_on_refusal_is_failure_with_the_last_lines(node):
    node.by_hand()
    before = node.picture()
    refused = 'echo "[ERROR] the given dir, or its parents, permission is invalid." >> "$LOG"\n'
    with pytest.raises(_run_package.PackageError) as caught:
        install(node, node.settings(node.package(world.DEFAULTS_MOVED + refused, after="")))
    assert "permission is invalid" in str(caught.value)
    assert "status 0" in str(caught.value)
    assert caught.value.log == "/var/log/ascend_seclog/ascend_toolkit_install.log"
    assert node.picture() == before
    assert state(node, "toolkit-9.1.0")["status"] == "installing"


def test_files_there_but_log_ends_in_an_error_is_failure(node):
    failed = 'echo "[ERROR] runtime install failed" >> "$LOG"\n'
    with pytest.raises(_run_package.PackageError, match="log ends in an error"):
        install(node, node.settings(node.package(world.TOOLKIT, after=world.SUCCESS + failed)))


def test_old_success_in_the_log_does_not_count(node):
    node.write("/var/log/ascend_seclog/ascend_toolkit_install.log", "[INFO] toolkit install success\n")
    with pytest.raises(_run_package.PackageError, match=r"said nothing|no toolkit"):
        install(node, node.settings(node.package("", after="")))


def test_hanging_installer_is_stopped(node):
    with pytest.raises(_run_package.PackageError, match="longer than 1 s"):
        install(node, node.settings(node.package("sleep 30\n"), timeout=1))


def test_unfinished_run_of_ours_is_removed_and_made_again(node):
    node.by_hand()
    before = node.picture()
    half = (
        world.DEFAULTS_MOVED
        + 'mkdir -p "$N{root}/cann-{version}/lib64"; echo half > "$N{root}/cann-{version}/lib64/x"\n'
    )
    with pytest.raises(_run_package.PackageError):
        install(node, node.settings(node.package(half, after="")))
    assert _run_plan.look(node.runner, node.settings(("/pkg/x", ""))).found.status == _cann_layout.PARTIAL
    install(node, node.settings(node.package(world.TOOLKIT)))
    assert not node.runner.lexists(ROOT + "/cann-9.1.0/lib64/x")
    after = node.picture()
    assert {path: after.get(path) for path in before} == before


def interrupted(*_words):
    raise KeyboardInterrupt


def test_killed_between_installer_and_restore_the_next_run_knows_what_was_there(node, monkeypatch):
    node.by_hand()
    before = node.picture()
    with monkeypatch.context() as patch:
        patch.setattr(_cann_keep, "restore", interrupted)
        with pytest.raises(KeyboardInterrupt):
            install(node, node.settings(node.package(world.TOOLKIT)))
    assert os.readlink(node.real(ROOT + "/cann")) == "cann-9.1.0"
    install(node, node.settings(node.package(world.TOOLKIT)))
    after = node.picture()
    assert {path: after.get(path) for path in before} == before
    assert state(node, "toolkit-9.1.0")["status"] == "complete"


def test_an_installer_that_outlived_its_module_holds_the_lock(node):
    node.runner.make_folder("/run/ascend-fleet")
    with _lock.held(node.runner, _run_plan.INSTALLER_LOCK, 0, "the installer of before"):
        with pytest.raises(_lock.Busy, match="the installer of before"), _lock.held(
            node.runner, _run_plan.INSTALLER_LOCK, 0, "me"
        ):
            pass
        with pytest.raises(_run_package.PackageError, match="held by another installer"):
            install(node, node.settings(node.package(world.TOOLKIT)))
    body = world.TOOLKIT + 'cat "$N/run/ascend-fleet/cann-installer.lock" > "$N/seen"\n'
    body += 'flock -n "$N/run/ascend-fleet/cann-installer.lock" true || echo held >> "$N/seen"\n'
    install(node, node.settings(node.package(body)))
    assert '"what": "the installer toolkit_9.1.0.run"}held' in node.read("/seen")


def test_another_package_waits_for_the_one_that_did_not_end(node):
    with pytest.raises(_run_package.PackageError):
        install(node, node.settings(node.package("", after="")))
    said = refusal(node, node.settings(node.package(world.TOOLKIT, version="9.2.0"), version="9.2.0"))
    assert "An install of toolkit-9.1.0 did not end" in said


# before the run -------------------------------------------------------------------------------------------------------


def test_everything_that_stands_in_the_way_is_said_at_once(node):
    source = node.package(world.TOOLKIT)
    os.chmod(node.real("/usr/local"), 0o775)
    said = refusal(
        node, node.settings((source[0], "0" * 64), accept_eula=False, arch="aarch64", disk_mb=1 << 40, tmp_mb=1 << 40)
    )
    for word in ("licence", "sha256", "aarch64", "mode 0775", "MiB free at", "cannot be unpacked"):
        assert word in said, word
    assert node.installs() == 0


def test_operators_without_their_toolkit(node):
    settings = node.settings(node.package(world.OPS, "ops"), "ops")
    assert "toolkit 9.1.0 must be there first" in refusal(node, settings)
    assert refusal(node, settings, planned=True) == ""


def test_check_mode_does_not_ask_for_a_package_that_is_still_to_come(node):
    settings = node.settings(("/pkg/not-there.run", "0" * 64))
    assert refusal(node, settings, planned=True) == ""
    assert "is not on this host" in refusal(node, settings)


@pytest.mark.parametrize("text", ["echo 'Error in SHA256 checksums: a is different from b' >&2; exit 2", "exit 2"])
def test_archive_that_fails_its_own_check(node, text):
    node.write("/pkg/bad.run", text)
    said = refusal(node, node.settings(("/pkg/bad.run", _state.sha256_of(node.runner, "/pkg/bad.run"))))
    assert "fails its own --check (status 2)" in said


def test_sentences(node):
    settings = node.settings(("/pkg/x.run", ""))
    view = _run_plan.look(node.runner, settings)
    assert _run_plan.sentences(node.runner, settings, view) == [
        "install CANN toolkit 9.1.0 below /usr/local/Ascend",
        "make it the default of the host",
    ]
    node.by_hand()
    settings = node.settings(("/pkg/x.run", ""), "ops")
    view = _run_plan.look(node.runner, settings)
    assert _run_plan.sentences(node.runner, settings, view) == [
        "install CANN ops 910b 9.1.0 below /usr/local/Ascend",
        "keep the links, set_env.sh files and record of the CANN that is there",
    ]
