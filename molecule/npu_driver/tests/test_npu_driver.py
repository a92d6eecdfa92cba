# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role against a node whose driver and cards are broken on purpose: what it says, and that it changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

testinfra_hosts = ["ansible://t_driver"]
HERE = Path(__file__).resolve().parents[1]
CHECKOUT = HERE.parents[1]


@pytest.fixture
def converge(pytestconfig):
    """Function: the scenario's playbook once more with these variables -> (status, output)."""

    def run(**variables: str) -> tuple[int, str]:
        words = ["ansible-playbook", "-i", pytestconfig.getoption("ansible_inventory"), str(HERE / "converge.yml")]
        for name, value in variables.items():
            words += ["-e", f"{name}={value}"]
        done = subprocess.run(
            words,
            cwd=CHECKOUT,
            env={**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def test_a_sound_host_passes_without_a_change(converge):
    status, said = converge()
    assert status == 0, said
    assert "changed=0" in said


@pytest.mark.parametrize(
    "change, words",
    [
        ({"smi_error": "-8005"}, "npu_driver.smi"),
        ({"smi_error": "-8020"}, "npu_driver.smi"),
    ],
    ids=["driver and firmware do not fit", "cards belong to another container"],
)
def test_no_usable_npu_smi_stops_the_host(converge, fault, change, words):
    fault(**change)
    status, said = converge()
    assert status == 2, said
    assert words in said
    assert change["smi_error"] in said


def test_a_sick_card_stops_the_host_only_when_it_is_needed(converge, fault):
    fault(devices={"2:0": {"health": "Alarm"}})
    assert converge()[0] == 0
    status, said = converge(npu_driver_devices="2")
    assert status == 2, said
    assert "npu_driver.device" in said
    assert converge(npu_driver_devices="3")[0] == 0


def test_nothing_was_left_on_the_host(root):
    assert not root.file("/var/lib/ascend-fleet").exists
    assert not root.file("/etc/ascend-fleet").exists
