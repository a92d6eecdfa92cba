# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Started by systemd: finds the devices of an instance and becomes vLLM, or refuses with the reason in the journal.

    launch.py prepare DESCRIPTION    as root, before the start
    launch.py start DESCRIPTION      as the service user

DESCRIPTION is /etc/ascend-fleet/vllm/<instance>.json: {unit, instance, devices, device_wait (s), folder, argv}.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time

# The interpreter runs isolated (-I), so its own folder is not on the path, nor is anything of PYTHONPATH.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet import _launch, _runner


def run_command(argv, environ_update=None, cwd=None, data=None, **unused):
    """What AnsibleModule.run_command is to the modules: (rc, stdout, stderr)."""
    done = subprocess.run(
        argv,
        env=dict(os.environ, **(environ_update or {})),
        cwd=cwd,
        input=(data or "").encode("utf-8"),
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def say(text):
    print(text, flush=True)


def start(runner, description):
    for name in ("cache", "log"):
        os.makedirs(os.path.join(description["folder"], name), exist_ok=True)
    for path in _launch.old_logs(runner, description["folder"] + "/log", time.time()):
        with contextlib.suppress(OSError):
            os.unlink(path)
    taken = _launch.wait_for_devices(runner, description, say)
    chosen = _launch.visible(taken)
    say(
        "%s: devices %s are the logical ids %s; starting %s"
        % (
            description["instance"],
            " ".join("%s:%s" % (chip["npu_id"], chip["chip_id"]) for chip in taken),
            chosen,
            " ".join(description["argv"]),
        )
    )
    argv = description["argv"]
    try:
        os.execve(argv[0], argv, dict(os.environ, **{_launch.VISIBLE: chosen}))
    except OSError as exc:
        raise _launch.Refused("%s cannot be started: %s." % (argv[0], exc.strerror)) from exc


def main(words):
    with open(words[1], encoding="utf-8") as handle:
        description = json.load(handle)
    runner = _runner.Runner(run_command)
    if words[0] == "prepare":
        _launch.prepare(runner)
        return 0
    try:
        start(runner, description)
    except _launch.Refused as exc:
        say("%s: start refused: %s" % (description["instance"], exc))
    return _launch.REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
