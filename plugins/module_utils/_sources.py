# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Source trees: what they say they are, and a private copy to build in.

A build writes into its tree, and vllm-ascend compares vLLM's version with one number in dozens of places. So a source
is never built where it lies, and never when it is not exactly the version that is wanted.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
from typing import Any, Dict, List, Optional

from ._runner import Runner
from ._state import sha256_of
from ._version import compare
from ._work import Failed, Work

_PKG_VERSION = re.compile(r"^Version:\s*(\S+)\s*$", re.MULTILINE)
_ARCHIVE = re.compile(r"\.(?:tar(?:\.\w+)?|tgz)$")
_IN_NAME = re.compile(r"-v?(\d[^/]*)$")


def identity(runner: Runner, src: str) -> Optional[str]:
    """SHA-256 of an archive, or of the names and contents of a folder; None when it is not there.

    A checkout counts without its .git: what is built is the tree.
    """
    if runner.is_file(src):
        return sha256_of(runner, src)
    if not runner.is_dir(src):
        return None
    digest = hashlib.sha256()
    top = runner.real(src)
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = os.path.join(folder, name)
            digest.update(os.path.relpath(path, top).encode("utf-8", "surrogateescape") + b"\0")
            if os.path.islink(path):
                digest.update(os.readlink(path).encode("utf-8", "surrogateescape"))
            else:
                with open(path, "rb") as handle:
                    for block in iter(lambda handle=handle: handle.read(1 << 20), b""):  # type: ignore[misc]
                        digest.update(block)
            digest.update(b"\0")
    return digest.hexdigest()


def check(runner: Runner, source: Dict[str, Any]) -> Optional[str]:
    """Why a source {name, version, src, sha256} cannot be built, or None. Reads the archive once."""
    have = identity(runner, source["src"])
    if have is None:
        return "The source of %s %s is not at %s. Put it there, or among the artifacts." % (
            source["name"],
            source["version"],
            source["src"],
        )
    want = (source.get("sha256") or "").lower()
    if want and runner.is_file(source["src"]) and have != want:
        return "%s has the SHA-256 %s, wanted is %s. Get the source again, or correct the manifest." % (
            source["src"],
            have,
            want,
        )
    return None


def unpack(work: Work, source: Dict[str, Any]) -> str:
    """A private copy of a source; returns its folder. Failed unless it is the wanted version."""
    runner, src = work.runner, source["src"]
    into = "%s/src-%s" % (work.folder, source["name"])
    runner.make_folder(into, 0o700)
    if runner.is_dir(src):
        claim = _of_checkout(work, source) if runner.exists(src + "/.git") else None
        tree = "%s/%s" % (into, source["name"])
        shutil.copytree(runner.real(src), runner.real(tree), symlinks=True)
    else:
        tree = _extract(runner, src, into)
        claim = None
    claim = claim or _of_tree(runner, tree, src)
    if claim is None or compare(claim, source["version"]) != 0:
        raise Failed(
            "%s is %s, wanted is %s %s. Take the source archive of that release, or a checkout of its tag."
            % (src, claim or "of no version that it tells", source["name"], source["version"])
        )
    return tree


def _of_tree(runner: Runner, tree: str, src: str) -> Optional[str]:
    """Version that a source tells: its PKG-INFO (source distributions), else the name of the archive's top folder."""
    match = _PKG_VERSION.search(runner.read(tree + "/PKG-INFO") or "")
    if match:
        return match.group(1)
    for name in (tree.rsplit("/", 1)[-1], src.rstrip("/").rsplit("/", 1)[-1]):
        found = _IN_NAME.search(_ARCHIVE.sub("", name))
        if found:
            return found.group(1)
    return None


def _of_checkout(work: Work, source: Dict[str, Any]) -> str:
    """Version of the tag that a checkout is at. A changed or untagged checkout would carry another version."""
    src = source["src"]
    git = ["git", "-c", "safe.directory=" + src, "-C", src]
    doing = "Asking git about %s" % src
    changed = work.call([*git, "status", "--porcelain", "--untracked-files=no"], doing).out.split()
    if changed:
        raise Failed("The checkout %s has local changes. Commit and tag them as a release, or undo them." % src)
    tags = work.call([*git, "tag", "--points-at", "HEAD"], doing).out.split()
    wanted = [tag for tag in tags if compare(tag, source["version"]) == 0]
    if not wanted:
        raise Failed(
            "The checkout %s is at %s, not at the tag v%s. Check that tag out, with tags fetched, and run again."
            % (src, " ".join(tags) or "no tag", source["version"])
        )
    return wanted[0].lstrip("v")


def _extract(runner: Runner, archive: str, into: str) -> str:
    """Unpack a tar archive with exactly one folder at its top; returns that folder."""
    target = os.path.realpath(runner.real(into))
    try:
        with tarfile.open(runner.real(archive)) as tar:
            members = tar.getmembers()
            for member in members:
                _refuse_outside(target, member, archive)
                member.mode = (member.mode & 0o755) | 0o600
                member.uid = member.gid = 0
                member.uname = member.gname = ""
            for member in members:
                tar.extract(member, target, **_FILTER)
    except (tarfile.TarError, EOFError, OSError) as exc:
        raise Failed("%s cannot be unpacked (%s). Get the archive again." % (archive, exc)) from exc
    tops = [name for name in runner.names(into) if runner.is_dir("%s/%s" % (into, name))]
    if len(tops) != 1:
        raise Failed("%s is no source archive: at its top are %s." % (archive, ", ".join(tops) or "no folders"))
    return "%s/%s" % (into, tops[0])


# members are checked here, on every Python alike; the newer ones warn when no filter is named
_FILTER = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}  # type: Dict[str, Any]


def _refuse_outside(target: str, member: tarfile.TarInfo, archive: str) -> None:
    """Failed for a member that is no file, folder or link, or that would land outside of target."""
    places = [os.path.join(target, member.name)]
    if member.issym():
        places.append(os.path.join(target, os.path.dirname(member.name), member.linkname))
    elif member.islnk():
        places.append(os.path.join(target, member.linkname))
    elif not (member.isfile() or member.isdir()):
        raise Failed("%s holds %s, which is no file. Do not use this archive." % (archive, member.name))
    for place in places:
        if not (os.path.realpath(place) + "/").startswith(target + "/"):
            raise Failed("%s holds %s, which points outside of it. Do not use this archive." % (archive, member.name))


def build_requirements(work: Work, python: str, tree: str) -> List[str]:
    """``[build-system] requires`` of a tree, read by the env's own Python (a node's may be too old to read TOML)."""
    if not work.runner.is_file(tree + "/pyproject.toml"):
        return ["setuptools", "wheel"]
    result = work.call([python, "-c", _READ_TOML, tree + "/pyproject.toml"], "Reading %s/pyproject.toml" % tree)
    return [line for line in result.out.splitlines() if line.strip()]


_READ_TOML = """
import sys
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
with open(sys.argv[1], 'rb') as handle:
    table = tomllib.load(handle)
for line in table.get('build-system', {}).get('requires', []):
    print(line)
"""
