"""Makes the virtual environments that the gates use, below .cache/venv, and prints where one is.

    python3 tools/env.py NAME [NAME ...]     ansible | ansible219 | lint | unit-3.8 ... unit-3.13
    python3 tools/env.py --pythons           the interpreters that were found, one a line: version, path

An environment is made anew when its requirements file or its interpreter changed. Standard library only.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".cache" / "venv"
REQUIREMENTS = ROOT / ".config" / "requirements"
UNIT_PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
# core 2.21 wants 3.12 or newer; 3.11 takes 2.19. Newest first; 3.14 only once molecule's dependencies have wheels.
CONTROLLER_PYTHONS = ("3.13", "3.12", "3.11")


def pythons() -> dict[str, str]:
    """{"3.11": "/path/python3.11"}: interpreters on PATH and in the usual places, each proven to run."""
    found: dict[str, str] = {}
    # Gates put an environment's bin first; an environment must not become the base of another, or of itself.
    outside = ":".join(folder for folder in os.environ["PATH"].split(":") if not Path(folder).is_relative_to(VENVS))
    for minor in range(8, 15):
        version = f"3.{minor}"
        candidates = [shutil.which(f"python{version}", path=outside)]
        for pattern in (
            "~/.pyenv/versions/{}.*/bin/python{}",
            "/opt/python/{}*/bin/python{}",
            "/usr/local/bin/python{1}",
        ):
            candidates += sorted(glob.glob(os.path.expanduser(pattern.format(version, version))), reverse=True)
        for path in filter(None, candidates):
            test = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.prefix == sys.base_prefix)"
            done = subprocess.run([path, "-c", test], capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout.strip() == f"{version} True":
                found[version] = path
                break
    return found


def python_for(name: str, found: dict[str, str]) -> str:
    """The interpreter of an environment; SystemExit with what to install when there is none."""
    if name.startswith("unit-"):
        wanted: tuple[str, ...] = (name.removeprefix("unit-"),)
    elif name == "ansible219":
        wanted = ("3.11", "3.12", "3.13")
    else:
        wanted = CONTROLLER_PYTHONS
    for version in wanted:
        if version in found:
            return found[version]
    sys.exit(
        f"{name}: needs one of Python {', '.join(wanted)} with its venv module; found {', '.join(found) or 'none'}. "
        "On Debian 12: apt-get install python3 python3-venv"
    )


def make(name: str, found: dict[str, str]) -> Path:
    """Create or refresh an environment and return its folder."""
    python = python_for(name, found)
    requirements = REQUIREMENTS / (("unit" if name.startswith("unit-") else name) + ".txt")
    version = subprocess.run([python, "-VV"], capture_output=True, text=True, check=True).stdout
    stamp = hashlib.sha256((requirements.read_text() + python + version).encode()).hexdigest()
    folder = VENVS / name
    mark = folder / ".made-from"
    if mark.exists() and mark.read_text() == stamp:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    print(f"making {folder.relative_to(ROOT)} with {python}", file=sys.stderr)
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run([*pip, "install", "-r", str(requirements)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(re.sub(r"(?m)^WARNING:.*\n", "", done.stderr) + f"{name}: pip could not install {requirements}")
    mark.write_text(stamp)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pythons", action="store_true", help="list the interpreters that were found")
    options = parser.parse_args()
    found = pythons()
    if options.pythons:
        for version, path in found.items():
            print(version, path)
    for name in options.names:
        print(make(name, found))


if __name__ == "__main__":
    main()
