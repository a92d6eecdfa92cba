# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installers that refuse with status 0, ask, hang, stop halfway or succeed with status 2: what we make of it."""

from __future__ import annotations

import json
import shlex

import pytest

testinfra_hosts = ["ansible://t_cann_310p"]
FAULTS = "/etc/fake-npu/run-faults.json"
TREE = "/usr/local/Ascend/cann-8.5.1"
KEY = "toolkit-8.5.1"


@pytest.fixture
def package(root):
    """Path and sha256 of a toolkit that the release does not want, so that nothing else needs it."""
    path = root.check_output("ls /srv/ascend/run/Ascend-cann-toolkit_8.5.1_linux-*.run")
    return path, root.check_output(f"sha256sum {path}").split()[0]


@pytest.fixture
def install(host, root, package):
    """Function: (fault) -> result of the module, which has a msg when it failed. What it made goes after the test."""

    def run(fault: str = "", timeout: int = 60, **options) -> dict:
        root.check_output(f"printf %s {shlex.quote(json.dumps({'toolkit': fault} if fault else {}))} >{FAULTS}")
        arguments = {
            "src": package[0],
            "sha256": package[1],
            "package": "toolkit",
            "version": "8.5.1",
            "accept_eula": True,
            "timeout": timeout,
            **options,
        }
        return host.ansible("ascend.fleet.run_package", json.dumps(arguments), check=False, become=True)

    yield run
    root.check_output(
        f"rm -rf {FAULTS} {TREE} /var/lib/ascend-fleet/cann/{KEY}.json /var/lib/ascend-fleet/kept/{KEY}.json"
    )


@pytest.fixture
def picture(root):
    """Function: what lies below the CANN roots, without the tree under test and the installer's dated copies."""

    def take() -> dict:
        root.check_output("python3 /root/picture.py /root/now.json")
        found = json.loads(root.file("/root/now.json").content_string)
        return {path: what for path, what in found.items() if not path.startswith((TREE, "/etc/Ascend/2"))}

    return take


@pytest.mark.parametrize(
    "fault, words",
    [
        ("refuse-0", "status 0"),
        ("question", "license was not accepted"),
        ("half-0", "install failed"),
        ("log-only", "no toolkit 8.5.1"),
    ],
)
def test_no_success_is_claimed_and_the_defaults_are_back(install, picture, state, fault, words):
    before = picture()
    result = install(fault)
    assert words in result["msg"]
    assert result["log"] == "/var/log/ascend_seclog/ascend_toolkit_install.log"
    assert picture() == before
    assert state("cann", KEY)["status"] == "installing"


def test_a_hanging_installer_is_stopped_and_the_next_run_makes_it_good(install, picture, state, root):
    before = picture()
    result = install("hang", timeout=3)
    assert "longer than 3 s" in result["msg"]
    assert root.file(TREE).exists
    assert picture() == before
    result = install()
    assert result["changed"], result
    assert any("did not finish" in sentence for sentence in result["would"])
    assert picture() == before
    assert state("cann", KEY)["status"] == "complete"
    assert not install()["changed"]


def test_status_two_with_everything_there_is_success(install, state):
    assert install("success-2")["changed"]
    assert state("cann", KEY)["status"] == "complete"


def test_a_tree_that_somebody_left_half_done_is_not_touched(install, root):
    root.check_output(f"mkdir -p {TREE}/lib64 && echo half >{TREE}/lib64/x")
    result = install()
    assert "no run of this collection began it" in result["msg"]
    assert root.file(f"{TREE}/lib64/x").content_string == "half\n"


def test_one_flipped_byte_is_said_with_both_sums(install, root, package):
    root.check_output(f"cp {package[0]} /root/bad.run && printf X | dd of=/root/bad.run bs=1 seek=20000 conv=notrunc")
    result = install(src="/root/bad.run")
    assert package[1] in result["msg"]
    result = install(src="/root/bad.run", sha256=root.check_output("sha256sum /root/bad.run").split()[0])
    assert "fails its own --check" in result["msg"]
    root.check_output("rm /root/bad.run")
