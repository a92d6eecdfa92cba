"""Builds the collection's tarball from the last commit and runs galaxy-importer on it; any error or warning fails.

python tools/importer.py      with the interpreter whose environment holds galaxy-importer and ansible-core
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tarball import build

# Said of every collection that has plugins but no Ansible Automation Platform; none of it is about ours.
HARMLESS = ("No changelog found.",)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tarball = build(Path(folder))
        config = Path(folder) / "importer.cfg"
        config.write_text("[galaxy-importer]\nRUN_ANSIBLE_LINT = False\nRUN_ANSIBLE_TEST = False\nRUN_FLAKE8 = False\n")
        environ = {**os.environ, "GALAXY_IMPORTER_CONFIG": str(config)}
        environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
        words = [sys.executable, "-m", "galaxy_importer.main", str(tarball)]
        done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    print(output)
    bad = [
        line for line in output.splitlines() if line.startswith(("ERROR", "WARNING")) and not line.endswith(HARMLESS)
    ]
    if done.returncode or bad:
        sys.exit("galaxy-importer: " + ("; ".join(bad) or f"exit {done.returncode}"))


if __name__ == "__main__":
    main()
