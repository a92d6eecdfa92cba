# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: summary
type: aggregate
short_description: One line for each host at the end of a run
version_added: 0.1.0
description:
  - After the recap, prints what became of each host. C(ready) with its instances and what a model answered, C(changed),
    C(unchanged), C(not started) because the waves stopped earlier, C(refused) with the reason and the remedy, C(failed)
    with task and message, or C(unreachable).
  - Prints nothing in runs without tasks of this collection.
requirements:
  - enable it in the configuration, C(callbacks_enabled = ascend.fleet.summary)
author:
  - ascend.fleet authors (@ascend-fleet)
"""

import functools
from typing import Any, Callable

from ansible import constants as C
from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import summary

OURS = "ascend.fleet."
JUDGES = (OURS + "judge", OURS + "preflight")
COLORS = {
    "ready": "COLOR_OK",
    "unchanged": "COLOR_OK",
    "changed": "COLOR_CHANGED",
    "would change": "COLOR_CHANGED",
    "not started": "COLOR_WARN",
    "refused": "COLOR_ERROR",
    "failed": "COLOR_ERROR",
    "unreachable": "COLOR_UNREACHABLE",
}


def quiet(method: Callable[..., None]) -> Callable[..., None]:
    """A summary that cannot be made is a line at -vvv, never a failure of the run."""

    @functools.wraps(method)
    def guarded(self: CallbackModule, *args: Any, **more: Any) -> None:
        try:
            method(self, *args, **more)
        except Exception as exc:
            self._display.vvv("ascend.fleet.summary: %s: %r" % (method.__name__, exc))

    return guarded


class CallbackModule(CallbackBase):
    """Remembers little: results are read only when they failed, changed something, or are of an instance."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "ascend.fleet.summary"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._records: dict[str, summary.Record] = {}
        self._ours = False
        self._fatal_play = False
        self._planned: dict[str, list[str]] = {}  # hosts of the plays that stop at the first failure, by play
        self._play = ""
        self._stopped: dict[str, str] = {}  # such a play: host at which it stopped
        self._nobody = ""

    # plays --------------------------------------------------------------------------------------------------------

    @quiet
    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play = play.get_name()
        self._fatal_play = bool(play.any_errors_fatal)
        self._nobody = play.hosts if isinstance(play.hosts, str) else ",".join(map(str, play.hosts or []))
        if self._fatal_play and self._play not in self._planned:
            inventory = play.get_variable_manager()._inventory
            hosts = inventory.get_hosts(play.hosts, ignore_restrictions=True)
            self._planned[self._play] = [host.get_name() for host in hosts]

    # results ------------------------------------------------------------------------------------------------------

    @quiet
    def v2_runner_on_ok(self, result: Any) -> None:
        record = self._record(result)
        changed = result.is_changed()
        if _action(result) in JUDGES:
            record.was_judged(_result(result))
        elif changed or _action(result) in (OURS + "instance", OURS + "validate"):
            record.succeeded(_result(result), changed)

    @quiet
    def v2_runner_on_skipped(self, result: Any) -> None:
        self._record(result)

    @quiet
    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        record = self._record(result)
        if ignore_errors:
            return
        name = _task(result).get_name().replace(OURS, "")
        record.failed(name, _result(result), _action(result) in JUDGES)
        if self._fatal_play:
            self._stopped.setdefault(self._play, record.host)

    @quiet
    def v2_runner_on_unreachable(self, result: Any) -> None:
        record = self._record(result)
        record.unreachable = str(_result(result).get("msg") or "")
        if self._fatal_play:
            self._stopped.setdefault(self._play, record.host)

    def _record(self, result: Any) -> summary.Record:
        self._ours = self._ours or (_action(result).startswith(OURS) and _action(result) != OURS + "bundle")
        host = getattr(result, "host", None) or result._host
        return self._records.setdefault(host.get_name(), summary.Record(host.get_name()))

    # the end ------------------------------------------------------------------------------------------------------

    @quiet
    def v2_playbook_on_stats(self, stats: Any) -> None:
        if not self._records and "ascend_nodes" in self._nobody:
            self._display.display(
                "ascend.fleet: no host matches %s. Put the hosts into the group ascend_nodes, or name another with "
                "-e ascend_hosts=GROUP." % self._nobody,
                color=C.COLOR_WARN,
            )
        if not self._ours:
            return
        self._mark_not_started()
        check = bool(context.CLIARGS.get("check"))
        lines = []
        for record in self._records.values():
            count = stats.summarize(record.host)
            lines.append(summary.line(record, count["failures"], count["unreachable"], check))
        lines = summary.ordered(lines)
        self._display.banner("FLEET SUMMARY")
        for one, text in zip(lines, summary.render(lines)):
            self._display.display(text, color=getattr(C, COLORS[one.verdict]))
        self._display.display("")
        self._display.display(summary.total(lines, check))

    def _mark_not_started(self) -> None:
        """Hosts that a stopped play would have come to: they have no instance that was asked."""
        for play, stopped_at in self._stopped.items():
            for name in self._planned.get(play, []):
                record = self._records.get(name)
                if record is not None and record.task is None and record.unreachable is None and not record.instances:
                    record.stopped_at = stopped_at


def _task(result: Any) -> Any:
    return getattr(result, "task", None) or result._task


def _action(result: Any) -> str:
    task = _task(result)
    return str(getattr(task, "resolved_action", None) or task.action)


def _result(result: Any) -> Any:
    found = getattr(result, "result", None)
    return found if found is not None else result._result
