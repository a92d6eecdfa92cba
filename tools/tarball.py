"""Builds the collection's tarball, installs it into an empty folder and uses it from there.

    python tools/tarball.py      with the interpreter whose environment holds ansible-core

Every module, plugin and role must be listed with documentation, and the shipped playbooks must be found by their names.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PLAYBOOKS = ("site", "preflight", "validate", "bundle")


def run(*argv: object, cwd: Path = ROOT, **environ: str) -> str:
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> Path:
    """Build from a clean checkout of the last commit, as a release does; returns the tarball."""
    source = folder / "source"
    run("git", "clone", "--quiet", ROOT, source)
    run(BIN / "ansible-galaxy", "collection", "build", "--output-path", folder, cwd=source)
    return next(folder.glob("ascend-fleet-*.tar.gz"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tarball = build(folder)
        home = folder / "collections"
        config = folder / "ansible.cfg"
        config.write_text("[defaults]\n")
        environ = {"ANSIBLE_CONFIG": str(config), "ANSIBLE_COLLECTIONS_PATH": str(home)}
        run(BIN / "ansible-galaxy", "collection", "install", "--offline", "-p", home, tarball, cwd=folder, **environ)
        installed = home / "ansible_collections" / "ascend" / "fleet"
        for kind, where, suffix in (
            ("module", "plugins/modules/*.py", ".py"),
            ("lookup", "plugins/lookup/*.py", ".py"),
            ("filter", "plugins/filter/*.yml", ".yml"),
            ("callback", "plugins/callback/*.py", ".py"),
            ("role", "roles/*/meta/argument_specs.yml", ""),
        ):
            names = [
                path.parts[-3] if kind == "role" else path.name.removesuffix(suffix) for path in installed.glob(where)
            ]
            listed = run(BIN / "ansible-doc", "-t", kind, "--list", "ascend.fleet", cwd=folder, **environ)
            for plugin in names:
                if not re.search(rf"^ascend\.fleet\.{plugin}[ :]", listed, re.MULTILINE):
                    sys.exit(f"ansible-doc -t {kind} --list ascend.fleet does not list {plugin}:\n{listed}")
                run(BIN / "ansible-doc", "-t", kind, f"ascend.fleet.{plugin}", cwd=folder, **environ)
            print(f"{kind}: {', '.join(sorted(names))}")
        for playbook in PLAYBOOKS:
            words = (BIN / "ansible-playbook", "-i", "localhost,", "--syntax-check", f"ascend.fleet.{playbook}")
            run(*words, cwd=folder, **environ)
        print("playbooks: " + ", ".join(f"ascend.fleet.{playbook}" for playbook in PLAYBOOKS))


if __name__ == "__main__":
    main()
