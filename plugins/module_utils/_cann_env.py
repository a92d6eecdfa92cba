# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The environment file of one CANN version: which scripts make it, whether it is still what they say, writing it."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from . import _cann_layout as layout
from . import _script_env as script_env
from . import _state as states
from ._runner import Runner
from ._script_env import EnvError, Script

COMMENT = "Written by ascend.fleet from the scripts of CANN %s; changed by hand it is written again."
COMMENT_START = "# Written by ascend.fleet "
BISHENG = "/share/info/ascendnpu-ir/bin/set_env.sh"  # compiler that triton-ascend calls, part of newer toolkits


class Wanted(NamedTuple):
    """What the module was asked for; nnal_version empty: without NNAL. cxx_abi: 0 | 1, of the torch that is used."""

    version: str
    nnal_version: str
    cxx_abi: Optional[int]
    install_path: str
    dest: str
    scripts: List[str]  # further ones, sourced last


class Sources(NamedTuple):
    """Folders and scripts of one CANN version on this host."""

    tree: str
    nnal: Optional[str]
    scripts: List[Script]


def key_of(wanted: Wanted) -> str:
    return "env-" + wanted.version


def find(runner: Runner, wanted: Wanted) -> Sources:
    """The scripts in their order: toolkit, its compiler, NNAL, then further ones. EnvError when one is missing."""
    tree = layout.usable(runner, wanted.install_path, wanted.version)
    script = layout.toolkit_script(runner, tree) if tree else None
    if tree is None or script is None:
        raise EnvError("There is no complete CANN toolkit %s on this host: install it first." % wanted.version)
    scripts = [Script(script)]
    if runner.is_file(tree + BISHENG):
        scripts.append(Script(tree + BISHENG))
    nnal = None
    if wanted.nnal_version:
        nnal = layout.usable(runner, wanted.install_path, wanted.nnal_version, "nnal")
        script = layout.nnal_script(runner, nnal) if nnal else None
        if nnal is None or script is None:
            raise EnvError("There is no NNAL %s on this host: install it first." % wanted.nnal_version)
        scripts.append(Script(script, ("--cxx_abi=%d" % (wanted.cxx_abi or 0),)))
    for path in wanted.scripts:
        if not runner.is_file(path):
            raise EnvError("%s is not on this host: correct scripts." % path)
        scripts.append(Script(path))
    return Sources(tree, nnal, scripts)


def have_of(runner: Runner, wanted: Wanted, sources: Sources) -> Dict[str, Any]:
    """What the state says of a file made from these sources: equal means that it need not be made again."""
    return {
        "version": wanted.version,
        "path": wanted.dest,
        "inputs": {script.path: states.sha256_of(runner, script.path) for script in sources.scripts},
        "tree": sources.tree,
        "nnal": sources.nnal,
        "cxx_abi": wanted.cxx_abi,
    }


def is_current(runner: Runner, wanted: Wanted, have: Dict[str, Any]) -> bool:
    state = states.load(runner, "cann", key_of(wanted))
    return (
        state is not None
        and state["status"] == "complete"
        and state["have"] == have
        and not states.drift(runner, state)
    )


def refuse_foreign(runner: Runner, wanted: Wanted) -> None:
    """EnvError when something that we did not write is where the file goes."""
    text = runner.read(wanted.dest)
    if text is None and not runner.lexists(wanted.dest):
        return
    ours = states.load(runner, "cann", key_of(wanted)) is not None or (text or "").startswith(COMMENT_START)
    if not ours:
        raise EnvError("%s was not written by this collection: move it away, or choose another dest." % wanted.dest)


def make(runner: Runner, wanted: Wanted, sources: Sources, timeout: int) -> Dict[str, Any]:
    """{env, left_out, text}: what the file is to hold, proven to name existing folders of this version."""
    found = script_env.capture(runner, sources.scripts, timeout)
    roots = [layout.root_of(path) for path in (sources.tree, sources.nnal) if path]
    pins = layout.pins(sources.tree, sources.nnal)
    env, left_out = script_env.clean(runner, found, list(dict.fromkeys(roots)), pins)
    folders = {"ASCEND_HOME_PATH": sources.tree, "ASCEND_TOOLKIT_HOME": sources.tree, "ASCEND_OPP_PATH": sources.tree}
    if sources.nnal:
        folders["ATB_HOME_PATH"] = sources.nnal
    script_env.need_folders(runner, env, folders)
    return {"env": env, "left_out": left_out, "text": script_env.render(env, COMMENT % wanted.version)}


def write(runner: Runner, wanted: Wanted, have: Dict[str, Any], text: str) -> None:
    """Write the file and its state."""
    state = states.new("cann", key_of(wanted), "script_env", have)
    before = states.load(runner, "cann", key_of(wanted))
    state["previous"] = {"have": before["have"]} if before else None
    folder = wanted.dest.rsplit("/", 1)[0] or "/"
    made = list(before["made"].get("paths") or []) if before else []
    made += [path for path in _missing(runner, folder) if path not in made]
    state["made"]["paths"] = [*made, *([] if wanted.dest in made else [wanted.dest])]
    state = states.save(runner, state, "installing")
    runner.make_folder(folder)
    runner.write_atomic(wanted.dest, text)
    state["files"] = {wanted.dest: states.sha256_of(runner, wanted.dest)}
    states.save(runner, state, "complete")


def _missing(runner: Runner, folder: str) -> List[str]:
    missing = []  # type: List[str]
    while folder and not runner.lexists(folder):
        missing.insert(0, folder)
        folder = folder.rsplit("/", 1)[0]
    return missing
