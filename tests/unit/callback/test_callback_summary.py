"""The callback summary, fed as ansible-core feeds it: results with and without the newer names, plays, waves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible import context
from ansible.utils.context_objects import CLIArgs
from ansible_collections.ascend.fleet.plugins.callback import summary

OK, BAD = {"changed": False}, {"changed": False, "failed": True, "msg": "chat does not answer. Look at the journal."}


class Stats:
    def __init__(self, failures: set[str] = frozenset(), dark: set[str] = frozenset()) -> None:
        self.bad, self.dark = failures, dark

    def summarize(self, host: str) -> dict[str, int]:
        return {"failures": int(host in self.bad), "unreachable": int(host in self.dark)}


def result(host: str, outcome: dict[str, Any], action: str = "ascend.fleet.instance", old: bool = False) -> Any:
    named = SimpleNamespace(get_name=lambda: host)
    task = SimpleNamespace(action=action, get_name=lambda: "ascend.fleet.vllm_service : Bring")
    prefix = "_" if old else ""
    known = {prefix + "host": named, prefix + "task": task, prefix + "result": outcome}
    return SimpleNamespace(is_changed=lambda: bool(outcome.get("changed")), **known)


def play(name: str, hosts: list[str], fatal: bool = False) -> Any:
    found = [SimpleNamespace(get_name=lambda host=host: host) for host in hosts]
    inventory = SimpleNamespace(get_hosts=lambda pattern, ignore_restrictions: found)
    manager = SimpleNamespace(_inventory=inventory)
    return SimpleNamespace(
        get_name=lambda: name, hosts="ascend_nodes", any_errors_fatal=fatal, get_variable_manager=lambda: manager
    )


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(context, "CLIARGS", CLIArgs({"check": False}))
    return []


@pytest.fixture
def callback(shown: list[str]) -> summary.CallbackModule:
    made = summary.CallbackModule()

    def show(text: str, *args: Any, **more: Any) -> None:
        shown.append(text)

    made._display = SimpleNamespace(display=show, banner=show, vvv=show)
    return made


def ready(name: str = "chat", said: str | None = "Paris") -> dict[str, Any]:
    return {"changed": True, "instances": [{"name": name, "port": 8000, "ready": True, "completion": said}]}


@pytest.mark.parametrize("old", [False, True])
def test_a_host_that_serves(callback: summary.CallbackModule, shown: list[str], old: bool) -> None:
    callback.v2_runner_on_ok(result("a2-1", OK, "ascend.fleet.probe", old))
    callback.v2_runner_on_ok(result("a2-1", ready(), old=old))
    callback.v2_playbook_on_stats(Stats())
    assert shown == [
        "FLEET SUMMARY",
        'ready         a2-1  chat:8000 "Paris" (1 task changed)',
        "",
        "1 host: 1 ready.",
    ]


def test_waves_that_stop_leave_hosts_that_were_not_started(callback: summary.CallbackModule, shown: list[str]) -> None:
    hosts = ["n1", "n2", "n3"]
    callback.v2_playbook_on_play_start(play("install", hosts))
    for host in hosts:
        callback.v2_runner_on_ok(result(host, OK, "ascend.fleet.judge"))
    callback.v2_playbook_on_play_start(play("serve", hosts, fatal=True))
    callback.v2_runner_on_ok(result("n1", ready(said=None)))
    callback.v2_playbook_on_play_start(play("serve", hosts, fatal=True))
    callback.v2_runner_on_failed(result("n2", BAD))
    callback.v2_playbook_on_stats(Stats({"n2"}))
    assert shown[1:] == [
        "ready         n1  chat:8000 (1 task changed)",
        "not started   n3  the waves stopped at n2",
        "failed        n2  vllm_service : Bring: chat does not answer. Look at the journal.",
        "",
        "3 hosts: 1 ready, 1 not started, 1 failed. After the repair, the same command with: -l n3,n2",
    ]


def test_a_failure_before_the_waves_stops_nobody_else(callback: summary.CallbackModule, shown: list[str]) -> None:
    callback.v2_playbook_on_play_start(play("install", ["n1", "n2"]))
    callback.v2_runner_on_failed(result("n1", BAD, "ascend.fleet.judge"))
    callback.v2_runner_on_ok(result("n2", OK, "ascend.fleet.judge"))
    callback.v2_playbook_on_play_start(play("serve", ["n2"], fatal=True))
    callback.v2_playbook_on_stats(Stats({"n1"}))
    assert [line.split()[:2] for line in shown[1:3]] == [["unchanged", "n2"], ["refused", "n1"]]


def test_unreachable_and_ignored(callback: summary.CallbackModule, shown: list[str]) -> None:
    callback.v2_runner_on_unreachable(result("n1", {"msg": "timed out"}, "ascend.fleet.probe"))
    callback.v2_runner_on_failed(result("n2", BAD), ignore_errors=True)
    callback.v2_runner_on_skipped(result("n3", OK))
    callback.v2_playbook_on_stats(Stats(dark={"n1"}))
    assert [line.split()[:2] for line in shown[1:4]] == [
        ["unchanged", "n2"],
        ["unchanged", "n3"],
        ["unreachable", "n1"],
    ]


def test_check_mode_says_so(
    callback: summary.CallbackModule, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "CLIARGS", CLIArgs({"check": True}))
    steps = {"steps": {"cann": [{"do": "install CANN toolkit"}]}}
    callback.v2_runner_on_ok(result("n1", steps, "ascend.fleet.judge"))
    callback.v2_runner_on_ok(result("n1", {"changed": True}, "ascend.fleet.run_package"))
    callback.v2_playbook_on_stats(Stats())
    assert shown[1] == "would change  n1  install CANN toolkit"


@pytest.mark.parametrize("action", ["ansible.builtin.copy", "ascend.fleet.bundle"])
def test_other_runs_get_no_summary(callback: summary.CallbackModule, shown: list[str], action: str) -> None:
    callback.v2_runner_on_ok(result("n1", {"changed": True}, action))
    callback.v2_playbook_on_stats(Stats())
    assert shown == []


def test_an_inventory_without_the_group_is_said(callback: summary.CallbackModule, shown: list[str]) -> None:
    callback.v2_playbook_on_play_start(play("guard", []))
    callback.v2_playbook_on_stats(Stats())
    assert len(shown) == 1 and "no host matches ascend_nodes" in shown[0]


def test_nothing_that_ansible_hands_over_breaks_the_run(callback: summary.CallbackModule, shown: list[str]) -> None:
    for method in ("v2_runner_on_ok", "v2_runner_on_failed", "v2_runner_on_unreachable", "v2_runner_on_skipped"):
        getattr(callback, method)(None)
        getattr(callback, method)(result("n1", None, "ascend.fleet.instance"))  # type: ignore[arg-type]
    callback.v2_playbook_on_play_start(None)
    callback.v2_playbook_on_stats(None)
    assert all("ascend.fleet.summary: " in text or text == "FLEET SUMMARY" for text in shown) and shown
