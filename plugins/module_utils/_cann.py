# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""``ascend_cann``: every CANN tree and NNAL of a host, whoever put it there.

Two layouts exist: ``<root>/ascend-toolkit/<version>`` up to 8.3 and ``<root>/cann-<version>`` from 8.5 on. A tree that
several names lead to (8.1 beside 8.1.RC1, latest, cann) is one tree with several links. ``latest`` can be a folder of
links instead of a link; then what its links lead to is what it names.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Sequence

from ._chips import family_of_kernels, family_of_package
from ._driver import pairs
from ._runner import Runner

DEFAULT_ROOT = "/usr/local/Ascend"
RECORD = "/etc/Ascend/ascend_cann_install.info"
_TREE = re.compile(r"^(cann-)?\d")
_ARCH = re.compile(r"^([a-z0-9_]+)-linux$")
_NNAL_VERSION = re.compile(r"^\s*Ascend-cann-atb(?: Version)?\s*[:=]\s*(\S+)", re.MULTILINE)
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel/config"
_MOST_LINKS = 40  # as the kernel allows; a loop of links ends here


def gather(runner: Runner, roots: Sequence[str] = (), stack: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """Look below the default root, the recorded install path and further roots.

    :param roots: more folders that hold CANN installs, such as /home/me/Ascend.
    :param stack: ``ascend_stack``, which says what is ours.
    :return: {trees, nnal, active}; active is the path of the tree that the links of the first root name, or None.
    """
    trees, nnal, active = [], [], None
    ours = _our_paths(runner, stack or {})
    for root in _roots(runner, roots):
        found = _trees(runner, root, ours)
        known = {tree["path"] for tree in trees}
        trees += [tree for tree in found if tree["path"] not in known]
        active = active or _active(runner, root)
        nnal += [entry for entry in _nnal(runner, root) if entry["path"] not in {other["path"] for other in nnal}]
    return {"trees": trees, "nnal": nnal, "active": active}


def _roots(runner: Runner, more: Sequence[str]) -> List[str]:
    """Install roots without links and doubles; the record of the last install may name one that nobody told us."""
    recorded = pairs(runner.read(RECORD)).get("Toolkit_InstallPath", "")
    recorded = re.sub(r"/(ascend-toolkit|cann)(-[^/]*)?(/.*)?$", "", recorded)
    found = [resolve(runner, path) for path in (DEFAULT_ROOT, *more, recorded) if path.startswith("/")]
    return list(dict.fromkeys(path for path in found if path and path != "/"))


def _our_paths(runner: Runner, stack: Dict[str, Any]) -> List[str]:
    """Trees that our states name, begun ones included. Adopted trees stay foreign, and so does a tree of others that
    only got its operators from us."""
    paths = []
    for key, state in (stack.get("cann") or {}).items():
        if state and key.startswith("toolkit-") and state.get("origin") != "adopted":
            named = [(state.get("have") or {}).get("path"), *((state.get("made") or {}).get("paths") or [])]
            paths += [resolve(runner, path) or path for path in named if isinstance(path, str) and path]
    return paths


def resolve(runner: Runner, path: str) -> Optional[str]:
    """The path without links, seen from the node's root; None when it leads nowhere or in a circle."""
    left, done = [part for part in path.split("/") if part], ""
    for _step in range(_MOST_LINKS * 8):
        if not left:
            return done or "/"
        part = left.pop(0)
        if part in (".", ".."):
            done = done.rsplit("/", 1)[0] if part == ".." else done
            continue
        target = runner.readlink(done + "/" + part)
        if target is None:
            done += "/" + part
            if not runner.lexists(done):
                return None
            continue
        done = "" if target.startswith("/") else done
        left = [word for word in target.split("/") if word] + left
    return None


def _trees(runner: Runner, root: str, ours: List[str]) -> List[Dict[str, Any]]:
    links = {}  # type: Dict[str, List[str]]
    layouts = {}  # type: Dict[str, str]
    for folder, layout in ((root + "/ascend-toolkit", "legacy"), (root, "cann")):
        for name in runner.names(folder):
            path = "%s/%s" % (folder, name)
            target = _named_tree(runner, path)
            if target is None:
                continue
            if runner.is_link(path) or path.endswith("/latest"):
                links.setdefault(target, []).append(path)
            layouts.setdefault(target, "cann" if target.rsplit("/", 1)[1].startswith("cann-") else layout)
    return [_tree(runner, path, layouts[path], links.get(path, []), ours) for path in sorted(layouts)]


def _named_tree(runner: Runner, path: str) -> Optional[str]:
    """Path of the version folder that a name leads to: itself, the end of a link, or that of a folder of links."""
    target = resolve(runner, path)
    if target is None or not runner.is_dir(target):
        return None
    base = target.rsplit("/", 1)[1]
    if base == "latest":
        for name in runner.names(target):
            inner = resolve(runner, "%s/%s" % (target, name)) if runner.is_link("%s/%s" % (target, name)) else None
            tree = inner.rsplit("/", 1)[0] if inner else ""
            if _TREE.match(tree.rsplit("/", 1)[-1]):
                return tree
        return None
    return target if _TREE.match(base) else None


def _tree(runner: Runner, path: str, layout: str, links: List[str], ours: List[str]) -> Dict[str, Any]:
    arches = [match.group(1) for match in map(_ARCH.match, runner.names(path)) if match]
    info, arch = {}, (arches[0] if arches else None)  # type: Dict[str, str], Optional[str]
    for name in arches:
        found = pairs(runner.read("%s/%s-linux/ascend_toolkit_install.info" % (path, name)))
        if found.get("version"):
            info, arch = found, name
            break
    toolkit = info.get("version")
    scripts = env_scripts(runner, path, arch)
    return {
        "version": toolkit or re.sub(r"^cann-", "", path.rsplit("/", 1)[1]),
        "path": path,
        "layout": layout,
        "arch": arch,
        "toolkit": toolkit,
        "ops": _ops(runner, path, arches),
        "complete": bool(toolkit and scripts),
        "env_scripts": scripts,
        "links": sorted(links),
        "origin": "ours" if path in ours else "foreign",
    }


def env_scripts(runner: Runner, path: str, arch: Optional[str]) -> List[str]:
    """Scripts that set the environment of a tree, the best first: those of the version before the shared one."""
    candidates = [path + "/set_env.sh"]
    if arch:
        candidates.append("%s/%s-linux/script/set_env.sh" % (path, arch))
    candidates.append(path + "/bin/setenv.bash")
    parent = path.rsplit("/", 1)[0]
    if parent.endswith("/ascend-toolkit"):
        candidates.append(parent + "/set_env.sh")
    return [script for script in candidates if runner.is_file(script)]


def _ops(runner: Runner, path: str, arches: Sequence[str]) -> Dict[str, Optional[str]]:
    """Operator packages by chip family; the folder name of a tree says nothing about their version."""
    found = {}  # type: Dict[str, Optional[str]]
    for arch in arches:
        folder = "%s/%s-linux" % (path, arch)
        for name in runner.names(folder):
            if re.match(r"^ascend_.*ops.*_install\.info$|^ascend_ops_install\.info$", name):
                info = pairs(runner.read(folder + "/" + name))
                package = info.get("package_name")
                if info.get("version"):
                    found[family_of_package(package) or (package or "unknown")] = info["version"]
    kernels = pairs(runner.read(path + "/opp_kernel/version.info")).get("version_dir")
    if kernels:
        for name in runner.names("%s/%s" % (path, _KERNELS)):
            family = family_of_kernels(name)
            if family:
                found.setdefault(family, kernels)
        if not found:
            found["unknown"] = kernels
    return found


def _active(runner: Runner, root: str) -> Optional[str]:
    for link in (root + "/cann", root + "/ascend-toolkit/latest"):
        target = _named_tree(runner, link) if runner.lexists(link) else None
        if target:
            return target
    return None


def _nnal(runner: Runner, root: str) -> List[Dict[str, Any]]:
    folder = root + "/nnal/atb"
    latest = resolve(runner, folder + "/latest")
    found = {}  # type: Dict[str, Dict[str, Any]]
    for name in runner.names(folder):
        path = resolve(runner, folder + "/" + name)
        if path is None or name == "latest" or not re.match(r"^\d", name) or not runner.is_dir(path):
            continue
        text = runner.read(path + "/version.info") or ""
        match = _NNAL_VERSION.search(text)
        if match:
            found[path] = {"version": re.sub(r"\.B\d+$", "", match.group(1)), "path": path, "active": path == latest}
    return [found[path] for path in sorted(found)]
