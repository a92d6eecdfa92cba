# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Waits until vLLM instances answer, and says why one does not.

Ready is: /health answers 200, the model list has the served name, and, when it is asked for, the model says something.
A model list alone is no proof: there are servers whose first request kills the engine.
"""

from __future__ import annotations

import time
from typing import Callable, List, NamedTuple, Optional, Sequence

from . import _causes, _openai, _systemd
from ._runner import Runner

COMPLETION_LIMIT = 300  # seconds; the first request may still compile
PAUSE = 2  # seconds between two looks
LOOP = 2  # restarts that make a loop
LINES = 20  # of the journal in a message


class Target(NamedTuple):
    """A server to wait for.

    ``restarts``: what systemd counted before; ``ask``: the model has to say something too; ``since``: start of the
    journal that matters (seconds since the epoch), None for all of it; ``older``: it goes on with older files, so its
    key may be another.
    """

    name: str
    unit: str
    address: str
    port: int
    tls: bool
    api_key: Optional[str]
    served_name: str
    pooling: bool
    restarts: int
    ask: bool
    since: Optional[float]
    older: bool = False


class Outcome(NamedTuple):
    """``error`` None: ready. ``completion``: what the model said, when it was asked."""

    name: str
    error: Optional[str]
    completion: Optional[str]
    seconds: float
    models: List[str]


def address_of(host: str) -> str:
    """Where a client on the node reaches a server that listens on ``host``."""
    return "127.0.0.1" if host in ("", "0.0.0.0", "*") else "::1" if host == "::" else host


def wait(
    runner: Runner,
    opener: _openai.Opener,
    targets: Sequence[Target],
    limit: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> List[Outcome]:
    """Look at all targets in turn until each is ready, has failed, or ``limit`` seconds are over."""
    began = clock()
    done = {}  # type: dict[str, Outcome]
    slow = set()  # type: set
    while True:
        left = [target for target in targets if target.name not in done]
        units = _systemd.show(runner, [target.unit for target in left])
        for target in left:
            error = broken(units[target.unit], target.restarts)
            if error is None:
                answer = _serving(opener, target)
                if answer.error is None:
                    whole = target._replace(ask=target.ask or target.name in slow)
                    done[target.name] = _asked(runner, opener, whole, answer.names)._replace(seconds=clock() - began)
                    continue
                slow.add(target.name)
                if clock() - began < limit and not answer.final:
                    continue
                waited = "" if answer.final else " within %d s" % limit
                error = "is not ready%s: %s" % (waited, answer.error)
            done[target.name] = Outcome(target.name, explain(runner, target, error), None, clock() - began, [])
        if len(done) == len(targets):
            return [done[target.name] for target in targets]
        sleep(PAUSE)


def once(
    runner: Runner,
    opener: _openai.Opener,
    target: Target,
    timeout: float,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """One look without waiting; ``timeout``: seconds for the answer of the model, ``seconds``: how long that took."""
    unit = _systemd.show(runner, [target.unit])[target.unit]
    # Restarts of the past are no fault of one that runs now.
    error = broken(unit, unit.restarts)
    if error is None:
        serving = _serving(opener, target)
        if serving.error is None:
            began = clock()
            outcome = _asked(runner, opener, target, serving.names, timeout)
            return outcome._replace(seconds=clock() - began)
        error = "is not ready: %s" % serving.error
    return Outcome(target.name, explain(runner, target, error), None, 0, [])


class _Serving(NamedTuple):
    """Names that are served, or why not; ``final``: waiting does not help."""

    names: List[str]
    error: Optional[str]
    final: bool = False


def server_of(opener: _openai.Opener, target: Target) -> _openai.Server:
    return _openai.Server(opener, target.address, target.port, target.tls, target.api_key)


def _serving(opener: _openai.Opener, target: Target) -> _Serving:
    server = server_of(opener, target)
    health = server.health()
    if health.status != 200:
        return _Serving([], _openai.refusal("/health", health))
    models = server.models()
    if models.names is None:
        refused = "401" in (models.error or "")
        if refused and target.older:  # it still runs with its old key
            return _Serving([target.served_name], None)
        return _Serving([], models.error, refused)
    if target.served_name not in models.names:
        return _Serving(
            models.names,
            "it serves %s, not %s" % (", ".join(models.names) or "nothing", target.served_name),
            True,
        )
    return _Serving(models.names, None)


def _asked(
    runner: Runner, opener: _openai.Opener, target: Target, models: List[str], timeout: float = COMPLETION_LIMIT
) -> Outcome:
    silent = Outcome(target.name, None, None, 0, models)
    if not target.ask or target.older:
        return silent
    server = server_of(opener, target)
    if target.pooling:
        said = server.embedding(target.served_name, timeout)
        if said.text is None and ("answered 400" in (said.error or "") or "answered 404" in (said.error or "")):
            return silent  # a pooling model of another kind
    else:
        said = server.completion(target.served_name, timeout)
    error = None if said.error is None else explain(runner, target, "is up but gives no answer: %s" % said.error)
    return silent._replace(error=error, completion=said.text)


def broken(unit: _systemd.Unit, restarts: int) -> Optional[str]:
    """Why a unit will not get ready by itself, or None."""
    if unit.load != "loaded":
        return "has no unit that systemd takes (%s)" % unit.load
    if unit.active == "failed":
        return "failed (%s, exit status %d)" % (unit.result, unit.status)
    if unit.restarts - restarts >= LOOP:
        return "ends and is started again in a loop (%d times so far, exit status %d)" % (
            unit.restarts - restarts,
            unit.status,
        )
    if unit.active == "inactive":
        return "has ended by itself (%s, exit status %d)" % (unit.result, unit.status)
    return None


def explain(runner: Runner, target: Target, what: str) -> str:
    """First line: what happened, its cause as far as the journal shows it, the next command. Then the journal's end."""
    lines = _systemd.journal(runner, target.unit, since=target.since)
    cause = _causes.find(lines)
    text = "%s (port %d) %s." % (target.name, target.port, what)
    if cause:
        text += " Cause: %s. Next: %s, or read 'journalctl -u %s'." % (cause.text, cause.remedy, target.unit)
    else:
        text += " Next: read 'journalctl -u %s'." % target.unit
    if lines:
        text += "\nIts last lines:\n  " + "\n  ".join(line[:300] for line in lines[-LINES:])
    return text
