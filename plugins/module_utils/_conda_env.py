# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""One conda env with pinned packages: look, decide, act, prove.

``look`` reads files only. ``steps`` and ``refusal`` are pure. ``apply`` changes the node.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from . import _advice, _conda, _envs, _in_use, _pip, _state
from ._runner import Runner
from ._work import Failed, Work, remove_tree

LAYER = "conda_env"
BASE_KEY = "base"
_TOLD = 6
_PROOF = "import sys, json; out = {'python': '%d.%d.%d' % sys.version_info[:3]}\n"
_PROOF_TORCH = "import torch; out['torch'] = torch.__version__\n"
_PROOF_END = "print('ascend-fleet ' + json.dumps(out))\n"


class Want(NamedTuple):
    """What is asked for. packages are requirement strings, pip the user's dict (see _pip)."""

    base: str
    installer: str
    installer_sha256: str
    prefix: str
    key: str
    python: str
    channels: Sequence[str]
    offline: bool
    packages: Sequence[str]
    pip: Mapping[str, Any]
    find_links: str
    timeout: int


class Seen(NamedTuple):
    """What is there.

    base: ours | foreign | half | absent | occupied
    env: complete | differs | half | other | absent | foreign | damaged (other = ours with another Python line)
    """

    base: str
    env: str
    python: Optional[str]
    differences: Sequence[_pip.Difference]
    users: Sequence[str]


def look(runner: Runner, want: Want) -> Seen:
    found = _envs.gather(runner, want.prefix)
    missing = _pip.differences(want.packages, found["packages"])
    return Seen(
        base=_base(runner, want.base),
        env=_env(runner, want, found, missing),
        python=found["python"],
        differences=missing,
        users=_in_use.instances_of(runner, want.key, want.prefix),
    )


def _base(runner: Runner, base: str) -> str:
    state = _state.load(runner, LAYER, BASE_KEY)
    ours = state is not None and state["have"].get("prefix") == base
    works = runner.is_executable(base + "/bin/conda")
    if ours:
        return "ours" if works and state["status"] == "complete" else "half"
    if works:
        return "foreign"
    return "occupied" if runner.names(base) or runner.is_file(base) else "absent"


def _env(runner: Runner, want: Want, found: Dict[str, Any], missing: Sequence[_pip.Difference]) -> str:
    state = _state.load(runner, LAYER, want.key)
    if state is None and runner.exists(_state.path_of(LAYER, want.key)):
        return "damaged"
    if state is None or state["have"].get("prefix") != want.prefix:
        return "foreign" if runner.names(want.prefix) or runner.is_file(want.prefix) else "absent"
    if not found["exists"]:
        return "absent"
    if state["status"] != "complete" or not runner.is_executable(want.prefix + "/bin/python"):
        return "half"
    if not _conda.same_line(want.python, found["python"]):
        return "other"
    return "differs" if missing else "complete"


def steps(seen: Seen, want: Want) -> List[str]:
    """What apply would do, in words; empty when nothing is to be done."""
    if seen.env == "complete":
        return []
    would = []
    if seen.env == "differs":
        for item in seen.differences:
            would.append("change %s from %s to %s" % (item.name, item.have or "absent", item.want))
        return would
    if seen.base == "half":
        would.append("remove the incomplete conda at %s" % want.base)
    if seen.base in ("half", "absent"):
        would.append("install conda to %s" % want.base)
    if seen.env in ("half", "other"):
        would.append("remove the env at %s (%s)" % (want.prefix, "incomplete" if seen.env == "half" else seen.python))
    would.append("create the env %s with Python %s" % (want.prefix, want.python))
    if want.packages:
        would.append("install %s" % _enumerated(want.packages))
    return would


def _enumerated(packages: Sequence[str]) -> str:
    """The first packages by name, the rest by number: a list of extra packages can be long."""
    more = len(packages) - _TOLD
    return ", ".join(packages[:_TOLD]) + (" and %d more" % more if more > 0 else "")


def refusal(seen: Seen, want: Want, planned: bool = False) -> Optional[str]:
    """Why nothing may be changed, with the remedy, or None.

    :param planned: check mode, in which the installer is not on the node yet.
    """
    reason = _conda.bad_prefix(want.prefix) or next(filter(None, map(_conda.bad_channel, want.channels)), None)
    if reason:
        return "%s. Change conda_env_root or conda_env_channels." % reason
    if want.key == BASE_KEY:
        return "The key %r belongs to conda itself. Take the runtime id." % want.key
    if seen.env == "complete":
        return None
    no_conda = seen.base in ("absent", "half") and seen.env != "differs"
    checks = (
        (
            seen.env == "damaged",
            "The state file %s is damaged, so nobody can say whose %s is. Move both away and run again."
            % (_state.path_of(LAYER, want.key), want.prefix),
        ),
        (
            seen.env == "foreign",
            "%s exists and was not made by this collection. Move it away, or choose another conda_env_root."
            % want.prefix,
        ),
        (
            bool(seen.users) and seen.env != "absent",
            "The env %s is used by the instances %s, so it is not changed. Remove them first, or take another "
            "release or conda_env_root." % (want.prefix, ", ".join(seen.users)),
        ),
        (
            seen.base == "occupied",
            "%s is there but holds no working conda. Move it away, or name another place in conda_env_base."
            % want.base,
        ),
        (
            no_conda and not want.installer and not planned,
            "There is no conda at %s and no installer was given. Put a Miniforge installer among the artifacts "
            "(conda-installer), or set conda_env_base to a conda that is there." % want.base,
        ),
    )
    return next((text for wrong, text in checks if wrong), None)


def apply(runner: Runner, want: Want, seen: Seen) -> Dict[str, Any]:
    """Do the steps; returns {base, env}: the ``have`` of both. Failed with cause and remedy."""
    with Work(runner, LAYER, want.timeout) as work:
        if seen.env != "differs":
            _need_exec(runner, want.prefix)
            base = _make_base(work, want, seen)
        else:
            base = None
        env = _make_env(work, want, seen)
    remove_tree(runner, _conda.PACKAGES)
    return {"base": base, "env": env}


def _need_exec(runner: Runner, prefix: str) -> None:
    if runner.space(prefix)["noexec"]:
        raise Failed(
            "%s lies on a file system mounted noexec, so its Python could not run. Choose another conda_env_root."
            % prefix
        )


def _conda_environment(work: Work) -> Dict[str, str]:
    return _conda.environment(work.write("condarc", _conda.CONDARC))


def _make_base(work: Work, want: Want, seen: Seen) -> Dict[str, Any]:
    runner, conda = work.runner, want.base + "/bin/conda"
    if seen.base in ("ours", "foreign"):
        return {"prefix": want.base, "conda": _base_version(work, conda, seen.base)}
    if want.installer_sha256:
        have = _state.sha256_of(runner, want.installer)
        if have != want.installer_sha256:
            raise Failed(
                "%s has the SHA-256 %s, wanted is %s. Get the installer again, or correct the manifest."
                % (want.installer, have or "of no readable file", want.installer_sha256)
            )
    have = {"prefix": want.base, "conda": None}  # type: Dict[str, Any]
    state = _state.new(LAYER, BASE_KEY, "conda_env", have, want.installer_sha256 or None)
    state["made"]["paths"] = [want.base]
    state["previous"] = _moved_on(_state.load(runner, LAYER, BASE_KEY), want.base)
    _state.save(runner, state, "installing")
    remove_tree(runner, want.base)  # half-made or empty: the installer refuses a folder that is there
    runner.make_folder(want.base.rsplit("/", 1)[0])
    work.call(
        _conda.installer(want.installer, want.base), "Installing conda to %s" % want.base, advice=_advice.for_conda
    )
    state["have"]["conda"] = _base_version(work, conda, "new")
    return _state.save(runner, state, "complete")["have"]


def _moved_on(old: Optional[Dict[str, Any]], prefix: str) -> Optional[Dict[str, Any]]:
    """A state that told of another place: kept, because only it knows what is ours there."""
    return old if old is not None and old["have"].get("prefix") != prefix else None


def _base_version(work: Work, conda: str, whose: str) -> str:
    result = work.call([conda, "--version"], "Asking %s for its version" % conda, env=_conda_environment(work))
    version = _conda.version(result.out + "\n" + result.err)
    if version is None:
        raise Failed(
            "%s (%s) did not say which conda it is. Choose another conda_env_base." % (conda, whose),
            (result.out + result.err).splitlines()[-3:],
        )
    return version


def _make_env(work: Work, want: Want, seen: Seen) -> Dict[str, Any]:
    runner, python = work.runner, want.prefix + "/bin/python"
    old = _state.load(runner, LAYER, want.key)
    have = {"prefix": want.prefix, "python": want.python, "packages": {}}  # type: Dict[str, Any]
    state = _state.new(LAYER, want.key, "conda_env", have)
    state["made"]["paths"] = [want.prefix]
    state["previous"] = _moved_on(old, want.prefix)
    _state.save(runner, state, "installing")
    if seen.env != "differs":
        remove_tree(runner, want.prefix)
        runner.make_folder(want.prefix.rsplit("/", 1)[0])
        work.call(
            _conda.create(want.base + "/bin/conda", want.prefix, want.python, want.channels, want.offline),
            "Creating the env %s with Python %s" % (want.prefix, want.python),
            env=_conda_environment(work),
            advice=_advice.for_conda,
        )
    if want.packages:
        limits = _pip.constraint_lines(want.pip, [line for line in want.packages if _pip.exact(line)])
        work.call(
            _pip.install(
                python, want.packages, _pip.index_args(want.pip, want.find_links), work.write("constraints.txt", limits)
            ),
            "Installing %s" % _enumerated(want.packages),
            env=_pip.environment(),
            advice=_advice.for_pip,
        )
    state["have"] = _prove(work, want)
    return _state.save(runner, state, "complete")["have"]


def _prove(work: Work, want: Want) -> Dict[str, Any]:
    """The env's own Python runs, imports torch, and every pin is there."""
    found = _envs.gather(work.runner, want.prefix)
    missing = _pip.differences(want.packages, found["packages"])
    if missing:
        raise Failed(
            "After the installation %s holds %s. Look for an extra package that asks for another version."
            % (want.prefix, ", ".join("%s %s instead of %s" % (d.name, d.have or "absent", d.want) for d in missing))
        )
    names = [name for name in map(_pip.name_of, want.packages) if name]
    script = _PROOF + (_PROOF_TORCH if "torch" in names else "") + _PROOF_END
    result = work.call(
        [want.prefix + "/bin/python", "-c", script],
        "Importing torch in the new env" if "torch" in names else "Starting the new env's Python",
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        advice=_advice.for_build,
    )
    said = marked(result.out)
    if not _conda.same_line(want.python, said.get("python")):
        raise Failed("The env %s runs Python %s, wanted is %s." % (want.prefix, said.get("python"), want.python))
    if "torch" in names and not _pip.met(found["packages"]["torch"].partition("+")[0], said.get("torch")):
        raise Failed(
            "%s imports torch %s although %s is installed: another torch is in its path. Remove that one and run again."
            % (want.prefix, said.get("torch"), found["packages"]["torch"])
        )
    return {
        "prefix": want.prefix,
        "python": said["python"],
        "packages": {name: found["packages"][name] for name in sorted(set(names) & set(found["packages"]))},
    }


def marked(out: str) -> Dict[str, Any]:
    """The JSON object that a proof printed among the messages of what it imported; {} when there is none."""
    for line in out.splitlines():
        if line.startswith("ascend-fleet "):
            try:
                said = json.loads(line[len("ascend-fleet ") :])
            except ValueError:
                continue
            if isinstance(said, dict):
                return said
    return {}
