"""Runs the molecule scenarios: all of them, or those named; `default` converges once more with the oldest controller.

    python tools/molecule.py [SCENARIO ...]

Run by `make molecule` with the interpreter whose environment holds molecule.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import env as environments

ROOT = environments.ROOT
BIN = Path(sys.executable).parent
OLDEST = ROOT / ".cache" / "oldest"
NODES = [sys.executable, "molecule/shared/nodes/fleetnodes.py"]


def run(*words: str, path: Path = BIN, capture: bool = False) -> subprocess.CompletedProcess[str]:
    settings = {
        **os.environ,
        "PATH": f"{path}:{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "MOLECULE_PROJECT_DIRECTORY": str(ROOT),
        "MOLECULE_EPHEMERAL_DIRECTORY": str(ROOT / ".cache" / "molecule"),
    }
    print("+", " ".join(words), flush=True)
    pipe = subprocess.PIPE if capture else None
    return subprocess.run(words, cwd=ROOT, env=settings, text=True, check=False, stdout=pipe)


def scenarios(names: list[str]) -> int:
    """Create to destroy; the exit status of molecule."""
    molecule = [str(BIN / "molecule"), "-c", ".config/molecule/config.yml"]
    which = [word for name in names for word in ("-s", name)] if names else ["--all"]
    # What a killed run left would be taken for an inventory.
    run(*molecule, "reset", "-s", "default")
    return run(*molecule, "test", *which).returncode


def oldest_controller() -> int:
    """Bare nodes to an answered request with ansible-core 2.19, twice; 0 when the second run changed nothing."""
    controller = environments.make("ansible219", environments.pythons()) / "bin"
    inventory = OLDEST / "hosts.yml"
    OLDEST.mkdir(parents=True, exist_ok=True)
    group = ("--group", "oldest", "--spec", "molecule/shared/nodes/oldest.yml", "--inventory", str(inventory))
    playbook = (str(controller / "ansible-playbook"), "-i", str(inventory), "-i", "molecule/shared/inventory")
    try:
        if run(*NODES, "up", *group).returncode:
            return 1
        status = 0
        for turn in ("first", "second"):
            done = run(*playbook, "molecule/default/converge.yml", path=controller, capture=True)
            print(done.stdout)
            changed = turn == "second" and re.search(r"changed=[1-9]", done.stdout) is not None
            status = status or done.returncode or int(changed)
        return status
    finally:
        run(*NODES, "down", "--group", "oldest", "--inventory", str(inventory))


def main() -> None:
    names = sys.argv[1:]
    status = scenarios(names)
    if not names or "default" in names:
        status = oldest_controller() or status
    sys.exit(status)


if __name__ == "__main__":
    main()
