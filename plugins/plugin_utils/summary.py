# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""One line for each host of a run: what became of it, why, and what to do next. Pure; the callback feeds it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional

# In the order in which they are printed: what needs a person comes last, next to the prompt.
VERDICTS = ("unchanged", "would change", "changed", "ready", "not started", "refused", "failed", "unreachable")
SEVERITIES = {"error": 0, "warning": 1, "info": 2}
LIMIT = 400  # characters of a line; the whole text stands at the task
SAID = 60  # characters of a completion
NAMED = 12  # hosts that the closing line names


class Line(NamedTuple):
    verdict: str
    host: str
    text: str


class Record:
    """What the tasks of one host left, as far as the summary needs it."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.changed = 0  # tasks
        self.would: List[str] = []
        self.steps: Dict[str, List[str]] = {}  # by layer, in sentences, as the host was judged first
        self.counts = ""  # of its findings, in words
        self.instances: Dict[str, Mapping[str, Any]] = {}
        self.task: Optional[str] = None  # that failed
        self.message = ""
        self.findings: List[Mapping[str, Any]] = []
        self.judged = False  # whether that task is one that judges
        self.unreachable: Optional[str] = None
        self.stopped_at: Optional[str] = None  # host at which the waves stopped before they came to this one

    def succeeded(self, result: Mapping[str, Any], changed: bool) -> None:
        """A task that did not fail; result is only looked into when it changed something or holds instances."""
        self.changed += changed
        if changed:
            self.would += [str(item) for item in _list(result.get("would"))]
        self._remember_instances(result)

    def was_judged(self, result: Mapping[str, Any]) -> None:
        """What a judge or the preflight found and would do; the first judgement of a layer is that of the bare host."""
        self.counts = str(result.get("counts") or self.counts)
        steps = result.get("steps")
        for layer, todo in steps.items() if isinstance(steps, Mapping) else ():
            sentences = [str(step["do"]) for step in _list(todo) if isinstance(step, Mapping) and step.get("do")]
            self.steps.setdefault(str(layer), sentences)

    def failed(self, task: str, result: Mapping[str, Any], judges: bool) -> None:
        """The last failure is what the line tells: after one that nothing rescued a host has no more tasks."""
        self._remember_instances(result)
        self.task, self.judged = task, judges
        self.findings = [one for one in _list(result.get("findings")) if isinstance(one, Mapping)] if judges else []
        self.message = _message(result)

    def _remember_instances(self, result: Mapping[str, Any]) -> None:
        for one in _list(result.get("instances")):
            if isinstance(one, Mapping) and isinstance(one.get("name"), str):
                before = self.instances.get(one["name"]) or {}
                self.instances[one["name"]] = dict(one, completion=one.get("completion") or before.get("completion"))


def line(record: Record, failures: int, dark: int, check: bool) -> Line:
    """The line of one host.

    :param failures: failed tasks that nothing rescued, as the recap counts them.
    :param dark: times it was unreachable, as the recap counts them.
    :param check: whether the run was in check mode.
    """
    verdict, text = _judge(record, failures, dark, check)
    text = " ".join(text.split())
    return Line(verdict, record.host, text if len(text) <= LIMIT else text[: LIMIT - 1] + "\u2026")


def _judge(record: Record, failures: int, dark: int, check: bool) -> tuple[str, str]:
    if dark:
        why = record.unreachable or "no connection"
        return "unreachable", "%s; try: ansible %s -m ansible.builtin.ping" % (_first_line(why), record.host)
    if failures:
        if record.task is None:
            return "failed", "see the task above"
        told = "%s: %s" % (record.task, _first_line(record.message))
        return ("refused", _refusal(record)) if record.judged else ("failed", told)
    if record.stopped_at:
        return "not started", "the waves stopped at %s" % record.stopped_at
    return _success(record, check)


def _success(record: Record, check: bool) -> tuple[str, str]:
    changes = ("%d task%s changed" % (record.changed, "" if record.changed == 1 else "s")) if record.changed else ""
    if check and record.changed:
        steps = [sentence for todo in record.steps.values() for sentence in todo]
        return "would change", _some(steps or record.would) or changes
    started = [one for one in record.instances.values() if one.get("ready")]
    if started and all(one.get("ready") is not False for one in record.instances.values()):
        answers = ", ".join(_instance(one) for one in started)
        return "ready", "%s (%s)" % (answers, changes or "unchanged")
    if record.changed:
        return "changed", changes
    return "unchanged", "" if record.counts in ("", "nothing") else "with " + record.counts


def _refusal(record: Record) -> str:
    errors = sorted(record.findings, key=lambda one: SEVERITIES.get(str(one.get("severity")), len(SEVERITIES)))
    if not errors:
        return _first_line(record.message)
    first, more = errors[0], len([one for one in errors if one.get("severity") == errors[0].get("severity")]) - 1
    of = " (%s)" % first["instance"] if first.get("instance") else ""
    text = "%s%s: found %s. %s" % (first.get("id"), of, str(first.get("have")).rstrip("."), first.get("remedy") or "")
    return text + (" (and %d more)" % more if more else "")


def _instance(one: Mapping[str, Any]) -> str:
    said = " ".join(str(one.get("completion") or "").split())
    if len(said) > SAID:
        said = said[: SAID - 1] + "\u2026"
    pending = ", restart pending" if one.get("pending_restart") else ""
    return "%s:%s%s%s" % (one["name"], one.get("port"), ' "%s"' % said if said else "", pending)


def _some(sentences: List[str]) -> str:
    first = "; ".join(sentences[:3])
    return first + (" (and %d more)" % (len(sentences) - 3) if len(sentences) > 3 else "")


def _message(result: Mapping[str, Any]) -> str:
    """A failed task's message; of a loop, that of its first failed item."""
    for item in _list(result.get("results")):
        if isinstance(item, Mapping) and item.get("failed"):
            return str(item.get("msg") or "")
    return str(result.get("msg") or result.get("stderr") or result.get("module_stderr") or "no message")


def _first_line(text: str) -> str:
    lines = [part.strip() for part in str(text).splitlines() if part.strip()]
    return lines[0] if lines else ""


def _list(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def ordered(lines: List[Line]) -> List[Line]:
    """By verdict, then by name."""
    return sorted(lines, key=lambda one: (VERDICTS.index(one.verdict), one.host))


def render(lines: List[Line]) -> List[str]:
    """The lines as text, in columns."""
    width = min(max((len(one.host) for one in lines), default=0), 40)
    return [("%-12s  %-*s  %s" % (one.verdict, width, one.host, one.text)).rstrip() for one in lines]


def total(lines: List[Line], check: bool) -> str:
    """The closing line: how many hosts ended how, and how to run again for those that did not get through."""
    counts = [
        "%d %s" % (number, verdict)
        for verdict in VERDICTS
        if (number := sum(1 for one in lines if one.verdict == verdict))
    ]
    text = "%d host%s: %s." % (len(lines), "" if len(lines) == 1 else "s", ", ".join(counts) or "none")
    if check:
        text += " Check mode: nothing was changed."
    again = [one.host for one in lines if one.verdict in ("not started", "refused", "failed", "unreachable")]
    if again and len(again) < len(lines):
        named = ",".join(again[:NAMED]) if len(again) <= NAMED else ",".join(again[:NAMED]) + ",\u2026"
        text += " After the repair, the same command with: -l %s" % named
    return text
