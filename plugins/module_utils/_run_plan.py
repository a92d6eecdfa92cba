# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What is there of one CANN package, and what a run would do about it. Nothing here changes a host."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _cann_keep as keep
from . import _cann_layout as layout
from . import _run_checks as checks
from . import _script_env as script_env
from . import _state as states
from ._lock import FOLDER
from ._run_checks import Settings
from ._runner import Result, Runner

PRIVATE = "ascend-fleet-cann-"
CHECK_TIMEOUT = 900  # seconds; the archive hashes itself
# Held by the installer itself: when the module is killed the installer goes on, and no other may start beside it.
INSTALLER_LOCK = FOLDER + "/cann-installer.lock"
_LOCK = """exec 77>>"$0"
flock -n 77 || { echo "$0 is held by another installer" >&2; exit 75; }
printf '{"pid": %d, "since": %d, "what": "the installer %s"}' $$ "$(date +%s)" "${2##*/}" >"$0"
"""
_START = 'exec "$@" </dev/null'


class View(NamedTuple):
    """What is there before we act."""

    found: layout.Found
    tree: layout.Found  # the toolkit that ops and NNAL belong to; for a toolkit the same as found
    state: Optional[Dict[str, Any]]
    tree_ours: bool
    pending: List[str]  # keys of installs of ours that did not end


def key_of(settings: Settings) -> str:
    if settings.package == "ops":
        return "ops-%s-%s" % (settings.family, settings.version)
    return "%s-%s" % (settings.package, settings.version)


def look(runner: Runner, settings: Settings) -> View:
    root, arch = settings.install_path, settings.arch
    tree = layout.toolkit(runner, root, settings.toolkit_version, arch)
    if settings.package == "toolkit":
        found = tree
    elif settings.package == "ops":
        found = layout.ops(runner, tree.path, settings.version, settings.family, arch)
    else:
        found = layout.nnal(runner, root, settings.version)
        tree = _tree_elsewhere(runner, settings) if tree.status == layout.ABSENT else tree
    tree_state = states.load(runner, "cann", "toolkit-" + settings.toolkit_version)
    return View(
        found, tree, states.load(runner, "cann", key_of(settings)), tree_state is not None, keep.stored_keys(runner)
    )


def _tree_elsewhere(runner: Runner, settings: Settings) -> layout.Found:
    """NNAL only reads its toolkit, so one in another root serves it."""
    path = layout.usable(runner, settings.install_path, settings.toolkit_version)
    if path is None:
        why = "no toolkit %s on this host" % settings.toolkit_version
        return layout.Found(layout.ABSENT, None, None, why)
    return layout.Found(layout.COMPLETE, path, None, "%s is there" % path)


def wanted(settings: Settings, view: View) -> Tuple[bool, List[str]]:
    """(something is to be done, what forbids it whatever the checks say)."""
    found, state = view.found, view.state
    begun = state is not None and state["status"] == "installing"
    if found.status == layout.COMPLETE and not begun:
        return False, []
    reasons = []
    if found.status == layout.PARTIAL and state is None:
        reasons.append(
            "%s is there but not complete (%s), and no run of this collection began it. Finish it with the vendor's "
            "installer or remove it, then run again." % (found.path, found.why)
        )
    if found.status == layout.OTHER:
        reasons.append(
            "%s, wanted are operators %s for %s. Operators are not replaced inside a tree that may be in use: choose "
            "the toolkit version that belongs to them." % (found.why, settings.version, settings.family)
        )
    if settings.package == "ops" and view.tree.status == layout.COMPLETE and not view.tree_ours:
        reasons.append(
            "%s was not installed by this collection, and operators would change it. Install them by hand, or set "
            "another install_path (role: cann_install_path)." % view.tree.path
        )
    for other in view.pending:
        if other != key_of(settings):
            reasons.append(
                "An install of %s did not end, and the links it may have moved are noted in %s/%s.json. Run that one "
                "to its end, or remove the note when the links are as they should be." % (other, keep.FOLDER, other)
            )
    return True, reasons


def needs_tree(settings: Settings, view: View) -> List[str]:
    """Operators and NNAL come after the toolkit. Not asked in check mode, where an earlier step would have made it."""
    if settings.package == "toolkit" or view.tree.status == layout.COMPLETE:
        return []
    return ["The toolkit %s must be there first: %s." % (settings.toolkit_version, view.tree.why)]


def default_wanted(runner: Runner, settings: Settings) -> bool:
    """Whether the links may go to what is installed now: asked for, or nobody's default is moved by it.

    NNAL follows its toolkit; operators belong to a tree and move nothing.
    """
    if settings.make_default != "auto" or settings.package == "ops":
        return settings.make_default == "true"
    if settings.package == "toolkit":
        return not layout.any_cann(runner, settings.install_path)
    named = layout.active(runner, settings.install_path, settings.arch)
    return named == settings.toolkit_version and not runner.names(settings.install_path + "/nnal/atb")


def sentences(runner: Runner, settings: Settings, view: View) -> List[str]:
    """What a run would do, for people."""
    name = "%s%s %s" % (settings.package, " " + settings.family if settings.package == "ops" else "", settings.version)
    would = []
    if view.state is not None and view.found.path and settings.package != "ops":
        would.append("remove %s, which an earlier run did not finish" % view.found.path)
    would.append("install CANN %s below %s" % (name, settings.install_path))
    if default_wanted(runner, settings):
        would.append("make it the default of the host")
    elif layout.any_cann(runner, settings.install_path):
        would.append("keep the links, set_env.sh files and record of the CANN that is there")
    return would


def call(
    runner: Runner,
    settings: Settings,
    private: str,
    *,
    env: Dict[str, str],
    options: List[str],
    timeout: int,
    lock: bool,
) -> Result:
    """Start the package. Its temporary files and makeself's log ($HOME/log) stay in private, which must exist.

    A question, about the licence or whatever, meets an end of file and not a terminal.

    :param lock: hold INSTALLER_LOCK as long as any process of it lives; status 75 when another one does.
    """
    for name in ("home", "tmp"):
        os.makedirs(os.path.join(private, name), 0o700, exist_ok=True)
    env = dict(env, HOME=private + "/home", TMPDIR=private + "/tmp", LC_ALL="C", LANG="C")
    argv = ["env", "-i"] + ["%s=%s" % (name, env[name]) for name in sorted(env)]
    start = _LOCK + _START if lock else _START
    argv += ["bash", "-c", start, runner.real(INSTALLER_LOCK), "bash", settings.src, *options]
    return runner.run(argv, timeout=timeout, cwd="/", umask=0o022)


def problems(
    runner: Runner, settings: Settings, view: View, *, arch: str, euid: int, planned: bool
) -> Tuple[List[str], Optional[str]]:
    """(everything that forbids the run, folder for TMPDIR).

    :param arch: of this host, as uname -m; euid: user that we run as.
    :param planned: check mode: the package and the toolkit may be what an earlier step would have brought.
    """
    found = checks.eula(settings) + checks.machine(settings, arch, euid)
    found += checks.parents(runner, settings.install_path, euid)
    if not planned:
        found += needs_tree(settings, view)
    if planned and not runner.is_file(settings.src):
        return found, None
    file_problems = checks.archive(runner, settings)
    tmp, tmp_problems = checks.choose_tmp(runner, settings)
    if not file_problems and tmp is not None:
        file_problems = _self_check(runner, settings, tmp)
    return found + file_problems + checks.room(runner, settings) + tmp_problems, tmp


def _self_check(runner: Runner, settings: Settings, tmp: str) -> List[str]:
    private = tempfile.mkdtemp(prefix=PRIVATE, dir=runner.real(tmp))
    try:
        result = call(
            runner,
            settings,
            private,
            env={"PATH": script_env.PATH},
            options=["--check"],
            timeout=CHECK_TIMEOUT,
            lock=False,
        )
    finally:
        shutil.rmtree(private, ignore_errors=True)
    return checks.self_check(result.out, result.err, result.rc, settings.src)
