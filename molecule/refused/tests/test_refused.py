# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml on hosts that each have another fault, one host at a time, and on a host that has none.

Every faulty host is refused with its cause and a remedy, and is left as it was. The good host, which the scenario
`default` converged, is ready. Exit status 2.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

testinfra_hosts = ["ansible://t_refused"]
ROOT = Path(__file__).resolve().parents[3]
GOOD = "duo-1"
# host -> what its line of the summary must name: the fault, and what to do
FAULTS = {
    "r-name": ("refused", "ascend_relase", "ascend_release"),
    "r-release": ("refused", "0.23.1", "0.23.0"),
    "r-smi": ("refused", "npu-smi", "driver"),
    "r-instance": ("refused", "modle", "model"),
    "r-device": ("refused", "99", "devices"),
    "r-port": ("refused", "port.taken", "9000"),
    "r-artifact": ("refused", "cann-toolkit", "manifest"),
    "r-sha": ("refused", "sha256", "manifest"),
    "r-python": ("failed", "Python", "ansible_python_interpreter"),
}
PICTURE = (
    "find /etc /opt /usr/local /var/lib -xdev \\( -path /var/lib/fake-npu -o -path /var/lib/systemd \\) -prune"
    " -o \\( -type f -o -type l -o -type d \\) -printf '%p %m %U %G %s %T@ %l\\n' | sort"
)


@pytest.fixture(scope="module")
def picture(request):
    """Function: host -> names, modes, owners, sizes and times of everything that a run could have changed."""
    import testinfra

    inventory = request.config.getoption("ansible_inventory")
    hosts = {name: testinfra.get_host(f"ansible://{name}?ansible_inventory={inventory}") for name in FAULTS}
    return lambda name: hosts[name].check_output(f'sudo -n sh -c "{PICTURE}"')


@pytest.fixture(scope="module")
def run(picture):
    """(exit status, output, pictures before) of one run over all hosts, a host at a time."""
    before = {name: picture(name) for name in FAULTS}
    environ = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
        "COLUMNS": "400",
    }
    environ.update(MOLECULE_PROJECT_DIRECTORY=str(ROOT), ANSIBLE_COLLECTIONS_PATH=str(ROOT / ".collections"))
    words = ["ansible-playbook", "-i", "molecule/shared/inventory", "site.yml"]
    words += ["-e", f"ascend_hosts=t_refused:{GOOD}", "-e", "ascend_serial=1"]
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, before


def line_of(output: str, host: str) -> str:
    """The host's line in the summary."""
    summary = output[output.index("FLEET SUMMARY") :]
    return next(line for line in summary.splitlines() if re.match(rf"\S.*\s{host}(\s|$)", line))


def test_the_run_says_by_its_status_that_hosts_were_refused(run):
    assert run[0] == 2


def test_the_others_go_on(run):
    assert line_of(run[1], GOOD).startswith(("ready", "unchanged"))


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_named_with_a_remedy(run, name):
    verdict, *words = FAULTS[name]
    line = line_of(run[1], name)
    assert line.startswith(verdict)
    for word in words:
        assert word in line


@pytest.mark.parametrize("name", FAULTS)
def test_the_host_is_as_it_was(run, picture, name):
    assert picture(name) == run[2][name]


def test_nobody_sees_a_traceback(run):
    assert "Traceback" not in run[1]
