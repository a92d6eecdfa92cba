# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What happens between systemd and vLLM at each start: NPU ids become logical ids, or the start is refused.

People name cards as ``npu-smi info -m`` prints them (NPU and chip id); CANN counts logical ids, and the two may part
ways when a card is lost or replaced. So the mapping is read at each start and never stored. This file is copied to the
node with the siblings that it imports (``copied``) and runs there as the service user, without Ansible.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _lock, _npu_smi, _ports
from ._runner import Runner

REFUSED = 78  # EX_CONFIG; the unit does not restart after it
GRACE = 20  # seconds in which a process of the last run may still be listed on our card
PAUSE = 5  # seconds between two looks
LOG_DAYS = 14  # CANN writes process logs for each start and removes none
VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
TOOLS = ("/usr/local/sbin", "/usr/local/bin")
LIBRARIES = "/usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64/common:/usr/local/Ascend/driver/lib64/driver"
ID = re.compile(r"([0-9]+)(?::([0-9]+))?\Z")  # of an NPU, or of a chip of it
_SIBLING = re.compile(r"^from \.(?: import ((?:_\w+)(?:, _\w+)*)|(_\w+) import )", re.MULTILINE)


class Refused(Exception):
    """This start cannot succeed; the text is for the journal. ``later``: waiting may help."""

    def __init__(self, text: str, later: bool = False) -> None:
        super().__init__(text)
        self.later = later


class Mapping(NamedTuple):
    """What npu-smi knows: chips of ``-m``, processes of the table (None = it does not say)."""

    chips: List[Dict[str, Any]]
    processes: Optional[List[Dict[str, Any]]]


def copied(source: Callable[[str], str], entry: str) -> Tuple[str, Dict[str, str]]:
    """The files of the launcher, and 8 hex digits of their content, which name its folder.

    :param source: callable(name of a sibling) -> its text; the controller reads files, the node its own modules, and
        both must come to the same digits.
    :param entry: text of launch.py, the program that imports the rest as package ``fleet``.
    """
    files = {"launch.py": entry, "fleet/__init__.py": ""}
    todo = ["_launch"]
    while todo:
        name = todo.pop()
        path = "fleet/%s.py" % name
        if path in files:
            continue
        files[path] = source(name)
        for many, one in _SIBLING.findall(files[path]):
            todo += [one] if one else many.split(", ")
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(("%s\0%s\0" % (path, files[path])).encode("utf-8"))
    return whole.hexdigest()[:8], files


def tool(runner: Runner) -> Optional[str]:
    return runner.which("npu-smi", TOOLS)


def look(runner: Runner, timeout: int = 60) -> Mapping:
    """Two calls of npu-smi, one after the other: parallel calls fail.

    :raises Refused: the tool is not there, is busy, or says that the driver is not ready.
    """
    path = tool(runner)
    if path is None:
        raise Refused("npu-smi is not on this node: the NPU driver comes first.", later=True)
    paths = [LIBRARIES] + [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
    env = {"LD_LIBRARY_PATH": ":".join(paths)}
    try:
        with _lock.held(runner, _lock.NPU_SMI, timeout, "start of a vLLM service", mode=0o666):
            mapping, table = _two_calls(runner, path, env, timeout)
    except _lock.Busy as exc:
        raise Refused(str(exc), later=True) from exc
    except OSError:  # the folder of the lock is closed to this user: better to ask without it than not at all
        mapping, table = _two_calls(runner, path, env, timeout)
    chips = _npu_smi.parse_mapping(mapping)
    if not chips:
        raise Refused("npu-smi info -m names no NPU. It says: %s" % (mapping.strip() or "nothing"), later=True)
    return Mapping(chips, _npu_smi.parse_info(table)["processes"])


def _two_calls(runner: Runner, path: str, env: Dict[str, str], timeout: int) -> Tuple[str, str]:
    mapping = runner.run([path, "info", "-m"], timeout=timeout, env=env)
    if mapping.timed_out:
        raise Refused("npu-smi info -m gave no answer within %d s." % timeout, later=True)
    table = runner.run([path, "info"], timeout=timeout, env=env)
    return mapping.out or mapping.err, table.out


def table_of(chips: Sequence[Dict[str, Any]]) -> str:
    lines = ["NPU:chip  logical  physical  name"]
    for chip in chips:
        place = "%s:%s" % (chip["npu_id"], chip["chip_id"])
        lines.append("%-9s %-8s %-9s %s" % (place, _shown(chip["logic_id"]), _shown(chip["phy_id"]), chip["name"]))
    return "\n".join(lines)


def _shown(value: Optional[int]) -> str:
    return "-" if value is None else str(value)


def choose(chips: Sequence[Dict[str, Any]], asked: Sequence[str]) -> List[Dict[str, Any]]:
    """The chips that an instance asks for: ``npu:chip``, ``npu`` (all of its chips), nothing (all of the node).

    :raises Refused: an id is malformed, not in the table, or has no logical id.
    """
    taken = []  # type: List[Dict[str, Any]]
    for word in asked:
        match = ID.match(word)
        if not match:
            raise Refused("device %r is no NPU id: wanted is npu or npu:chip, as npu-smi info -m prints them." % word)
        npu, chip = int(match.group(1)), match.group(2)
        found = [one for one in chips if one["npu_id"] == npu and chip in (None, str(one["chip_id"]))]
        if not found:
            raise Refused("device %s is not there. npu-smi info -m lists:\n%s" % (word, table_of(chips)), later=True)
        taken += [one for one in found if one not in taken]
    taken = taken if asked else list(chips)
    for one in taken:
        if one["logic_id"] is None:
            raise Refused(
                "device %s:%s has no logical id. npu-smi info -m lists:\n%s"
                % (one["npu_id"], one["chip_id"], table_of(chips)),
                later=True,
            )
    return taken


def holders(
    taken: Sequence[Dict[str, Any]], processes: Optional[Sequence[Dict[str, Any]]], ours: Callable[[int], bool]
) -> List[str]:
    """Sentences about processes that are not ours on the chips that we want."""
    found = []
    for process in processes or []:
        for chip in taken:
            same = process["npu_id"] == chip["npu_id"] and process["chip_id"] in (None, chip["chip_id"])
            if same and not ours(process["pid"]):
                found.append(
                    "NPU %s chip %s is held by process %s (%s)"
                    % (chip["npu_id"], chip["chip_id"], process["pid"], process["name"] or "name unknown")
                )
    return found


def missing_nodes(runner: Runner, taken: Sequence[Dict[str, Any]]) -> List[str]:
    """Device nodes that the driver has not made yet; their numbers are physical ids, which older tools do not print."""
    wanted = ["/dev/davinci_manager"]
    wanted += ["/dev/davinci%d" % chip["phy_id"] for chip in taken if chip["phy_id"] is not None]
    return [path for path in wanted if not runner.exists(path)]


def devices(runner: Runner, unit: str, asked: Sequence[str], timeout: int = 60) -> List[Dict[str, Any]]:
    """One look at the node: the chips that this start may use.

    :raises Refused: one is missing, held by somebody else, or not ready.
    """
    mapping = look(runner, timeout)
    taken = choose(mapping.chips, asked)
    absent = missing_nodes(runner, taken)
    if absent:
        raise Refused("the driver has not made %s." % ", ".join(absent), later=True)
    held = holders(taken, mapping.processes, lambda pid: _ports.unit_of(runner, pid) == unit)
    if held:
        raise Refused(
            "%s. npu-smi info -m lists:\n%s\nEnd that process, or give this instance other devices."
            % ("; ".join(sorted(set(held))), table_of(mapping.chips)),
            later=True,
        )
    return taken


def visible(taken: Sequence[Dict[str, Any]]) -> str:
    """Ascending and without blanks: CANN drops whatever follows the first id that is out of order."""
    return ",".join(str(number) for number in sorted(chip["logic_id"] for chip in taken))


def wait_for_devices(
    runner: Runner,
    description: Dict[str, Any],
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> List[Dict[str, Any]]:
    """Look until the devices are ready.

    After boot the driver may need minutes, so until the node is up for ``device_wait`` seconds a missing device may
    still come; later it will not, and only processes that are on their way out get GRACE seconds.

    :raises Refused: the last reason.
    """
    began = clock()
    left_of_boot = int(description["device_wait"]) - uptime(runner)
    deadline = began + max(GRACE, left_of_boot)
    told = None
    while True:
        try:
            return devices(runner, description["unit"], description["devices"])
        except Refused as exc:
            if not exc.later or clock() >= deadline:
                raise
            if str(exc) != told:
                told = str(exc)
                say("waiting for at most %d s: %s" % (deadline - clock(), told.splitlines()[0]))
        sleep(PAUSE)


def uptime(runner: Runner) -> float:
    """Seconds since boot; a node that does not tell counts as long up."""
    try:
        return float((runner.read("/proc/uptime") or "").split()[0])
    except (IndexError, ValueError):
        return float("inf")


def old_logs(runner: Runner, folder: str, now: float) -> List[str]:
    """Process logs below an instance's own folder that nobody wrote to for LOG_DAYS, links not followed."""
    found = []  # type: List[str]
    todo = [folder]
    while todo:
        current = todo.pop()
        for name in runner.names(current):
            path = current + "/" + name
            info = runner.stat(path)
            if info is None or stat.S_ISLNK(info.st_mode):
                continue
            if stat.S_ISDIR(info.st_mode):
                todo.append(path)
            elif now - info.st_mtime > LOG_DAYS * 86400:
                found.append(path)
    return sorted(found)


def prepare(runner: Runner) -> None:
    """As root, before the start: the lock of npu-smi, so that the service user and root find the same file."""
    try:
        with _lock.held(runner, _lock.NPU_SMI, 0, "start of a vLLM service", mode=0o666):
            pass
    except _lock.Busy:  # then it is there
        pass
