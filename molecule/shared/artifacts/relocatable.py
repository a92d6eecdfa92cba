# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Finds a CPython of this machine that works from another folder, and cuts the tree of a conda package from it.

A pyenv tree, a hosted tool cache or a python-build-standalone tree will do; a distribution's /usr will not, because its
libraries are spread over the system.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from common import BuildError, files_below, run

# Order of preference: what the releases ask for, newest line last because it starts slowest without bytecode.
WANTED = ("3.11", "3.12", "3.10")
PLACES = ("~/.pyenv/versions/*", "~/.local/share/uv/python/*", "/opt/hostedtoolcache/Python/*/*", "/opt/python/*")
LEFT_OUT = (
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "lib2to3",
    "tkinter",
    "_tkinter*",
    "nis.*",
    "site-packages",
    "__pycache__",
    "config-*",
)
# Provided by every host that can run the interpreter at all; everything else goes into the package.
FROM_HOST = re.compile(r"^(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libutil|libcrypt|libpython3)[-.\d]")
PROOF = "import ctypes, hashlib, lzma, sqlite3, ssl, sys, zlib; print(sys.prefix)"


def candidates() -> list[Path]:
    """Prefixes worth a look, the one named by FLEET_TEST_PYTHON (a prefix or an executable) first."""
    found = []
    named = os.environ.get("FLEET_TEST_PYTHON")
    if named:
        path = Path(named).expanduser().resolve()
        found.append(path.parent.parent if path.is_file() else path)
    for place in PLACES:
        base, pattern = str(Path(place).expanduser()).split("/*", 1)
        found += sorted(Path(base).glob("*" + pattern), reverse=True) if Path(base).is_dir() else []
    return found


def find() -> dict[str, Path]:
    """{"3.11": prefix} in order of preference. Empty when this machine has no such tree."""
    found: dict[str, Path] = {}
    for prefix in candidates():
        for line in WANTED:
            parts = (prefix / f"lib/python{line}/os.py", prefix / f"bin/python{line}")
            if line not in found and all(part.exists() for part in parts) and prefix != Path("/usr"):
                found[line] = prefix
    return {line: found[line] for line in WANTED if line in found}


def full_version(prefix: Path, line: str) -> str:
    """Version of the interpreter, like 3.11.7. Raises BuildError when it does not start."""
    code = "import platform; print(platform.python_version())"
    return run([str(prefix / f"bin/python{line}"), "-I", "-c", code]).stdout.strip()


def cut(prefix: Path, line: str, into: Path, patchelf: Path) -> None:
    """Copy interpreter, standard library and the libraries they need to INTO, and make INTO work wherever it lies.

    Raises BuildError when the result still leans on PREFIX.
    """
    library = into / f"lib/python{line}"
    shutil.copytree(prefix / f"lib/python{line}", library, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (library / "site-packages").mkdir()
    (library / "site-packages/README.txt").write_text("Packages of this environment.\n", encoding="utf-8")
    shutil.copytree(prefix / f"include/python{line}", into / f"include/python{line}")
    (into / "bin").mkdir()
    shutil.copy(prefix / f"bin/python{line}", into / f"bin/python{line}")
    for link in ("python", "python3"):
        (into / "bin" / link).symlink_to(f"python{line}")
    for shared in (prefix / "lib").glob("libpython*.so*"):
        shutil.copy(shared, into / "lib" / shared.name, follow_symlinks=False)
    _bring_libraries(into, line, patchelf)
    found = subprocess.run(
        [str(into / f"bin/python{line}"), "-I", "-B", "-c", PROOF], capture_output=True, text=True, env={}, check=False
    )
    if found.stdout.strip() != str(into):
        raise BuildError(f"{prefix} does not work from another folder: {(found.stdout + found.stderr).strip()[-300:]}")


def _bring_libraries(into: Path, line: str, patchelf: Path) -> None:
    """Copy shared libraries that a bare host may lack, and let every file look for them by $ORIGIN."""
    executable = into / f"bin/python{line}"
    modules = sorted((into / f"lib/python{line}/lib-dynload").glob("*.so"))
    links = {path: _needed(path) for path in [executable, *modules]}
    for name, source in sorted({pair for needed in links.values() for pair in needed}):
        if not (into / "lib" / name).exists():
            shutil.copy(source, into / "lib" / name)
    strip = shutil.which("strip")
    if strip:
        # Debug information is most of these trees, and every node unpacks it.
        shared = [path for path in (into / "lib").glob("libpython*.so*") if not path.is_symlink()]
        run([strip, "--strip-debug", str(executable), *map(str, shared + modules)])
    own = [path for path in (into / "lib").glob("*.so*") if not path.is_symlink()]
    for path, origin in [(executable, "$ORIGIN/../lib"), *((path, "$ORIGIN") for path in own)]:
        run([str(patchelf), "--set-rpath", origin, str(path)])
    for path in modules:
        if links[path]:
            run([str(patchelf), "--set-rpath", "$ORIGIN/../..", str(path)])
    for path in files_below(into):
        if not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _needed(path: Path) -> set[tuple[str, str]]:
    """(name, path) of the libraries that PATH pulls in and that a host may lack."""
    lines = run(["ldd", str(path)]).stdout.splitlines()
    pairs = (re.match(r"\s*(\S+) => (/\S+) \(", text) for text in lines)
    return {(match[1], match[2]) for match in pairs if match and not FROM_HOST.match(match[1])}
