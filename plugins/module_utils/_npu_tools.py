# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Calls of npu-smi and of the driver's upgrade tool: one after the other, under the lock that all our callers share.

The vendor does not support parallel calls, and a card that is lost can block one for minutes: each call has a timeout,
and after the first one that hangs no other is made.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Dict, Sequence

from . import _lock
from ._npu_errors import fault, find_error
from ._npu_smi import parse_info, parse_mapping
from ._npu_values import parse_board, parse_upgrade_tool
from ._runner import Result, Runner

PLACES = ("/usr/local/sbin", "/usr/local/bin", "/usr/local/dcmi")  # an ssh session's PATH often lacks the first
LOCK_WAIT = 60  # seconds
_NOT_FOUND = "no npu-smi in /usr/local/sbin or /usr/local/bin: no Ascend driver is installed, or it is not mounted here"


def library_path(driver: str, inherited: str = "") -> str:
    """LD_LIBRARY_PATH for the driver's tools; what the caller had comes last, without empty elements."""
    folders = ["/usr/local/dcmi"] + [driver + "/lib64" + tail for tail in ("", "/common", "/driver")]
    return ":".join(folders + [folder for folder in inherited.split(":") if folder])


class Tools:
    """The tools of one host. ``warnings`` collects what is worth a word and stops nothing."""

    def __init__(self, runner: Runner, driver: str, timeout: int) -> None:
        """:param driver: folder of the driver, /usr/local/Ascend/driver unless its record says otherwise."""
        self._runner = runner
        self._timeout = timeout
        self._upgrade_tool = driver + "/tools/upgrade-tool"
        self._env = {"LD_LIBRARY_PATH": library_path(driver, os.environ.get("LD_LIBRARY_PATH", ""))}
        self.path = runner.which("npu-smi", extra=PLACES)
        self.warnings = []

    def query(self, firmware_known: bool) -> Dict[str, Any]:
        """Everything that the minimal subset takes from the tools.

        :param firmware_known: a file names the firmware. Without one, and without the upgrade tool's answer, the board
            of the first card is asked as well.
        :return: {error, info, mapping, firmware: {device index: [versions]}, board}; info as parse_info gives it, None
            when npu-smi could not be called at all.
        """
        answer = {"error": None, "info": None, "mapping": [], "firmware": {}, "board": None}  # type: Dict[str, Any]
        if self.path is None:
            return dict(answer, error=fault("npu-smi not found", None, _NOT_FOUND))
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(_lock.held(self._runner, _lock.NPU_SMI, LOCK_WAIT, "asks npu-smi", mode=0o666))
            except _lock.Busy as exc:
                return dict(answer, error=fault(str(exc), None, "another npu-smi call of this collection did not end"))
            except OSError as exc:
                self.warnings.append(
                    "cannot lock %s (%s): npu-smi is called all the same, parallel calls can fail"
                    % (_lock.NPU_SMI, exc.strerror)
                )
            self._ask(answer, firmware_known)
        return answer

    def _ask(self, answer: Dict[str, Any], firmware_known: bool) -> None:
        result = self._smi(["info"])
        info = answer["info"] = parse_info(result.out)
        if result.timed_out or not info["devices"]:
            info["truncated"] = info["truncated"] or result.timed_out
            answer["error"] = find_error(result.out, result.err, result.rc, self._timeout)
            return
        result = self._smi(["info", "-m"])
        answer["mapping"] = parse_mapping(result.out)
        if not answer["mapping"]:
            error = find_error(result.out, result.err, result.rc, self._timeout)
            self.warnings.append("npu-smi info -m gives no ids: %s" % error["text"])
        if self._runner.is_executable(self._upgrade_tool):
            result = self._run([self._upgrade_tool, "--device_index", "-1", "--component", "-1", "--version"])
            answer["firmware"] = parse_upgrade_tool(result.out)
            if not answer["firmware"]:
                self.warnings.append("%s names no firmware version (exit status %d)" % (self._upgrade_tool, result.rc))
        if not answer["firmware"] and not firmware_known:
            first = str(info["devices"][0]["npu_id"])
            answer["board"] = parse_board(self._smi(["info", "-t", "board", "-i", first]).out)

    def _smi(self, words: Sequence[str]) -> Result:
        return self._run([self.path or "npu-smi", *words])

    def _run(self, argv: Sequence[str]) -> Result:
        return self._runner.run(argv, timeout=self._timeout, env=self._env)
