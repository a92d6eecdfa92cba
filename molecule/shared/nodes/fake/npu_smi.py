# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated npu-smi: output, errors and exit statuses of the real tool, its faults from the state file.

State keys that are faults:
  smi_error   "-8005", "-8020" or another DCMI code; "loader", "loader-path" (only where LD_LIBRARY_PATH lacks the
              driver's folders), "hang", "empty", "killed" (cut in the middle, status 137)
  smi_noise   a line that the HAL prints before everything
  slow        seconds that every call takes
  incomplete  true: the closing warning about an incomplete driver package
  devices.<npu:chip>  lost, health (null: unreadable), codes, information, and every value of the tables
Each call leaves a line in /var/lib/fake-npu/calls.log.
"""

from __future__ import annotations

import fcntl
import grp
import json
import os
import sys
import time

import fake_items
import fake_state
import fake_tables

CALLS = "/var/lib/fake-npu/calls.log"
LOCK = "/run/fake-npu/npu-smi.lock"
OK, INVALID, UNKNOWN_COMMAND = 0, 215, 211
USAGE = "Usage: npu-smi <Command|-h|-v> [Options...]"
INFO_USAGE = "Usage: npu-smi info <watch|proc|-h|-m|-l|-t type> [Options...]"
INIT = {"-8020": "dcmi model initialized failed, because the device is used. ret is -8020"}
LOADER = (
    "npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file: "
    "No such file or directory"
)
INCOMPLETE = (
    "[WARNING]The driver package may not be completely installed, which may cause function abnormal. "
    "Please reinstall it."
)


class Refused(Exception):
    """Lines to print and the exit status."""

    def __init__(self, status, *lines):
        super().__init__(*lines)
        self.status = status


def status_of(code):
    """Exit status of a DCMI code: the low byte, as the shell sees it."""
    return int(code) & 0xFF


def _start(state):
    """What happens before any command is looked at; raises Refused when the driver interface does not come up."""
    error = state.get("smi_error")
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    if error == "loader" or (error == "loader-path" and "/usr/local/Ascend/driver/lib64/driver" not in folders):
        sys.stderr.write(LOADER + "\n")
        raise Refused(127)
    if error == "hang":
        while True:
            time.sleep(3600)
    if error == "empty":
        raise Refused(OK)
    if state.get("smi_noise"):
        print(state["smi_noise"])
    if str(error or "").startswith("-"):
        raise Refused(status_of(error), INIT.get(error, "dcmi module initialize failed. ret is %s" % error))
    record = fake_state.install_info()
    if os.geteuid() and record.get("Driver_Install_For_All") != "yes":
        try:
            allowed = grp.getgrnam(record.get("UserGroup", "HwHiAiUser")).gr_gid
        except KeyError:
            allowed = None
        if allowed not in [*os.getgroups(), os.getegid()]:
            raise Refused(status_of(-8005), "dcmi module initialize failed. ret is -8005")


def _options(words):
    """{"-t": type, "-i": card, …} of the words behind `info`."""
    found = {}
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-t", "-i", "-c", "-p"):
            if not words:
                raise Refused(INVALID, "Error parameter of %s" % word, INFO_USAGE)
            found[word] = words.pop(0)
        elif word in ("-l", "-m", "-h", "--help", "watch", "proc"):
            found[word] = ""
        else:
            raise Refused(UNKNOWN_COMMAND, "Command or option is not found.", INFO_USAGE)
    return found


def _chosen(devices, options):
    """(NPU id, its chips, the one chip asked for or None)."""
    if "-i" not in options:
        raise Refused(INVALID, "This command must input card id.", INFO_USAGE)
    chips = [device for device in devices if str(device["npu"]) == options["-i"]]
    if not chips:
        raise Refused(INVALID, "Invalid card id.", "Error parameter of -i", INFO_USAGE)
    if "-c" not in options:
        return chips[0]["npu"], chips, None
    one = [device for device in chips if str(device["chip"]) == options["-c"]]
    if not one:
        raise Refused(INVALID, "Invalid chip id.", "Error parameter of -c", INFO_USAGE)
    return one[0]["npu"], chips, one[0]


def _process_memory(state, npu, chips):
    numbers = {chip["chip"] for chip in chips}
    rows = [row for row in fake_state.processes(state) if row["npu"] == npu and row["chip"] in numbers]
    lines = [
        "Process id:%s  Process name:%-16s  Process memory(MB):%s" % (row["pid"], row["name"], row["memory"])
        for row in rows
    ]
    return lines or ["No process in device."]


def _item(state, devices, options):
    kind, root = options["-t"], os.geteuid() == 0
    try:
        if kind == "topo":
            return fake_items.topology(state, devices)
        if kind == "proc-mem":
            npu, chips, chip = _chosen(devices, options)
            return _process_memory(state, npu, [chip] if chip else chips)
        if kind not in fake_items.ITEMS:
            raise Refused(INVALID, "Error parameter of -t", INFO_USAGE)
        npu, chips, chip = _chosen(devices, options)
        if chip and state["layout"] == "A5":
            raise Refused(OK, "This device does not support input parameter of -c.")
        of_card, of_chip = fake_items.ITEMS[kind]
        width = fake_items.WIDTHS.get(kind, 30)
        if chip is None:
            groups = of_card(state, npu, chips, root)
            return fake_items.render(fake_items.without_chips(groups) if state["layout"] == "A5" else groups, width)
        if of_chip:
            return fake_items.render(of_chip(state, npu, chip, root), width)
        # The chip's own answer has neither the card's head nor the chip's id.
        group = of_card(state, npu, [chip], root)[1]
        return fake_items.render([[pair for pair in group if pair[0] != "Chip ID"]], width)
    except fake_items.Unsupported as item:
        raise Refused(OK, fake_items.UNSUPPORTED % item) from None


def _answer(state, words):
    """Lines of the answer to ``words``."""
    if words in (["-h"], ["--help"]):
        return [USAGE]
    if words == ["-v"]:
        return ["npu-smi version: %s" % state["tool"]]
    if not words or words[0] != "info":
        raise Refused(UNKNOWN_COMMAND, "Command or option is not found.", USAGE)
    return _info(state, words[1:])


def _info(state, words):
    options, devices = _options(words), fake_state.devices(state)
    if not devices and ("-l" in options or "-m" in options):
        raise Refused(OK, "There is no NPU card on this server.")
    if "-h" in options or "--help" in options or (not devices and not options):
        return [INFO_USAGE]
    if "-t" in options:
        return _item(state, devices, options)
    if "-l" in options:
        return fake_items.render(fake_items.listing(state, devices))
    if "-m" in options:
        return fake_tables.mapping(state, devices)
    if options:
        raise Refused(UNKNOWN_COMMAND, "Command or option is not found.", INFO_USAGE)
    return fake_tables.info(state, devices, fake_state.processes(state))


def _call(words):
    state = fake_state.load()
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # The vendor only says that parallel calls are not supported; an inner error is what a caller must reckon with.
        raise Refused(status_of(-8005), "dcmi module initialize failed. ret is -8005") from None
    time.sleep(float(state.get("slow") or 0))
    _start(state)
    lines = _answer(state, words)
    if state.get("smi_error") == "killed":
        text = "\n".join(lines)
        raise Refused(137, text[: len(text) * 2 // 3])
    record = fake_state.install_info()
    if state.get("incomplete") or (record and record.get("Driver_Install_Status") != "complete"):
        lines = [*lines, INCOMPLETE]
    return lines


def main(words):
    started, status, lines = time.time(), OK, []
    try:
        try:
            lines = _call(words)
        except Refused as refused:
            lines, status = refused.args, refused.status
        if lines:
            print("\n".join(lines))
            sys.stdout.flush()
    finally:
        line = json.dumps(
            {
                "argv": words,
                "start": round(started, 3),
                "end": round(time.time(), 3),
                "rc": status,
                "uid": os.getuid(),
                "pid": os.getpid(),
            }
        )
        try:
            with open(CALLS, "a") as stream:
                stream.write(line + "\n")
        except OSError:
            sys.stderr.write("fake npu-smi cannot write %s\n" % CALLS)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
