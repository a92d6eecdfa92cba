"""The demo: three simulated nodes, the site playbook twice, one served answer from each instance.

    python tools/demo.py            boot, converge, converge again (must change nothing), validate
    python tools/demo.py --clean    remove the nodes, their network, image and keys

Run by `make demo` with the interpreter whose environment holds ansible-core.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
NODES = [sys.executable, "molecule/shared/nodes/fleetnodes.py"]
INVENTORY = "inventories/demo"
SPEC = "molecule/shared/nodes/demo.yml"
RECAP = re.compile(r"^(\S+)\s*: ok=\d+\s+changed=(\d+)\s", re.MULTILINE)


def say(text: str) -> None:
    print(f"\n=== {text}", flush=True)


def run(*words: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
    return subprocess.run(
        words, cwd=ROOT, env=environ, text=True, check=False, stdout=subprocess.PIPE if capture else None
    )


def must(*words: str) -> None:
    done = run(*words)
    if done.returncode:
        sys.exit(f"demo: '{' '.join(words)}' ended with {done.returncode}: see above. 'make demo' may be run again.")


def generated_variables() -> None:
    """What depends on this machine: the Python of the channel, where it has only one."""
    overrides = ROOT / ".cache" / "artifacts" / "overrides.yml"
    target = ROOT / INVENTORY / "group_vars" / "all" / "generated.yml"
    values = yaml.safe_load(overrides.read_text()) if overrides.exists() else {}
    text = "---\n# Written by tools/demo.py.\n" + yaml.safe_dump({"ascend_overrides": values or {}})
    target.write_text(text)


def converge() -> dict[str, int]:
    """Run the site playbook; {host: changed}."""
    playbook = [str(BIN / "ansible-playbook"), "-i", INVENTORY, "site.yml", "-l", "ascend_nodes"]
    done = run(*playbook, capture=True)
    print(done.stdout)
    if done.returncode:
        sys.exit(f"demo: site.yml ended with {done.returncode}; the summary above names the host and the next command.")
    return {host: int(changed) for host, changed in RECAP.findall(done.stdout)}


def demo() -> None:
    started = time.monotonic()
    generated_variables()
    say("Boot three simulated nodes (systemd, ssh, a stand-in npu-smi)")
    must(*NODES, "up", "--spec", SPEC, "--inventory", f"{INVENTORY}/hosts.yml", "--group", "demo")
    booted = time.monotonic()
    say("First run: ansible-playbook site.yml -l ascend_nodes")
    converge()
    first = time.monotonic()
    say("Second run: nothing may change")
    changed = converge()
    second = time.monotonic()
    if not changed or any(changed.values()):
        sys.exit(f"demo: the second run changed something: {changed}")
    say("Ask every instance: ansible-playbook playbooks/validate.yml")
    must(str(BIN / "ansible-playbook"), "-i", INVENTORY, "playbooks/validate.yml", "-l", "ascend_nodes")
    say(
        f"Done in {time.monotonic() - started:.0f} s: boot {booted - started:.0f} s, first run {first - booted:.0f} s, "
        f"second run {second - first:.0f} s with changed=0 on {len(changed)} nodes."
    )
    print("The nodes stay up (ansible-playbook -i inventories/demo site.yml --check). 'make demo-clean' removes them.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clean", action="store_true", help="remove what the demo left")
    if parser.parse_args().clean:
        must(*NODES, "down", "--all", "--image")
        for name in ("hosts.yml", "group_vars/all/generated.yml"):
            (ROOT / INVENTORY / name).unlink(missing_ok=True)
        return
    demo()


if __name__ == "__main__":
    main()
