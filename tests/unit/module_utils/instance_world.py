# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node in a folder with a systemd and vLLM servers that are a few lines each: for the tests of instances."""

from __future__ import annotations

import getpass
import json
import os

from ansible_collections.ascend.fleet.plugins.module_utils import _instance_act, _instance_run, _launch, _openai
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

LAUNCHER = "/opt/ascend-fleet/libexec/0123abcd"
MAPPING = """\
\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name
\t0                              0                              0                              Ascend 910B4
\t1                              0                              1                              Ascend 910B4
\t1                              1                              -                              Mcu
\t2                              0                              2                              Ascend 910B4
"""
PAIRED = """\
\tNPU ID                Chip ID               Chip Logic ID         Chip Phy-ID           Chip Name
\t4                     0                     0                     8                     Ascend910
\t4                     1                     1                     9                     Ascend910
\t6                     0                     2                     12                    Ascend910
\t6                     1                     3                     13                    Ascend910
"""


def table(*processes):
    """The main table of two idle 910B4 and the given process rows (npu, pid, name)."""
    line = "+---------------------------+---------------+----------------------------------------------------+"
    rows = [
        line,
        "| npu-smi 25.5.1                   Version: 25.5.1                                                |",
        line,
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |",
        line.replace("-", "="),
    ]
    for npu in range(3):
        rows += [
            "| %d     910B4               | OK            | 86.5        41                0    / 0             |" % npu,
            "| 0                         | 0000:0%d:00.0  | 0           0    / 0          2848 / 32768         |" % npu,
            line.replace("-", "="),
        ]
    rows += [line, "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |"]
    busy = {npu for npu, _pid, _name in processes}
    for npu, pid, name in processes:
        rows.append("| %-8d0                 | %-14d| %-25s| 100                     |" % (npu, pid, name))
    rows += ["| No running processes found in NPU %d   |" % npu for npu in range(3) if npu not in busy]
    return "\n".join([*rows, line]) + "\n"


class World:
    """``units``: what systemd knows; ``servers``: by port {models, key, text}; ``calls``: what was run, in order."""

    def __init__(self, folder):
        self.root = str(folder)
        self.calls = []
        self.units = {}
        self.servers = {}
        self.dies = set()  # units that fail as soon as they are started
        self.journal = []
        self.mapping, self.table = MAPPING, table()
        self.starts = 0
        self.runner = Runner(self.run_command, root=self.root)
        self.write("/usr/local/sbin/npu-smi", "", 0o755)
        self.write("/dev/davinci_manager", "")
        os.makedirs(self.root + "/etc/systemd/system")
        self.write("/proc/uptime", "100000.5 1.0\n")
        self.site = _instance_act.Site(
            getpass.getuser(), "", LAUNCHER, {"launch.py": "entry\n", "fleet/_launch.py": "x\n"}
        )

    def write(self, path, text, mode=0o644):
        whole = self.root + path
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as handle:
            handle.write(text)
        os.chmod(whole, mode)

    def read(self, path):
        with open(self.root + path, encoding="utf-8") as handle:
            return handle.read()

    def exists(self, path):
        return os.path.lexists(self.root + path)

    def process(self, pid, unit):
        self.write("/proc/%d/cgroup" % pid, "0::/system.slice/%s\n" % unit)

    def listen(self, port, pid, unit):
        """A process that holds a port."""
        self.process(pid, unit)
        row = "   0: 00000000:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77%d 1 0\n"
        self.write("/proc/net/tcp", "  sl  local_address rem_address\n" + row % (port, port))
        os.makedirs(self.root + "/proc/%d/fd" % pid, exist_ok=True)
        os.symlink("socket:[77%d]" % port, self.root + "/proc/%d/fd/3" % pid)
        self.write("/proc/%d/cmdline" % pid, "/usr/sbin/other\0--flag\0")

    # commands

    def run_command(self, argv, **_unused):
        words = list(argv)[4:] if argv[0] == "timeout" else list(argv)
        self.calls.append(words)
        name = os.path.basename(words[0])
        if name == "npu-smi":
            return 0, self.mapping if words[1:] == ["info", "-m"] else self.table, ""
        if name == "systemctl":
            return self.systemctl([word for word in words[1:] if word != "--no-pager"])
        if name == "journalctl":
            return 0, "\n".join(self.journal), ""
        return 127, "", "%s: not found" % name

    def systemctl(self, words):
        verb, names = words[0], [word for word in words[1:] if not word.startswith("-")]
        if verb == "show":
            return 0, "\n\n".join(self.show(name) for name in names), ""
        for name in names:
            unit = self.units.get(name)
            if unit is None and not self.exists("/etc/systemd/system/" + name):
                return 5, "", "Unit %s not loaded." % name
            unit = self.units.setdefault(name, {"active": "inactive", "enabled": "disabled", "invocation": ""})
            self.act(verb, name, unit)
        return 0, "", ""

    def act(self, verb, name, unit):
        if verb == "start":
            self.starts += 1
            unit.update(active="failed" if name in self.dies else "active", invocation="start-%d" % self.starts)
            unit["status"] = 1 if name in self.dies else 0
        elif verb == "stop":
            unit["active"] = "inactive"
        elif verb in ("enable", "disable"):
            unit["enabled"] = verb + "d"
        elif verb == "reset-failed" and unit["active"] == "failed":
            unit["active"] = "inactive"

    def show(self, name):
        unit = self.units.get(name)
        if unit is None:
            found = self.exists("/etc/systemd/system/" + name)
            return "Id=%s\nLoadState=%s\nActiveState=inactive\n" % (name, "loaded" if found else "not-found")
        return "Id=%s\nLoadState=loaded\nActiveState=%s\nUnitFileState=%s\nInvocationID=%s\nExecMainStatus=%d\n" % (
            name,
            unit["active"],
            unit["enabled"],
            unit["invocation"],
            unit.get("status", 0),
        ) + "NRestarts=%d\n" % unit.get("restarts", 0)

    def verbs(self, verb):
        """Names of the units in calls of systemctl with this verb, in order."""
        found = []
        for words in self.calls:
            if words[0] == "systemctl" and verb in words:
                found += [word for word in words if word.endswith(".service")]
        return found

    # servers

    def opener(self, url, payload, headers, timeout):
        port, path = url.split(":", 2)[2].split("/", 1)
        server = self.servers.get(int(port))
        if server is None:
            return _openai.Answer(0, "connection refused")
        if path == "health":
            return _openai.Answer(server.get("health", 200), "")
        if server.get("key") and headers.get("Authorization") != "Bearer " + server["key"]:
            return _openai.Answer(401, '{"error": "Unauthorized"}')
        if path == "v1/models":
            return _openai.Answer(200, json.dumps({"data": [{"id": name} for name in server["models"]]}))
        text = server.get("text", "Paris")
        return _openai.Answer(200, json.dumps({"choices": [{"text": text, "message": {"content": text}}]}))

    # a whole run

    def run(self, instances, secrets=None, **options):
        options.setdefault("ready_timeout", 0)
        return _instance_run.run(
            self.runner,
            self.opener,
            self.site,
            instances,
            secrets or {},
            options=_instance_run.Options(**options),
        )


def everything(node):
    """Text of every file on the node by path."""
    found = {}
    for folder, _folders, names in os.walk(node.root):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, encoding="utf-8", errors="replace") as handle:
                    found[path[len(node.root) :]] = handle.read()
    return found


def wanted(name="chat", port=8000, config="port: 8000\n", state="started", launcher=LAUNCHER, **more):
    """An instance as the controller renders it, with small files."""
    unit = "[Service]\nExecStart=python %s/launch.py start\n%s" % (launcher, more.pop("unit", ""))
    one = {
        "name": name,
        "state": state,
        "unit": {"path": "/etc/systemd/system/ascend-vllm-%s.service" % name, "content": unit},
        "files": [{"path": "/etc/ascend-fleet/vllm/%s.yaml" % name, "content": config}],
        "host": "",
        "port": port,
        "tls": False,
        "model": "/models/m",
        "served_name": "m",
        "pooling": False,
        "runtime": "0.23.0-abcdef01",
        "devices": ["0"],
        "digest": "d" + str(hash((config, unit)) % 1000),
    }
    one.update(more)
    return one


def description(**more):
    return dict({"instance": "chat", "unit": "ascend-vllm-chat.service", "devices": ["0"], "device_wait": 900}, **more)


__all__ = ["LAUNCHER", "MAPPING", "PAIRED", "World", "_launch", "description", "everything", "table", "wanted"]
