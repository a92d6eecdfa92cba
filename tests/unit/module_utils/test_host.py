# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine below the stack: os-release, ports and their owners, disks, users."""

from __future__ import annotations

import os

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _host, _ports
from hypothesis import given
from hypothesis import strategies as st

KEYS = [
    "os", "arch", "libc", "kernel", "kernel_headers", "python", "disk", "ports", "port_owners", "users", "groups",
    "commands", "clock", "uptime_s", "hostname",
]  # fmt: skip
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def socket(address, state, inode):
    return "   0: %s 00000000:0000 %s 00000000:00000000 00:00000000 00000000     0        0 %s 1 0 100\n" % (
        address, state, inode,
    )  # fmt: skip


@pytest.fixture
def busy(node):
    node.file("/proc/net/tcp", HEAD + socket("00000000:1F90", "0A", 501) + socket("0100007F:0016", "01", 502))
    node.file("/proc/net/tcp6", HEAD + socket("0" * 32 + ":1F90", "0A", 503) + socket("0" * 32 + ":0016", "0A", 504))
    node.link("/proc/4123/fd/3", "socket:[503]")
    node.link("/proc/4123/fd/4", "/dev/null")
    node.file("/proc/4123/cmdline", "/opt/x/bin/python\0serve\0--api-key\0hidden\0")
    node.file("/proc/4123/cgroup", "0::/system.slice/ascend-vllm-chat.service/inner\n")
    node.file("/proc/self/cmdline", "no pid\0")
    return node


def test_listening_ports_of_both_families(busy):
    assert _ports.listening(busy.runner) == {8080: {"501", "503"}, 22: {"504"}}


def test_an_owner_is_named_by_pid_unit_and_program_only(busy):
    ports = _ports.listening(busy.runner)
    assert _ports.owners(busy.runner, ports) == {
        "8080": {"pid": 4123, "unit": "ascend-vllm-chat.service", "command": "/opt/x/bin/python"}
    }


def test_a_process_without_service_or_command_line(busy):
    busy.file("/proc/4123/cmdline", "")
    busy.file("/proc/4123/comm", "kworker\n")
    busy.file("/proc/4123/cgroup", "12:cpu:/user.slice\n1:name=systemd:/user.slice/session-3.scope\n")
    owner = _ports.owners(busy.runner, {8080: {"503"}})["8080"]
    assert (owner["unit"], owner["command"]) == (None, "kworker")


def test_the_innermost_service_of_an_old_control_group(busy):
    busy.file("/proc/4123/cgroup", "3:cpu:/\n1:name=systemd:/user.slice/user@0.service/app.slice/mine.service\n")
    assert _ports.unit_of(busy.runner, 4123) == "mine.service"


def test_unreadable_tables_are_unknown_not_empty(node):
    assert _ports.listening(node.runner) is None
    node.file("/proc/net/tcp", HEAD)
    assert _ports.listening(node.runner) == {}


@given(st.text(alphabet="0A:19F \n", max_size=300))
def test_rubbish_in_the_port_table_is_left_out(text):
    class Runner:
        def read(self, _path, _limit):
            return "head\n" + text

    for port in _ports.listening(Runner()):
        assert 0 <= port < 65536


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('ID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 (LTS-SP4)"\n', "redhat"),
        ('ID="kylin"\nVERSION_ID="V10"\nNAME="Kylin Linux Advanced Server"\n', "redhat"),
        ("ID=kylin\nID_LIKE=debian\n", "debian"),
        ("ID=ubuntu\nID_LIKE=debian\nVERSION_ID='22.04'\n", "debian"),
        ("# a comment\n\nID=debian\nVERSION_ID=12\n", "debian"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "redhat"),
        ("ID=alpine\n", None),
        ('ID="open\nVERSION_ID=1\n', None),
        ("", None),
        (None, None),
    ],
)
def test_os_family(text, found):
    assert _host.os_release(text)["family"] == found


def test_os_release_values():
    assert _host.os_release('ID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03"\n') == {
        "id": "openEuler", "version_id": "22.03", "name": "openEuler 22.03", "family": "redhat",
    }  # fmt: skip


@given(st.text(max_size=200))
def test_any_os_release_is_answered(text):
    assert set(_host.os_release(text)) == {"id", "version_id", "name", "family"}


def test_the_whole_answer(busy):
    busy.file("/etc/os-release", "ID=debian\n")
    busy.file("/proc/uptime", "3729.55 7100.10\n")
    busy.file("/lib/modules/%s/build/Makefile" % os.uname().release)
    busy.file("/usr/bin/gcc", "", 0o755)
    users, groups = ["root", "nobody-of-that-name"], ["root", "no-group"]
    found = _host.gather(busy.runner, ["/data/models/x"], users, groups, ["gcc"])
    assert list(found) == KEYS
    assert found["os"]["id"] == "debian"
    assert found["kernel_headers"] is True
    assert found["ports"] == [22, 8080]
    assert list(found["port_owners"]) == ["8080"]
    assert found["users"]["root"]["uid"] == 0
    assert "root" in found["users"]["root"]["groups"]
    assert found["users"]["nobody-of-that-name"] is None
    assert found["groups"] == {"root": 0, "no-group": None}
    assert found["commands"] == {"gcc": "/usr/bin/gcc"}
    assert found["uptime_s"] == 3729
    disk = found["disk"]["/data/models/x"]
    assert disk["path"] == "/"
    assert 0 <= disk["free_mb"] <= disk["total_mb"]


def test_a_host_that_shows_nothing(runner, monkeypatch):
    monkeypatch.setenv("PATH", "")
    found = _host.gather(runner, commands=["gcc"])
    assert (found["ports"], found["port_owners"], found["uptime_s"]) == (None, {}, None)
    assert found["kernel_headers"] is None
    assert found["commands"] == {"gcc": None}


def test_missing_headers_are_told_from_unseen_ones(node):
    assert _host.kernel_headers(node.runner, "5.10") is None
    node.file("/lib/modules/5.10/modules.dep")
    assert _host.kernel_headers(node.runner, "5.10") is False
    node.link("/lib/modules/5.10/build", "/usr/src/gone")
    assert _host.kernel_headers(node.runner, "5.10") is False


@pytest.mark.parametrize("text", [None, "", "x", "-3.0 1", "99999999999999999 1"])
def test_an_uptime_that_is_none(text):
    assert _host.uptime(text) is None
