# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What must hold before an installer of CANN runs: all of it is asked at once, so that one visit repairs a host."""

from __future__ import annotations

import os
import stat
from typing import List, NamedTuple, Optional, Sequence, Tuple

from ._runner import Runner
from ._state import sha256_of

# Room when nobody gave a figure, in multiples of the package's size: the archive is unpacked into TMPDIR and holds
# archives itself, which are unpacked there one after the other; a tree is several times the size of its archive.
TMP_FACTOR = 3
DISK_FACTOR = 5
TMP_FOLDERS = ("/var/tmp", "/tmp")


class Settings(NamedTuple):
    """What the module was asked for; sizes in MiB (0 = estimate), timeout in seconds."""

    src: str
    sha256: str
    package: str  # toolkit | ops | nnal
    version: str
    toolkit_version: str
    arch: str
    family: str
    install_path: str
    source_scripts: Sequence[str]
    make_default: str  # auto | true | false
    accept_eula: bool
    tmp_dir: str
    timeout: int
    disk_mb: int
    tmp_mb: int


def size_mb(runner: Runner, path: str) -> int:
    """Size of a file in MiB, rounded up; 0 when it is not there."""
    try:
        return (os.stat(runner.real(path)).st_size + (1 << 20) - 1) >> 20
    except OSError:
        return 0


def rooms(runner: Runner, settings: Settings) -> Tuple[int, int]:
    """MiB wanted at (install_path, tmp)."""
    size = size_mb(runner, settings.src)
    return settings.disk_mb or size * DISK_FACTOR, settings.tmp_mb or size * TMP_FACTOR


def choose_tmp(runner: Runner, settings: Settings) -> Tuple[Optional[str], List[str]]:
    """(folder for TMPDIR, problems): the given one, or the first of the usual ones that has room and may execute."""
    disk, tmp = rooms(runner, settings)
    problems = []
    for folder in [settings.tmp_dir] if settings.tmp_dir else TMP_FOLDERS:
        if not runner.is_dir(folder):
            problems.append("%s is no folder" % folder)
            continue
        space = runner.space(folder)
        need = tmp + (disk if _same_disk(runner, folder, settings.install_path) else 0)
        if space["noexec"]:
            problems.append("%s is mounted noexec" % folder)
        elif space["free_mb"] is not None and space["free_mb"] < need:
            problems.append("%s has %d MiB free, %d are needed" % (folder, space["free_mb"], need))
        else:
            return folder, []
    return None, [
        "The package cannot be unpacked: %s. Name a folder with room as tmp_dir (role: cann_tmp_dir)."
        % "; ".join(problems)
    ]


def _same_disk(runner: Runner, one: str, other: str) -> bool:
    """True when both are on one file system, so that their needs add up."""
    devices = []
    for path in (one, runner.space(other)["path"]):
        try:
            devices.append(os.stat(runner.real(path)).st_dev)
        except OSError:
            return False
    return devices[0] == devices[1]


def eula(settings: Settings) -> List[str]:
    if settings.accept_eula:
        return []
    return [
        "The licence of CANN is not accepted: the quiet mode of the vendor's installer accepts it in your name. "
        "Read it in the package or at the vendor's, then set accept_eula: true (role: cann_accept_eula)."
    ]


def parents(runner: Runner, path: str, euid: int) -> List[str]:
    """The vendor refuses an install path below folders that others own, can write, or cannot enter."""
    problems = []
    folder = path
    while True:
        info = runner.stat(folder)
        if info is not None and stat.S_ISLNK(info.st_mode):
            try:
                info = os.stat(runner.real(folder))
            except OSError:
                info = None
        if info is not None:
            mode = stat.S_IMODE(info.st_mode)
            if info.st_uid != euid or mode & 0o022 or mode & 0o555 != 0o555:  # / has 0555 on RPM systems
                problems.append(
                    "%s has mode %04o and owner %d, the installer wants 0755 and root: run "
                    "'chown root %s; chmod 755 %s', or choose another install_path."
                    % (folder, mode, info.st_uid, folder, folder)
                )
        if folder == "/":
            return problems
        folder = os.path.dirname(folder)


def machine(settings: Settings, arch: str, euid: int) -> List[str]:
    problems = []
    if euid != 0:
        problems.append("This needs root and runs as user %d: set become: true for the play." % euid)
    if settings.arch != arch:
        problems.append(
            "The package is for %s and this host is %s: take the package of this architecture." % (settings.arch, arch)
        )
    return problems


def archive(runner: Runner, settings: Settings) -> List[str]:
    """The file itself: there, the one that is meant. Its own checksum is asked by self_check()."""
    if not runner.is_file(settings.src):
        return ["%s is not on this host: copy it there, or correct src." % settings.src]
    have = sha256_of(runner, settings.src)
    if have != settings.sha256.lower():
        return [
            "%s has sha256 %s, wanted is %s: fetch the package again, or correct the manifest."
            % (settings.src, have, settings.sha256.lower())
        ]
    return []


def self_check(out: str, err: str, rc: int, src: str) -> List[str]:
    """What the archive says of itself with ``--check``.

    The vendor's archives then also run their own script, whose status is not documented: the words on the checksums
    count, the status only where there are none.
    """
    text = out + "\n" + err
    if "checksums are OK" in text or "All good" in text:
        return []
    if rc == 0 and "Error in" not in text:
        return []
    last = ([line.strip() for line in text.splitlines() if line.strip()] or ["no message"])[-1]
    return ["%s fails its own --check (status %d): %s. Fetch the package again." % (src, rc, last[:300])]


def room(runner: Runner, settings: Settings) -> List[str]:
    disk, _tmp = rooms(runner, settings)
    space = runner.space(settings.install_path)
    if space["free_mb"] is None or space["free_mb"] >= disk:
        return []
    return [
        "%s has %d MiB free at %s, about %d are needed: make room, or choose another install_path "
        "(role: cann_install_path)." % (settings.install_path, space["free_mb"], space["path"], disk)
    ]
