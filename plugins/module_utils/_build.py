# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Building the wheels of vLLM and vllm-ascend, once for each set of inputs.

The record beside the wheels (build.json) says what they were built from; wheels with the same inputs are used again.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from email.parser import HeaderParser
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence

from . import _advice, _pip, _sources
from ._envs import normalize
from ._runner import Runner
from ._state import sha256_of
from ._version import compare
from ._work import Failed, Work, remove_tree

ORDER = ("vllm", "vllm-ascend")  # the second one's build looks at the first
RECORD = "build.json"


class Recipe(NamedTuple):
    """What the wheels depend on: sources {name, version, src, sha256}, the runtime's environment, CANN's part of it."""

    sources: Sequence[Mapping[str, Any]]
    python: str
    environment: Mapping[str, str]
    cann: Mapping[str, str]
    soc_version: str
    custom_kernels: bool
    max_jobs: int
    build_env: Mapping[str, str]
    requirements: Sequence[str]
    pins: Sequence[str]
    pip: Mapping[str, Any]
    find_links: str


def inputs(runner: Runner, recipe: Recipe, packages: Mapping[str, str], python_version: str) -> Dict[str, Any]:
    """All that changes the result of a build, as JSON-able values. Archives are hashed here."""
    return {
        "sources": {source["name"]: _sources.identity(runner, source["src"]) for source in recipe.sources},
        "versions": {source["name"]: source["version"] for source in recipe.sources},
        "python": ".".join(python_version.split(".")[:2]),
        "torch": packages.get("torch"),
        "torch_npu": packages.get("torch-npu"),
        "cann": hashlib.sha256(json.dumps(dict(recipe.cann), sort_keys=True).encode()).hexdigest(),
        "soc_version": recipe.soc_version,
        "custom_kernels": recipe.custom_kernels,
        "build_env": dict(recipe.build_env),
    }


def built(runner: Runner, folder: str, wanted: Mapping[str, Any]) -> Optional[Dict[str, str]]:
    """Wheels by name when the record in folder tells of the same inputs and every wheel is unchanged, else None."""
    try:
        record = json.loads(runner.read("%s/%s" % (folder, RECORD)) or "")
        if record["inputs"] != wanted:
            return None
        wheels = {}
        for name in ORDER:
            path = "%s/%s" % (folder, record["wheels"][name]["file"])
            if sha256_of(runner, path) != record["wheels"][name]["sha256"]:
                return None
            wheels[name] = path
        return wheels
    except (ValueError, KeyError, TypeError):
        return None


def environment(recipe: Recipe, source: Mapping[str, Any]) -> Dict[str, str]:
    """Variables of one build: those of the runtime, and what both setup scripts ask for; the user's win."""
    variables = dict(recipe.environment)
    variables.update(
        {
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # setup scripts import torch, on build hosts without a driver too
            "SETUPTOOLS_SCM_PRETEND_VERSION": source["version"],  # the tree was checked to be this version
        }
    )
    if source["name"] == "vllm":
        variables.update({"VLLM_TARGET_DEVICE": "empty", "VLLM_VERSION_OVERRIDE": source["version"]})
    else:
        variables["COMPILE_CUSTOM_KERNELS"] = "1" if recipe.custom_kernels else "0"
        if recipe.soc_version:
            variables["SOC_VERSION"] = recipe.soc_version
    if recipe.max_jobs:
        variables["MAX_JOBS"] = str(recipe.max_jobs)
    variables.update(recipe.build_env)
    return variables


def build(work: Work, recipe: Recipe, folder: str, wanted: Mapping[str, Any]) -> Dict[str, str]:
    """Build both wheels into folder; returns their paths by name. The record is written last."""
    runner = work.runner
    remove_tree(runner, folder)
    runner.make_folder(folder)
    record = {"inputs": dict(wanted), "wheels": {}}  # type: Dict[str, Any]
    by_name = {source["name"]: dict(source) for source in recipe.sources}
    trees = {name: _sources.unpack(work, by_name[name]) for name in ORDER}
    _install_requirements(work, recipe, trees)
    wheels = {}
    for name in ORDER:
        path = _build_one(work, recipe, by_name[name], trees[name])
        final = "%s/%s" % (folder, path.rsplit("/", 1)[-1])
        work.call(["install", "-m", "0644", path, final], "Keeping %s" % path)
        wheels[name] = final
        record["wheels"][name] = {"file": final.rsplit("/", 1)[-1], "sha256": sha256_of(runner, final)}
        if name == "vllm":  # vllm-ascend's build may look at it; its dependencies come later, with those of both
            work.call(
                _pip.install(recipe.python, ["--no-deps", "--force-reinstall", final], ["--no-index"]),
                "Installing the new vllm for the build of vllm-ascend",
                env=_pip.environment(),
                advice=_advice.for_pip,
            )
    runner.write_atomic("%s/%s" % (folder, RECORD), json.dumps(record, indent=1, sort_keys=True) + "\n")
    return wheels


def _install_requirements(work: Work, recipe: Recipe, trees: Mapping[str, str]) -> None:
    words = list(recipe.requirements)
    if not words:
        for name in ORDER:
            words += _sources.build_requirements(work, recipe.python, trees[name])
        words = _pip.merged(words, recipe.pins, ("vllm", "vllm-ascend", "triton", "triton-ascend"))
    limits = work.write("build-constraints.txt", _pip.constraint_lines(recipe.pip, recipe.pins))
    work.call(
        _pip.install(recipe.python, words, _pip.index_args(recipe.pip, recipe.find_links), limits),
        "Installing the build requirements",
        env=_pip.environment(),
        advice=_advice.for_pip,
    )


def _build_one(work: Work, recipe: Recipe, source: Mapping[str, Any], tree: str) -> str:
    out = "%s/wheel-%s" % (work.folder, source["name"])
    work.runner.make_folder(out, 0o700)
    variables = dict(_pip.environment())
    variables.update(environment(recipe, source))
    work.call(
        _pip.wheel(recipe.python, tree, out),
        "Building %s %s" % (source["name"], source["version"]),
        env=variables,
        advice=_advice.for_build,
    )
    wheels = [name for name in work.runner.names(out) if name.endswith(".whl")]
    found = metadata(work.runner, "%s/%s" % (out, wheels[0])) if len(wheels) == 1 else {}
    version = str(found.get("version", "no version")).partition("+")[0]
    if found.get("name") != source["name"] or compare(version, source["version"]) != 0:
        raise Failed(
            "Building %s %s left %s. Take the source archive of exactly that release."
            % (source["name"], source["version"], ", ".join(wheels) or "no wheel")
        )
    return "%s/%s" % (out, wheels[0])


def metadata(runner: Runner, path: str) -> Dict[str, Any]:
    """{name, version, requires: [Requires-Dist without those of extras]} of a wheel; {} when it is none."""
    try:
        with zipfile.ZipFile(runner.real(path)) as archive:
            paths = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            path_of_metadata = min(paths, key=lambda name: name.count("/"))
            message = HeaderParser().parsestr(archive.read(path_of_metadata).decode("utf-8", "replace"))
    except (OSError, zipfile.BadZipFile, ValueError, KeyError):
        return {}
    return {
        "name": normalize(str(message.get("Name", ""))),
        "version": message.get("Version"),
        "requires": _pip.unconditional(str(line) for line in message.get_all("Requires-Dist") or []),
    }
