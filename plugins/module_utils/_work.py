# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""A private place for long work (conda, pip, builds): home, temporary folder, deadline, readable failure.

Nothing of it survives: it is cleared at the start, for the run that was killed, and at the end. Only the full output of
a command that failed is kept, because the cause of a failed build is rarely in its last lines.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from ._runner import Result, Runner

FOLDER = "/var/cache/ascend-fleet/work"
LOGS = "/var/cache/ascend-fleet/logs"
UMASK = 0o022
_TAIL = 12
_FRAME = re.compile(r'^\s+File ".*", line \d+')
_NOISE = re.compile(r"^\s*(?:[\^~]+|\[end of output\]|note: This error originates.*)$")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")

Advice = Callable[[str], Optional[str]]


class Failed(Exception):
    """Work that did not succeed: a sentence with cause and remedy, and the last lines of the output."""

    def __init__(self, text: str, log: Sequence[str] = ()) -> None:
        Exception.__init__(self, text)
        self.text = text
        self.log = list(log)

    def result(self) -> Dict[str, Any]:
        """What a module hands to fail_json: the sentence first, the output below it."""
        return {"msg": "\n".join([self.text, *self.log]), "log": self.log}


def masked(text: str) -> str:
    """Text without the credentials that an address may carry."""
    return _CREDENTIALS.sub("***@", text)


def last_lines(result: Result, count: int = _TAIL) -> List[str]:
    """The closing lines of both outputs that say something, standard error last, credentials masked.

    Left out are the frames of a traceback: its first and last lines tell the cause.
    """
    kept = []  # type: List[str]
    in_frame = False
    for line in masked(result.out + "\n" + result.err).splitlines():
        if _FRAME.match(line):
            in_frame = True
        elif in_frame:
            in_frame = False  # the source line of the frame
        elif line.strip() and not _NOISE.match(line):
            kept.append(line.rstrip())
    return kept[-count:]


def remove_tree(runner: Runner, path: str) -> bool:
    """Remove a folder of ours with all in it; False when there was none.

    A link is removed, never followed; a path too near to the root is a programming error.
    """
    parts = [part for part in path.split("/") if part]
    if not path.startswith("/") or len(parts) < 2 or ".." in parts:
        raise ValueError("refusing to remove %r" % path)
    if runner.is_link(path):
        return runner.remove(path)
    if not runner.lexists(path):
        return False
    shutil.rmtree(runner.real(path))
    return True


class Work:
    """``with Work(runner, "conda_env", 3600) as work: work.call([...], "creating the env")``."""

    def __init__(self, runner: Runner, name: str, timeout: int) -> None:
        self.runner = runner
        self.name = name
        self.folder = "%s/%s" % (FOLDER, name)
        self.home = self.folder + "/home"
        self.tmp = self.folder + "/tmp"
        self._timeout = timeout
        self._end = time.monotonic() + timeout

    def __enter__(self) -> Work:
        self.runner.make_folder(FOLDER)
        remove_tree(self.runner, self.folder)
        self.runner.make_folder(self.folder, 0o700)
        self.runner.make_folder(self.home, 0o700)
        self.runner.make_folder(self.tmp, 0o700)
        if self.runner.space(self.tmp)["noexec"]:
            raise Failed(
                "%s lies on a file system mounted noexec, but conda and builds start programs there. "
                "Mount it without noexec ('mount -o remount,exec ...') and run again." % self.tmp
            )
        return self

    def __exit__(self, *unused: Any) -> None:
        with contextlib.suppress(OSError):  # what is left is cleared by the next run; it must not hide the real result
            remove_tree(self.runner, self.folder)

    def environment(self) -> Dict[str, str]:
        """What every command of ours gets: nothing from the account that happens to run it."""
        return {
            "HOME": self.home,
            "XDG_CONFIG_HOME": self.home + "/.config",
            "XDG_CACHE_HOME": self.home + "/.cache",
            "TMPDIR": self.tmp,
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": "",
        }

    def write(self, name: str, lines: Sequence[str]) -> str:
        """A text file in the private folder; returns its path."""
        path = "%s/%s" % (self.folder, name)
        self.runner.write_atomic(path, "".join(line + "\n" for line in lines), 0o600)
        return path

    def call(
        self,
        argv: Sequence[str],
        doing: str,
        env: Optional[Dict[str, str]] = None,
        cwd: Optional[str] = None,
        advice: Optional[Advice] = None,
    ) -> Result:
        """Run argv within what is left of the time; Failed with cause and remedy when it does not exit with 0.

        :param doing: the work in words, as in "<doing> failed".
        :param advice: gives a remedy for an output, or None.
        """
        left = int(self._end - time.monotonic())
        if left <= 0:
            raise Failed(self._too_slow(doing))
        environment = self.environment()
        environment.update(env or {})
        result = self.runner.run(argv, timeout=left, env=environment, cwd=cwd or self.tmp, umask=UMASK)
        if result.rc == 0:
            return result
        log = self._keep(argv, result)
        if result.timed_out and time.monotonic() >= self._end - 1:
            raise Failed("%s Its output is in %s." % (self._too_slow(doing), log), last_lines(result))
        remedy = advice(result.out + "\n" + result.err) if advice else None
        raise Failed(
            "%s failed with exit status %d. %s The whole output is in %s."
            % (doing, result.rc, remedy or "See the last lines of its output.", log),
            last_lines(result),
        )

    def _too_slow(self, doing: str) -> str:
        return "%s did not end within %d s. Raise the timeout, or look why it is slow, and run again." % (
            doing,
            self._timeout,
        )

    def _keep(self, argv: Sequence[str], result: Result) -> str:
        path = "%s/%s.log" % (LOGS, self.name)
        self.runner.make_folder(LOGS)
        text = "$ %s\n%s\n%s\n(exit status %d)\n" % (" ".join(argv), result.out, result.err, result.rc)
        self.runner.write_atomic(path, masked(text))
        return path
