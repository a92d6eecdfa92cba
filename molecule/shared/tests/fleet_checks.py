# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the testinfra tests of all scenarios share; a pytest plugin that the base configuration loads by name.

A test that fails on a host with a fixture ``unit`` (or a parameter of that name) gets the unit's journal in its report,
every other failing test the last lines of the host's own journal. A test file names its hosts, since the inventory has
the nodes of all scenarios: ``testinfra_hosts = ["ansible://t_cann"]``.
"""

from __future__ import annotations

import json
import shlex

import pytest

JOURNAL_LINES = 40


def _journal(host, unit: str | None) -> str:
    which = f"-u {shlex.quote(unit)}" if unit else ""
    return host.run(f"sudo -n journalctl -b --no-pager -o short-iso {which} -n {JOURNAL_LINES}").stdout


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the journal to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()
    host = getattr(item, "funcargs", {}).get("host")
    if report.when == "call" and report.failed and host is not None:
        unit = item.funcargs.get("unit")
        report.sections.append((f"journal of {unit or 'the host'}", _journal(host, unit)))


@pytest.fixture
def root(host):
    """The host with every command and every look at a file as root."""
    with host.sudo():
        yield host


@pytest.fixture
def state(root):
    """Function: (layer, key) -> the state that the collection wrote, None where there is none."""

    def read(layer: str, key: str) -> dict | None:
        file = root.file(f"/var/lib/ascend-fleet/{layer}/{key}.json")
        return json.loads(file.content_string) if file.exists else None

    return read


@pytest.fixture
def smi_calls(root):
    """Function: the calls of npu-smi so far, as dicts with argv, start, end, rc."""
    return lambda: [json.loads(line) for line in root.file("/var/lib/fake-npu/calls.log").content_string.splitlines()]


@pytest.fixture
def installer_calls(root):
    """Function: the calls of .run packages so far, as dicts with package, version, chip, argv, time."""

    def read() -> list[dict]:
        log = root.file("/var/log/ascend_seclog/fake_calls.log")
        return [json.loads(line) for line in log.content_string.splitlines()] if log.exists else []

    return read


@pytest.fixture
def fault(root):
    """Function: change the fake hardware for the length of a test; the state before is put back after it."""
    before = root.file("/etc/fake-npu/state.json").content_string

    def change(**values) -> None:
        done = root.run(f"echo {shlex.quote(json.dumps(values))} | python3 -ES /usr/local/lib/fake-npu/fault.py")
        assert done.rc == 0, done.stderr

    yield change
    refresh = "python3 -ES /usr/local/lib/fake-npu/boot.py refresh"
    done = root.run(f"printf %s {shlex.quote(before)} >/etc/fake-npu/state.json && {refresh}")
    assert done.rc == 0, done.stderr
