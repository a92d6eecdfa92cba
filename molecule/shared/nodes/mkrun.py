# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds fake CANN packages: real makeself archives that behave as the vendor's installers do, their lies included.

    python3 molecule/shared/nodes/mkrun.py --out DIR [--arch x86_64] [--only TEXT]

Same inputs give the same bytes on one machine, so a sha256 in a manifest stays true.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fleet_engine import FleetError
from makeself_header import vendor_like

PAYLOAD = Path(__file__).resolve().parent / "runpkg"
# version -> (layout, inner version of the components, inner version of the package, chips of the operators)
RELEASES = {
    "8.3.RC2": ("legacy", "8.3.0.2.210", "V100R001C23SPC002B210", ("910b", "a3", "310p", "910")),
    "8.5.0": ("cann", "8.5.0", "V100R001C25SPC001B212", ("910b", "a3", "310p")),
    "8.5.1": ("cann", "8.5.1", "V100R001C25SPC002B215", ("910b", "a3", "310p")),
    "9.0.0": ("cann", "9.0.0", "V100R001C26SPC001B210", ("910b", "a3", "310p", "950")),
    "9.1.0": ("cann", "9.1.0", "V100R001C27SPC001B150", ("910b", "a3", "310p", "950")),
}
# chip -> (spelling in file names, folders of its kernels)
CHIPS = {
    "910b": ("910b", "ascend910b"),
    "a3": ("A3", "ascend910_93"),
    "310p": ("310p", "ascend310p"),
    "910": ("910", "ascend910"),
    "950": ("950", "ascend950"),
}
LABEL = "ASCEND_RUN_PACKAGE"
EPOCH = "2026-01-01 00:00:00 UTC"


def ops_name(layout: str, chip: str) -> str:
    """Package name of the operators of a chip, which differs by line and chip."""
    spelling = CHIPS[chip][0]
    if layout == "cann":
        return f"Ascend-cann-{spelling}-ops"
    return "Atlas-A3-cann-kernels" if chip == "a3" else f"Ascend-cann-kernels-{spelling}"


def packages(arch: str) -> list[dict[str, str]]:
    """What every package says of itself; the keys are read by runpkg/install.sh."""
    found = []
    for version, (layout, inner, package_inner, chips) in RELEASES.items():
        shared = {
            "VERSION": version,
            "LAYOUT": layout,
            "INNER": inner,
            "PACKAGE_INNER": package_inner,
            "ARCH": arch,
            "CHIP": "",
            "KERNELS": "",
        }
        found.append({**shared, "PACKAGE": "toolkit", "NAME": "Ascend-cann-toolkit"})
        found.append({**shared, "PACKAGE": "nnal", "NAME": "Ascend-cann-nnal"})
        for chip in chips:
            found.append(
                {
                    **shared,
                    "PACKAGE": "ops",
                    "NAME": ops_name(layout, chip),
                    "CHIP": CHIPS[chip][0],
                    "KERNELS": CHIPS[chip][1],
                }
            )
    return found


def file_name(package: dict[str, str]) -> str:
    return f"{package['NAME']}_{package['VERSION']}_linux-{package['ARCH']}.run"


def build(package: dict[str, str], header: str, out: Path) -> Path:
    """One archive below ``out``. Relative names only: makeself writes its own command line into the archive."""
    with tempfile.TemporaryDirectory(prefix="mkrun-") as name:
        folder = Path(name)
        (folder / "header.sh").write_text(header)
        payload = folder / "payload"
        payload.mkdir(mode=0o755)
        for source in sorted(PAYLOAD.iterdir()):
            target = payload / source.name
            shutil.copyfile(source, target)
            target.chmod(0o755 if source.name == "install.sh" else 0o644)
        text = "".join(f"{key}={value}\n" for key, value in sorted(package.items()))
        (payload / "package.conf").write_text(text)
        # gzip would store the time of its input: "-n" rides on the level, which makeself hands on unquoted.
        tar = "--mtime=@1767225600 --sort=name --owner=0 --group=0 --numeric-owner"
        argv = [
            "makeself",
            "--header",
            "./header.sh",
            "--sha256",
            "--nomd5",
            "--nocrc",
            "--nooverwrite",
            "--complevel",
            "4 -n",
            "--tar-format",
            "gnu",
            "--tar-extra",
            tar,
            "--tar-quietly",
            "--packaging-date",
            EPOCH,
            "payload",
            "made.run",
            LABEL,
            "./install.sh",
        ]
        done = subprocess.run(
            argv,
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            env=dict(os.environ, LC_ALL="C", TZ="UTC"),
        )
        if done.returncode:
            raise FleetError(f"makeself failed for {file_name(package)}: {done.stderr.strip()[-300:]}")
        target = out / file_name(package)
        shutil.copyfile(folder / "made.run", target.with_suffix(".new"))
        target.with_suffix(".new").replace(target)
        target.chmod(0o755)
    return target


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mkrun.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--arch", default=platform.machine())
    parser.add_argument("--only", default="", help="only file names that contain this text")
    options = parser.parse_args(words)
    began = time.monotonic()
    try:
        header = vendor_like()
        options.out.mkdir(parents=True, exist_ok=True)
        made = [
            build(package, header, options.out)
            for package in packages(options.arch)
            if options.only in file_name(package)
        ]
    except FleetError as error:
        print(f"mkrun: {error}", file=sys.stderr)
        return 1
    print(f"{len(made)} packages in {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
