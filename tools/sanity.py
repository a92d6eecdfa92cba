"""Runs ansible-test sanity, every test and no ignores, on a clone of the last commit.

    python tools/sanity.py [ansible-test options]      with the interpreter whose environment holds ansible-core

ansible-test wants a real path .../ansible_collections/ascend/fleet with its .git: what is not committed is not tested.
It makes its own environments with a pip that it would download as a script; where that script's host is out of reach,
the same pip comes from the package index instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ansible_test
import env as environments

ROOT = environments.ROOT
CLONE = ROOT / ".cache" / "sanity" / "ansible_collections" / "ascend" / "fleet"
BOOTSTRAP = '''"""Installs pip {version} from the wheel beside this file, in place of the downloaded script."""
import glob, os, sys
sys.path.insert(0, glob.glob(os.path.join(os.path.expanduser("~/.ansible/test/cache"), "pip-{version}-*.whl"))[0])
from pip._internal.cli.main import main
words = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.exit(main(["install", "--force-reinstall"] + words))
'''


def run(*argv: object, **options: object) -> None:
    done = subprocess.run([str(word) for word in argv], check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(done.returncode)


def bootstrap_pip() -> None:
    cache = Path("~/.ansible/test/cache").expanduser()
    cache.mkdir(parents=True, exist_ok=True)
    code = Path(ansible_test.__file__).parent / "_internal" / "python_requirements.py"
    for version in sorted(set(re.findall(r"\bpip='([\d.]+)'", code.read_text()))):
        script = cache / f"get_pip_{version.replace('.', '_')}.py"
        if script.exists():
            continue
        if not list(cache.glob(f"pip-{version}-*.whl")):
            run(sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", cache, f"pip=={version}")
        script.write_text(BOOTSTRAP.format(version=version))


def clone() -> None:
    dirty = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if dirty:
        print("note: the tree has changes that are not committed; they are not tested:\n" + dirty, file=sys.stderr)
    shutil.rmtree(CLONE, ignore_errors=True)
    CLONE.parent.mkdir(parents=True, exist_ok=True)
    run("git", "clone", "--quiet", ROOT, CLONE)


def main() -> None:
    bootstrap_pip()
    clone()
    folders = [str(Path(path).parent) for path in environments.pythons().values()]
    path = ":".join([str(Path(sys.executable).parent), *folders, os.environ["PATH"]])
    run("ansible-test", "sanity", "--venv", "--color", "no", *sys.argv[1:], cwd=CLONE, env={**os.environ, "PATH": path})
    ignores = list(CLONE.glob("tests/sanity/ignore-*.txt"))
    if ignores:
        sys.exit(f"sanity ignores are not allowed here: {', '.join(path.name for path in ignores)}")


if __name__ == "__main__":
    main()
