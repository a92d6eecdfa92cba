# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""One native runtime: vLLM and vllm-ascend in an env, its environment file, its state.

``look`` reads files only. ``steps`` and ``refusal`` are pure. ``apply`` changes the node.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from . import _advice, _build, _envs, _in_use, _pip, _proof, _runtime_env, _script_env, _sources, _state
from ._runner import Runner
from ._work import Work

LAYER = "vllm_ascend"
TRITON = ("triton", "triton-ascend")  # they share their folder, so the one that came last has won
_TOLD = {"vllm": "vllm", "vllm_ascend": "vllm-ascend", "torch": "torch", "torch_npu": "torch-npu"}
_TOLD.update({"triton_ascend": "triton-ascend", "transformers": "transformers", "numpy": "numpy"})


class Want(NamedTuple):
    """What is asked for. pins are constraint lines, pip is the user's dict (see _pip), dependencies resolve | skip."""

    id: str
    release: str
    family: str
    prefix: str
    sources: Sequence[Mapping[str, Any]]
    cann_env_file: str
    env_file: str
    wheels: str
    cxx_abi: int
    soc_version: str
    custom_kernels: bool
    max_jobs: int
    build_env: Mapping[str, str]
    requirements: Sequence[str]
    triton_ascend: str
    pins: Sequence[str]
    dependencies: str
    pip: Mapping[str, Any]
    find_links: str
    timeout: int

    def version(self, name: str) -> str:
        return next((str(one["version"]) for one in self.sources if one["name"] == name), "")


class Seen(NamedTuple):
    """What is there.

    env: ours | foreign | half | absent
    runtime: complete | file (only the environment file is not as it should be) | absent | half | differs | damaged
    cann: variables of the CANN environment file, None when it is not there
    """

    env: str
    runtime: str
    packages: Mapping[str, str]
    python: Optional[str]
    cann: Optional[Dict[str, str]]
    users: Sequence[str]


def look(runner: Runner, want: Want) -> Seen:
    found = _envs.gather(runner, want.prefix)
    text = runner.read(want.cann_env_file) if want.cann_env_file else None
    cann = None if text is None else _script_env.parse(text)
    return Seen(
        env=_env(runner, want.prefix, found),
        runtime=_runtime(runner, want, found["packages"], cann),
        packages=found["packages"],
        python=found["python"],
        cann=cann,
        users=_in_use.instances_of(runner, want.id, want.prefix),
    )


def _env(runner: Runner, prefix: str, found: Mapping[str, Any]) -> str:
    if not found["exists"] or found["python"] is None:
        return "absent"
    states = [state for state in _in_use.states(runner, "conda_env").values() if state["have"].get("prefix") == prefix]
    if not states:
        return "foreign"
    return "ours" if all(state["status"] == "complete" for state in states) else "half"


def _runtime(runner: Runner, want: Want, packages: Mapping[str, str], cann: Optional[Dict[str, str]]) -> str:
    state = _state.load(runner, LAYER, want.id)
    if state is None:
        return "damaged" if runner.exists(_state.path_of(LAYER, want.id)) else "absent"
    if state["status"] != "complete":
        return "half"
    have = state["have"]
    same = have.get("prefix") == want.prefix and have.get("family") == want.family and not _wrong(want, packages)
    if not same or not runner.is_executable(want.prefix + "/bin/vllm"):
        return "differs"
    known = state.get("files", {}).get(want.env_file)
    text = runner.read(want.env_file)
    if text is None or _state.sha256_of(runner, want.env_file) != known:
        return "file"
    return "complete" if cann is None or text == _runtime_env.text(runner, cann, want.prefix, want.id) else "file"


def _wrong(want: Want, packages: Mapping[str, str]) -> List[_pip.Difference]:
    """What the env does not hold as the runtime needs it."""
    lines = ["%s==%s" % (one["name"], one["version"]) for one in want.sources]
    if want.triton_ascend:
        lines.append("triton-ascend==%s" % want.triton_ascend)
    return _pip.differences(lines, packages)


def steps(seen: Seen, want: Want) -> List[str]:
    """What apply would do, in words; empty when nothing is to be done."""
    if seen.runtime == "complete":
        return []
    if seen.runtime == "file":
        return ["write %s" % want.env_file]
    if seen.env == "foreign":
        return ["use the env %s as it is" % want.prefix, "write %s" % want.env_file]
    kernels = "with custom kernels" if want.custom_kernels else "without custom kernels"
    would = [
        "build vllm %s without device code" % want.version("vllm"),
        "build vllm-ascend %s for %s %s" % (want.version("vllm-ascend"), want.soc_version or "the chip here", kernels),
        "install both into %s%s"
        % (want.prefix, "" if want.dependencies == "resolve" else " without their dependencies"),
    ]
    if want.triton_ascend:
        would.append("install triton-ascend %s last" % want.triton_ascend)
    elif any(name in seen.packages for name in TRITON):
        would.append("remove %s" % " and ".join(name for name in TRITON if name in seen.packages))
    return [*would, "write %s" % want.env_file, "prove the runtime %s" % want.id]


def refusal(runner: Runner, seen: Seen, want: Want) -> Optional[str]:
    """Why nothing may be changed, with the remedy, or None. Looks at the sources: an archive is hashed."""
    building = seen.runtime != "file" and seen.env != "foreign"
    wrong = ", ".join("%s %s instead of %s" % (d.name, d.have or "absent", d.want) for d in _wrong(want, seen.packages))
    checks = (
        (
            seen.runtime == "damaged",
            "The state file %s is damaged. Move it away and run again; the runtime is then built anew."
            % _state.path_of(LAYER, want.id),
        ),
        (
            seen.cann is None,
            "There is no CANN environment file at %s. Run the role cann first (tag cann)." % want.cann_env_file,
        ),
        (seen.env == "absent", "There is no env at %s. Run the role conda_env first (tag conda_env)." % want.prefix),
        (
            seen.env == "half",
            "The env at %s is not complete. Run the role conda_env again (tag conda_env)." % want.prefix,
        ),
        (
            seen.env == "foreign" and bool(wrong),
            "The env %s was not made by this collection, and it holds %s. Leave vllm_ascend_env empty, so that an own "
            "env is made, or correct yours." % (want.prefix, wrong),
        ),
        (
            bool(seen.users) and building,
            "The runtime %s is used by the instances %s, so it is not changed. Remove them first, or take another "
            "release." % (want.id, ", ".join(seen.users)),
        ),
    )
    reason = next((text for wrong_here, text in checks if wrong_here), None)
    if reason is None and building:
        missing = [name for name in _build.ORDER if not want.version(name)]
        if missing:
            return "No source of %s was given. Put it among the artifacts." % " and ".join(missing)
        reason = next(filter(None, (_sources.check(runner, dict(one)) for one in want.sources)), None)
    return reason


def apply(runner: Runner, want: Want, seen: Seen) -> Dict[str, Any]:
    """Do the steps; returns the runtime, the ``have`` of its state. Failed with cause and remedy."""
    old = _state.load(runner, LAYER, want.id)
    if seen.runtime == "file" and old is not None:
        return _restore_file(runner, want, seen, old)
    state = _begun(runner, want, seen, old)
    with Work(runner, LAYER, want.timeout) as work:
        if seen.env != "foreign":
            _install(work, want, _wheels(work, want, seen))
        _write_file(runner, want, seen)
        state["have"] = _described(work, want, seen)
    state["files"] = {want.env_file: _state.sha256_of(runner, want.env_file)}
    return _state.save(runner, state, "complete")["have"]


def _restore_file(runner: Runner, want: Want, seen: Seen, state: Dict[str, Any]) -> Dict[str, Any]:
    """The env is as it was; only its file is written again, which a process that runs does not notice."""
    _write_file(runner, want, seen)
    state["have"]["env_file"] = want.env_file
    state["files"][want.env_file] = _state.sha256_of(runner, want.env_file)
    if want.env_file not in state["made"]["paths"]:
        state["made"]["paths"].append(want.env_file)
    return _state.save(runner, state, "complete")["have"]


def _begun(runner: Runner, want: Want, seen: Seen, old: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    """The state as it is to become, on disk as begun. A foreign env stays foreign: of it only the file is ours."""
    have = {"id": want.id, "kind": "native", "release": want.release, "family": want.family, "prefix": want.prefix}
    state = _state.new(LAYER, want.id, "runtime", have)
    state["previous"] = old if old is not None and old["have"].get("prefix") != want.prefix else None
    if seen.env == "foreign":
        state["origin"] = "adopted"
        state["made"]["paths"] = [want.env_file]
    else:
        # vllm's program stands for what was installed into the env: it goes when the env is made again
        state["made"]["paths"] = [want.env_file, want.wheels, want.prefix + "/bin/vllm"]
    return _state.save(runner, state, "installing")


def _write_file(runner: Runner, want: Want, seen: Seen) -> None:
    runner.make_folder(want.env_file.rsplit("/", 1)[0])
    runner.write_atomic(want.env_file, _runtime_env.text(runner, seen.cann or {}, want.prefix, want.id))


def _wheels(work: Work, want: Want, seen: Seen) -> Dict[str, str]:
    recipe = _build.Recipe(
        sources=want.sources,
        python=want.prefix + "/bin/python",
        environment=_runtime_env.variables(work.runner, seen.cann or {}, want.prefix),
        cann=seen.cann or {},
        soc_version=want.soc_version,
        custom_kernels=want.custom_kernels,
        max_jobs=want.max_jobs,
        build_env=want.build_env,
        requirements=want.requirements,
        pins=want.pins,
        pip=want.pip,
        find_links=want.find_links,
    )
    needed = _build.inputs(work.runner, recipe, seen.packages, seen.python or "")
    wheels = _build.built(work.runner, want.wheels, needed)
    return wheels or _build.build(work, recipe, want.wheels, needed)


def _install(work: Work, want: Want, wheels: Mapping[str, str]) -> None:
    """Dependencies first, with the row's pins above what the wheels ask for; then both wheels; Triton last."""
    python, where = want.prefix + "/bin/python", _pip.index_args(want.pip, want.find_links)
    limits = work.write("constraints.txt", _pip.constraint_lines(want.pip, want.pins))

    def pip(argv: Sequence[str], doing: str) -> None:
        work.call(argv, doing, env=_pip.environment(), advice=_advice.for_pip)

    if want.dependencies == "resolve":
        asked = []  # type: List[str]
        for name in _build.ORDER:
            asked += _build.metadata(work.runner, wheels[name]).get("requires", [])
        words = _pip.merged(asked, want.pins, (*_build.ORDER, *TRITON))
        if words:
            pip(_pip.install(python, words, where, limits), "Installing what vllm and vllm-ascend need")
    both = [wheels[name] for name in _build.ORDER]
    pip(
        _pip.install(python, ["--no-deps", "--force-reinstall", *both], ["--no-index"]),
        "Installing vllm and vllm-ascend",
    )
    there = [name for name in TRITON if name in _envs.gather(work.runner, want.prefix)["packages"]]
    if there:
        pip(_pip.uninstall(python, there), "Removing %s" % " and ".join(there))
    if want.triton_ascend:
        words = ["triton-ascend==%s" % want.triton_ascend]
        if want.dependencies != "resolve":
            words.insert(0, "--no-deps")
        pip(_pip.install(python, words, where, limits), "Installing triton-ascend %s" % want.triton_ascend)


def _described(work: Work, want: Want, seen: Seen) -> Dict[str, Any]:
    """Prove the runtime with its environment, and tell what it is."""
    runner = work.runner
    environment = _runtime_env.variables(runner, seen.cann or {}, want.prefix)
    expected = _proof.Expected(want.version("vllm"), want.cxx_abi, want.family)
    built_for = _proof.prove(work, want.prefix, environment, expected)
    found = _envs.gather(runner, want.prefix)
    versions = {word: found["packages"].get(name) for word, name in _TOLD.items()}
    match = re.search(r"cann-([^/]+)\.env$", want.cann_env_file)
    versions.update({"python": found["python"], "cann": match.group(1) if match else None})
    return {
        "id": want.id,
        "kind": "native",
        "release": want.release,
        "family": want.family,
        "exec": [want.prefix + "/bin/vllm"],
        "env_file": want.env_file,
        "prefix": want.prefix,
        "versions": versions,
        "device_type": built_for,
    }
