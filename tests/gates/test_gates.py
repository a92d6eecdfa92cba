"""Every gate of `make test` is one test here, cheapest first, so that one closing line counts them.

A gate is a command; its output goes to .cache/logs/<gate>.log and the last lines of it into the failure.
FLEET_GATES=lint,unit runs only the gates whose names begin so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".cache" / "logs"
sys.path.insert(0, str(ROOT / "tools"))

import env as environments

PYTHONS = environments.pythons()
ONLY = tuple(filter(None, os.environ.get("FLEET_GATES", "").split(",")))


def venv(name: str) -> Path:
    return environments.make(name, PYTHONS) / "bin"


def gate(name: str, *argv: object, cwd: Path = ROOT, path_of: str = "ansible", **extra: str) -> None:
    """Run one command as a gate; the environment's bin folder leads PATH."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    environ = {**os.environ, "PATH": f"{venv(path_of)}:{os.environ['PATH']}", "ANSIBLE_NOCOLOR": "1", **extra}
    environ.pop("PYTEST_ADDOPTS", None)
    started = time.monotonic()
    with log.open("w") as stream:
        done = subprocess.run(
            [str(word) for word in argv],
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = time.monotonic() - started
    print(f"{name}: {seconds:.0f} s, {log.relative_to(ROOT)}")
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-80:])
        pytest.fail(f"{name}: exit {done.returncode} after {seconds:.0f} s\n{tail}", pytrace=False)


@pytest.fixture(autouse=True)
def _selected(request: pytest.FixtureRequest) -> None:
    name = request.node.name.removeprefix("test_")
    if ONLY and not name.startswith(ONLY):
        pytest.skip(f"not asked for by FLEET_GATES={','.join(ONLY)}")


def test_data_is_current() -> None:
    gate("data", venv("ansible") / "python", "tools/make_data.py", "--check")


def test_docs_are_current() -> None:
    gate("docs", venv("ansible") / "python", "tools/make_docs.py", "--check")


def test_lint_yaml() -> None:
    gate("yamllint", venv("lint") / "yamllint", "--strict", ".")


def test_lint_python() -> None:
    gate("ruff", venv("lint") / "ruff", "check", ".")


def test_lint_python_format() -> None:
    gate("ruff-format", venv("lint") / "ruff", "format", "--check", "--diff", ".")


def test_lint_ansible() -> None:
    gate("ansible-lint", venv("lint") / "ansible-lint", "--offline", path_of="lint")


def test_lint_changelog() -> None:
    gate("changelog", venv("lint") / "antsibull-changelog", "lint", path_of="lint")


def test_lint_collection_docs() -> None:
    gate(
        "collection-docs", venv("lint") / "antsibull-docs", "lint-collection-docs", "--plugin-docs",
        "--skip-rstcheck", ".", path_of="lint",
    )  # fmt: skip


@pytest.mark.parametrize("python", environments.UNIT_PYTHONS)
def test_unit_on_python(python: str) -> None:
    if python not in PYTHONS:
        pytest.skip(f"no Python {python} with venv on this machine")
    gate(f"unit-{python}", venv(f"unit-{python}") / "python", "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider",
         "tests/unit/module_utils", path_of=f"unit-{python}")  # fmt: skip


def test_unit_of_controller() -> None:
    gate("unit", venv("ansible") / "python", "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "tests/unit")


def test_sanity() -> None:
    gate("sanity", venv("lint") / "python", "tools/sanity.py", path_of="lint")


def test_galaxy_importer() -> None:
    gate("importer", venv("lint") / "python", "tools/importer.py", path_of="lint")


def test_install_from_tarball() -> None:
    gate("tarball", venv("ansible") / "python", "tools/tarball.py")


def test_old_controllers_are_told() -> None:
    gate("guard", venv("ansible") / "python", "tools/old_controllers.py")


def test_molecule() -> None:
    if not shutil.which("podman") and not os.environ.get("FLEET_NODES_ENGINE"):
        pytest.fail("molecule needs podman: apt-get install podman runc (see CONTRIBUTING.md)", pytrace=False)
    gate("molecule", "make", "molecule")
