"""Shows that old controllers are told so in one line: runs site.yml with old ansible-core releases.

    python tools/old_controllers.py

Each release gets a throw-away environment below .cache/venv; a release whose Python this machine lacks is named and
skipped, and at least one must have run. The play may not touch a host: the inventory names one that does not exist.
"""

from __future__ import annotations

import os
import subprocess
import sys

import env as environments

ROOT = environments.ROOT
# The oldest that understands collections, the last of the old template engine, and one between.
RELEASES = (("ansible==2.9.27", "3.8"), ("ansible-core==2.13.13", "3.8"), ("ansible-core==2.18.*", "3.11"))
WANTED = "ascend.fleet needs ansible-core 2.19 or newer"


def installed(requirement: str, python: str) -> str | None:
    """The ansible-playbook of this release, installed once; None where the machine has not its Python."""
    interpreter = environments.pythons().get(python)
    if interpreter is None:
        return None
    folder = environments.VENVS / ("old-" + requirement.replace("==", "-").replace(".*", ""))
    if not (folder / "bin" / "ansible-playbook").exists():
        subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
        words = [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            requirement,
        ]
        subprocess.run(words, check=True)
    return str(folder / "bin" / "ansible-playbook")


def main() -> None:
    ran = 0
    for requirement, python in RELEASES:
        program = installed(requirement, python)
        if program is None:
            print(f"{requirement}: skipped, this machine has no Python {python}")
            continue
        ran += 1
        words = [program, "-i", "never-reached.invalid,", "site.yml", "-e", "ascend_hosts=all"]
        environ = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
        done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        line = next((line.strip() for line in output.splitlines() if WANTED in line), None)
        if line is None or done.returncode == 0 or "UNREACHABLE" in output or "Traceback" in output:
            sys.exit(f"{requirement}: exit {done.returncode}, and the guard's line is missing or not alone:\n{output}")
        print(f"{requirement}: {line}")
    if not ran:
        sys.exit("no old ansible could be run on this machine")


if __name__ == "__main__":
    main()
