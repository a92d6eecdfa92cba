"""What a run over a converged fleet costs: site.yml on 3 and on 6 nodes, beside `ansible -m ping` on the same nodes.

    python tests/bench/bench.py [--runs N]

Boots six simulated nodes, converges them once, then measures. Reported for each fleet size, from the best of N runs:

    wall s       seconds from start to end
    cpu s        CPU seconds that the whole machine spent beyond its idle noise: controller and nodes together
    cpu s/host   what one more host costs: (cpu of 6 nodes - cpu of 3 nodes) / 3
    calls/host   commands that came through ssh and sudo, counted in the nodes' own journals
    tasks        tasks that ran, from the play's own callbacks

Run on a machine that does nothing else. Needs the artifacts of `make artifacts`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
WORK = ROOT / ".cache" / "bench"
NODES = [sys.executable, str(ROOT / "molecule/shared/nodes/fleetnodes.py")]
SIZES = (3, 6)
# section 5 of the design: one probe, one readiness call, one in reserve
BUDGET_CALLS = 3
TASK = re.compile(r"^TASK \[", re.MULTILINE)


def spec() -> dict:
    """Six nodes of one board, one instance each."""
    instance = {
        "name": "qwen",
        "model": "/srv/ascend/model/tiny",
        "devices": ["0", "1"],
        "port": 8000,
        "settings": {"tensor-parallel-size": 2, "served-model-name": "qwen"},
    }
    return {
        "mounts": [[".cache/artifacts", "/srv/ascend", "ro"]],
        "nodes": [
            {
                "name": f"bench-{number}",
                "board": "910b4x8",
                "driver": "26.0.rc1",
                "vars": {"vllm_service_instances": [instance]},
            }
            for number in range(1, max(SIZES) + 1)
        ],
    }


def run(words: list[str], **options: object) -> str:
    environ = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"bench: '{' '.join(words)}' ended with {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return done.stdout


def busy_seconds() -> float:
    """CPU seconds that this machine has worked since boot."""
    fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def idle_noise(seconds: float = 10) -> float:
    """CPU seconds for each second that the machine spends while nothing of ours runs."""
    before = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - before) / seconds


def sudo_calls(nodes: list[str], since: float) -> int:
    """Commands that reached the nodes through sudo since then, from their journals."""
    total = 0
    for node in nodes:
        words = [
            *NODES,
            "exec",
            "--group",
            "bench",
            node,
            "--",
            "journalctl",
            "-q",
            "-o",
            "cat",
            "-t",
            "sudo",
            f"--since=@{since:.0f}",
        ]
        total += sum("COMMAND=" in line for line in run(words).splitlines())
    return total


def measure(words: list[str], nodes: list[str], noise: float, runs: int) -> dict:
    """The best of some runs: {wall, cpu, calls, tasks}."""
    best: dict = {}
    for _turn in range(runs):
        time.sleep(1.1)  # journals count whole seconds
        since, started, busy = time.time(), time.monotonic(), busy_seconds()
        output = run(words)
        wall = time.monotonic() - started
        cpu = busy_seconds() - busy - noise * wall
        changed = [int(number) for number in re.findall(r"changed=(\d+)", output)]
        if any(changed):
            sys.exit(f"bench: the fleet is not converged, changed={changed}")
        if not best or cpu < best["cpu"]:
            calls = sudo_calls(nodes, since) / len(nodes)
            best = {"wall": wall, "cpu": cpu, "calls": calls, "tasks": len(TASK.findall(output))}
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs for each figure, the best counts")
    parser.add_argument("--keep", action="store_true", help="leave the nodes running")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "group_vars").mkdir(exist_ok=True)
    demo = ROOT / "inventories" / "demo" / "group_vars" / "all"
    (WORK / "group_vars" / "all.yml").write_text(
        (demo / "main.yml").read_text().replace("{{ inventory_dir }}/../../.cache", str(ROOT / ".cache"))
    )
    overrides = ROOT / ".cache" / "artifacts" / "overrides.yml"
    values = yaml.safe_load(overrides.read_text()) if overrides.exists() else {}
    extra = ["-e", json.dumps({"ascend_overrides": values})]
    (WORK / "fleet.json").write_text(json.dumps(spec()))
    inventory = str(WORK / "hosts.yml")
    run([*NODES, "up", "--spec", str(WORK / "fleet.json"), "--inventory", inventory, "--group", "bench"])
    site = [str(BIN / "ansible-playbook"), "-i", inventory, "site.yml", *extra]
    print("converging six nodes …", flush=True)
    started = time.monotonic()
    run([*site, "-l", "ascend_nodes"])
    print(f"first run on 6 nodes: {time.monotonic() - started:.0f} s")
    noise = idle_noise()
    rows = {}
    for size in SIZES:
        nodes = [f"bench-{number}" for number in range(1, size + 1)]
        limit = ["-l", ",".join(nodes)]
        ping = [str(BIN / "ansible"), "-i", inventory, "all", "-m", "ansible.builtin.ping", *limit]
        rows[size] = {
            "ping": measure(ping, nodes, noise, options.runs),
            "site": measure([*site, *limit], nodes, noise, options.runs),
        }
    print(f"\n{'nodes':>5} {'what':>5} {'wall s':>7} {'cpu s':>7} {'calls/host':>10} {'tasks':>6}")
    for size, row in rows.items():
        for what, figure in row.items():
            spent = f"{figure['wall']:>7.2f} {figure['cpu']:>7.2f}"
            print(f"{size:>5} {what:>5} {spent} {figure['calls']:>10.1f} {figure['tasks']:>6}")
    small, large = SIZES
    each = {what: (rows[large][what]["cpu"] - rows[small][what]["cpu"]) / (large - small) for what in ("ping", "site")}
    print(f"\ncpu s for one more host: ping {each['ping']:.2f}, converged site {each['site']:.2f}")
    print(f"ratio of a converged site run to a ping, for one more host: {each['site'] / each['ping']:.1f}")
    calls = rows[large]["site"]["calls"]
    print(f"calls on a converged host: {calls:.1f}, budget {BUDGET_CALLS}")
    if not options.keep:
        run([*NODES, "down", "--group", "bench"])
    if calls > BUDGET_CALLS:
        sys.exit("bench: over the budget of module calls")


if __name__ == "__main__":
    main()
