# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Where the CANN packages of the two layouts lie, and whether one is there.

Older lines make a tree ``<root>/ascend-toolkit/<version>``, newer ones ``<root>/cann-<version>``. Which one an
installer has made is read from the disk, never from the version. NNAL is ``<root>/nnal/atb/<version>`` in both.
"""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional

from . import _cann
from ._driver import pairs
from ._runner import Runner
from ._state import gather

RECORD = _cann.RECORD
ABSENT, PARTIAL, OTHER, COMPLETE = "absent", "partial", "other", "complete"


class Found(NamedTuple):
    """What is there of one package.

    status: absent | partial (begun, not finished) | other (something else sits in its place) | complete;
    path: folder of the package, None when absent; mark: file that proves it, None unless complete; why: one sentence.
    """

    status: str
    path: Optional[str]
    mark: Optional[str]
    why: str


def tree_folders(root: str, version: str) -> List[str]:
    """Both folders in which a toolkit of this version can be."""
    return ["%s/cann-%s" % (root, version), "%s/ascend-toolkit/%s" % (root, version)]


def nnal_folder(root: str, version: str) -> str:
    return "%s/nnal/atb/%s" % (root, version)


def read_info(runner: Runner, path: str) -> Dict[str, str]:
    """``key=value`` lines of an install or version file; empty when it cannot be read."""
    return pairs(runner.read(path))


def toolkit(runner: Runner, root: str, version: str, arch: str) -> Found:
    """The toolkit of this version, in whichever layout."""
    partial = None
    for folder in tree_folders(root, version):
        if runner.is_link(folder) or not runner.names(folder):
            continue
        mark = "%s/%s-linux/ascend_toolkit_install.info" % (folder, arch)
        have = read_info(runner, mark).get("version")
        if have == version:
            return Found(COMPLETE, folder, mark, "%s says version %s" % (mark, version))
        why = "%s says version %s" % (mark, have) if have else "%s has no %s" % (folder, mark[len(folder) + 1 :])
        partial = partial or Found(PARTIAL, folder, None, why)
    return partial or Found(ABSENT, None, None, "no toolkit %s below %s" % (version, root))


def ops(runner: Runner, tree: Optional[str], version: str, family: str, arch: str) -> Found:
    """The operators (kernels) of a chip family in the tree of a toolkit."""
    if tree is None:
        return Found(ABSENT, None, None, "there is no toolkit for the operators")
    mark = "%s/%s-linux/ascend_ops_install.info" % (tree, arch)
    info = read_info(runner, mark)
    if not info:
        return _kernels(runner, tree, version)
    name = info.get("package_name", "")
    why = "%s says %s %s" % (mark, name or "no name", info.get("version"))
    if info.get("version") == version and "-%s-" % family.lower() in name.lower() + "-":
        return Found(COMPLETE, tree, mark, why)
    return Found(OTHER, tree, None, why)


def _kernels(runner: Runner, tree: str, version: str) -> Found:
    """Operators in the legacy layout, which does not write down the chip: only the version can be compared."""
    folder = tree + "/opp_kernel"
    if not runner.names(folder):
        return Found(ABSENT, None, None, "no operators in %s" % tree)
    mark = folder + "/version.info"
    have = read_info(runner, mark).get("version_dir")
    if have is None:
        return Found(PARTIAL, tree, None, "%s names no version_dir" % mark)
    status = COMPLETE if have == version else OTHER
    return Found(status, tree, mark if have == version else None, "%s says %s" % (mark, have))


def nnal(runner: Runner, root: str, version: str) -> Found:
    """NNAL (ATB) of this version: its version file and the library for at least one C++ ABI."""
    folder = nnal_folder(root, version)
    if runner.is_link(folder) or not runner.names(folder):
        return Found(ABSENT, None, None, "no NNAL %s below %s" % (version, root))
    mark = folder + "/version.info"
    have = re.search(r"Ascend-cann-atb(?: Version)?\s*[:=]\s*(\S+)", runner.read(mark) or "")
    if have is None or not (have.group(1) == version or have.group(1).startswith(version + ".B")):
        return Found(PARTIAL, folder, None, "%s says %s" % (mark, have.group(1) if have else "nothing"))
    if not any(name.startswith("cxx_abi_") for name in runner.names(folder + "/atb")):
        return Found(PARTIAL, folder, None, "%s/atb has no cxx_abi folder" % folder)
    return Found(COMPLETE, folder, mark, "%s says %s" % (mark, have.group(1)))


def versions(runner: Runner, root: str, package: str) -> List[str]:
    """Every version of toolkit or nnal that has a folder below root, finished or not, sorted as text."""
    if package == "nnal":
        folders = {name: nnal_folder(root, name) for name in runner.names(root + "/nnal/atb")}
    else:
        folders = {name[5:]: "%s/%s" % (root, name) for name in runner.names(root) if name.startswith("cann-")}
        for name in runner.names(root + "/ascend-toolkit"):
            folders.setdefault(name, "%s/ascend-toolkit/%s" % (root, name))
    return sorted(
        name
        for name, folder in folders.items()
        if re.match(r"[0-9]", name) and runner.is_dir(folder) and not runner.is_link(folder)
    )


def active(runner: Runner, root: str, arch: str) -> Optional[str]:
    """Version of the toolkit that the links name, None when no link does."""
    for link in (root + "/cann", root + "/ascend-toolkit/latest"):
        have = read_info(runner, "%s/%s-linux/ascend_toolkit_install.info" % (link, arch)).get("version")
        if have:
            return have
    return None


def any_cann(runner: Runner, root: str) -> bool:
    """True when the host has something of CANN, in whatever condition: then its defaults are not ours to move."""
    return bool(
        runner.lexists(RECORD)
        or runner.lexists(root + "/cann")
        or runner.names(root + "/ascend-toolkit")
        or runner.names(root + "/nnal/atb")
        or versions(runner, root, "toolkit")
    )


def toolkit_script(runner: Runner, tree: str) -> Optional[str]:
    """The script that sets the environment of this tree; use it with pins(), it may speak of ``latest``."""
    scripts = [tree + "/set_env.sh", tree.rsplit("/", 1)[0] + "/set_env.sh" if "/ascend-toolkit/" in tree else ""]
    return next((path for path in scripts if path and runner.is_file(path)), None)


def root_of(path: str) -> str:
    """Install root of the folder of a tree or of NNAL."""
    return re.sub(r"/(cann-[^/]+|ascend-toolkit/[^/]+|nnal/[^/]+/[^/]+)/?$", "", path)


def usable(runner: Runner, root: str, version: str, kind: str = "trees") -> Optional[str]:
    """Folder of a whole toolkit (kind trees) or NNAL (kind nnal) of this version, whoever put it there, or None.

    Below root first, then what is ours, then by name: the order in which the plan counts it as present.
    """
    found = _cann.gather(runner, [root], gather(runner))[kind]
    fit = [one for one in found if one["version"].lower() == version.lower() and one.get("complete", True)]
    fit.sort(key=lambda one: (not one["path"].startswith(root + "/"), one.get("origin") != "ours", one["path"]))
    return fit[0]["path"] if fit else None


def nnal_script(runner: Runner, folder: str) -> Optional[str]:
    """The script for one NNAL folder: that of the version, our copy of the shared one, the shared one."""
    scripts = (folder + "/atb/set_env.sh", folder + "/set_env.sh", folder.rsplit("/", 1)[0] + "/set_env.sh")
    return next((path for path in scripts if runner.is_file(path)), None)


def pins(tree: str, nnal_path: Optional[str] = None) -> Dict[str, str]:
    """Links that move with the last install, and the folder of one version that each stands for."""
    root = root_of(tree)
    moving = {root + "/cann": tree, root + "/ascend-toolkit/latest": tree}
    if nnal_path:
        root, version = root_of(nnal_path), nnal_path.rsplit("/", 1)[1]
        moving[nnal_path + "/latest"] = nnal_path  # the shared script looks for ``latest`` beside itself, a copy too
        for library in ("atb", "asdsip"):
            moving["%s/nnal/%s/latest" % (root, library)] = "%s/nnal/%s/%s" % (root, library, version)
    return moving
