"""Runs the molecule scenarios: all of them, or those named; `default` converges once more with the oldest controller.

    python tools/molecule.py [SCENARIO ...]

Run by `make molecule` with the interpreter whose environment holds molecule.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import env as environments

ROOT = environments.ROOT
BIN = Path(sys.executable).parent
CONFIG = ".config/molecule/config.yml"


def run(*words: str, path: Path = BIN, **environ: str) -> int:
    settings = {
        **os.environ,
        "PATH": f"{path}:{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "MOLECULE_EPHEMERAL_DIRECTORY": str(ROOT / ".cache" / "molecule"),
        **environ,
    }
    print("+", " ".join(words), flush=True)
    return subprocess.run(words, cwd=ROOT, env=settings, check=False).returncode


def main() -> None:
    scenarios = sys.argv[1:]
    molecule = [str(BIN / "molecule"), "-c", CONFIG]
    which = [word for name in scenarios for word in ("-s", name)] if scenarios else ["--all"]
    run(*molecule, "reset", "-s", "default")
    status = run(*molecule, "test", *which)
    sys.exit(status)


if __name__ == "__main__":
    main()
