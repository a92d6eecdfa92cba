# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What a layer has to do to get from the facts to the row: a list of steps, empty when it is there already. Pure.

The shapes of the steps are fixed in docs/contracts.md ("Plan"). What somebody else installed and what fits is used as
it is: it makes no step. What is unknown (a fact that was not asked) counts as absent.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ansible_collections.ascend.fleet.plugins.module_utils import _version

LAYERS = ("cann", "conda_env", "vllm_ascend", "vllm_service")
# Distribution name -> word of the row: what the env must hold before anything is built in it.
PINS = {"torch": "torch", "torch-npu": "torch_npu", "torchvision": "torchvision", "torchaudio": "torchaudio"}

Step = Dict[str, Any]


def plan(layer: str, facts: Dict[str, Any], row: Dict[str, Any], settings: Dict[str, Any]) -> List[Step]:
    """Steps of a layer in their order.

    :param settings: the role variables by name; of other layers too (the env's root).
    :raises KeyError: a layer that has no plan.
    """
    return {"cann": _cann, "conda_env": _conda_env, "vllm_ascend": _vllm_ascend, "vllm_service": _vllm_service}[layer](
        _dict(facts), row, settings
    )


def _dict(value: Any) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> List[Dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, (list, tuple)) else []


def _state(facts: Dict[str, Any], layer: str, key: str) -> Optional[Dict[str, Any]]:
    state = _dict(_dict(facts.get("ascend_stack")).get(layer)).get(key)
    return state if isinstance(state, dict) else None


def _settled(facts: Dict[str, Any], layer: str, key: str) -> bool:
    """A complete state of ours from which nothing has moved away."""
    state = _state(facts, layer, key)
    return bool(state) and state.get("status") == "complete" and not state.get("drift")


def users_of(stack: Dict[str, Any], rid: str) -> List[str]:
    """Names of the instances whose state says that they run on a runtime."""
    states = _dict(_dict(stack).get("vllm_service"))
    return sorted(name for name, state in states.items() if _dict(_dict(state).get("have")).get("runtime") == rid)


# cann ---------------------------------------------------------------------------------------------------------------


def same_cann(have: Any, want: Any) -> bool:
    """One CANN version in two spellings: letters count in any case (8.3.RC2 and 8.3.rc2)."""
    return isinstance(have, str) and have.lower() == str(want).lower()


def _cann(facts: Dict[str, Any], row: Dict[str, Any], settings: Dict[str, Any]) -> List[Step]:
    cann = _dict(facts.get("ascend_cann"))
    trees, nnal = _dicts(cann.get("trees")), _dicts(cann.get("nnal"))
    steps = []
    tree = best_tree(trees, row["cann"], str(settings.get("cann_install_path") or ""))
    if tree is None or _begun(facts, "toolkit-%s" % row["cann"]):
        steps.append(_package(row, "toolkit", row["cann"], _newest([one.get("version") for one in trees])))
    ops = ops_version(tree, row["family"]) if tree else None
    unfinished = _begun(facts, "ops-%s-%s" % (row["family"], row["ops"]))
    # The installer of a toolkit takes the operators away, so they follow it whatever was there.
    if row["family"] and (steps or unfinished or not same_cann(ops, row["ops"])):
        steps.append(_package(row, "ops", row["ops"], ops))
    there = any(same_cann(one.get("version"), row["nnal"]) for one in nnal)
    if not there or _begun(facts, "nnal-%s" % row["nnal"]):
        steps.append(_package(row, "nnal", row["nnal"], _newest([one.get("version") for one in nnal])))
    if steps or not _settled(facts, "cann", "env-%s" % row["cann"]) or not _env_fits(facts, row):
        do = "write the environment file of CANN %s" % row["cann"]
        steps.append({"layer": "cann", "kind": "env", "version": row["cann"], "do": do})
    return steps


def _env_fits(facts: Dict[str, Any], row: Dict[str, Any]) -> bool:
    """Whether the environment file was made for the C++ ABI of the row's torch."""
    have = _dict(_dict(_state(facts, "cann", "env-%s" % row["cann"])).get("have"))
    return have.get("cxx_abi", row["cxx_abi"]) == row["cxx_abi"]


def _begun(facts: Dict[str, Any], key: str) -> bool:
    """A state of ours that never became complete: files that look whole are not trusted."""
    return _dict(_state(facts, "cann", key)).get("status") == "installing"


def best_tree(trees: List[Dict[str, Any]], version: str, root: str) -> Optional[Dict[str, Any]]:
    """The whole tree of a version that is to be used: below the install path first, then ours, then by path."""
    whole = [
        one
        for one in trees
        if same_cann(one.get("version"), version) and one.get("toolkit") and one.get("complete") is not False
    ]
    below = root.rstrip("/") + "/"
    whole.sort(
        key=lambda one: (not str(one.get("path")).startswith(below), one.get("origin") != "ours", str(one.get("path")))
    )
    return whole[0] if whole else None


def ops_version(tree: Dict[str, Any], family: Optional[str]) -> Optional[str]:
    """Version of the operators of a family in a tree, None when they are not there.

    The legacy layout may not tell whose operators it holds ("unknown"); then the version alone counts.
    """
    ops = {str(name).lower(): value for name, value in _dict(tree.get("ops")).items()}
    return ops.get(str(family).lower()) or ops.get("unknown")


def _package(row: Dict[str, Any], package: str, version: str, have: Optional[str]) -> Step:
    platform = {"arch": row["arch"]}
    if package == "ops":
        platform["family"] = row["family"]
    of = " for %s" % row["family"] if package == "ops" else ""
    now = ", %s is there" % have if have else ""
    return {
        "layer": "cann",
        "kind": "package",
        "package": package,
        "version": version,
        "family": row["family"] if package == "ops" else None,
        "artifact": {"name": "cann-%s" % package, "version": version, "platform": platform},
        "have": have,
        "do": "install CANN %s %s%s%s" % (package, version, of, now),
    }


def _newest(versions: List[Any]) -> Optional[str]:
    known = [one for one in versions if isinstance(one, str) and _version.key(one) is not None]
    return max(known, key=_version.key) if known else None


# conda_env ----------------------------------------------------------------------------------------------------------


def env_prefix(row: Dict[str, Any], settings: Dict[str, Any]) -> str:
    return "%s/%s" % (str(settings.get("conda_env_root") or "").rstrip("/"), row["runtime_id"])


def holds_conda(env: Dict[str, Any]) -> bool:
    return "conda" in _dict(env.get("packages"))


def pins(row: Dict[str, Any]) -> List[Dict[str, str]]:
    """[{name, version}] of what the env gets from the row."""
    return [{"name": name, "version": row[word]} for name, word in PINS.items() if row.get(word)]


def package_differences(row: Dict[str, Any], env: Dict[str, Any]) -> List[str]:
    """ "torch 2.9.0 instead of 2.10.0" for each pin that an env does not hold; empty for one not looked at."""
    if not env.get("exists"):
        return []
    have = _dict(env.get("packages"))
    wrong = []
    for pin in pins(row):
        found = have.get(pin["name"])
        if found is None:
            wrong.append("%s is missing" % pin["name"])
        elif found != pin["version"] and _version.same(found, pin["version"]) is not True:
            wrong.append("%s %s instead of %s" % (pin["name"], found, pin["version"]))
    return wrong


def _conda_env(facts: Dict[str, Any], row: Dict[str, Any], settings: Dict[str, Any]) -> List[Step]:
    envs = _dict(facts.get("ascend_envs"))
    base = str(settings.get("conda_env_base") or "")
    steps = []
    if not holds_conda(_dict(envs.get(base))) and not _settled(facts, "conda_env", "base"):
        steps.append(
            {
                "layer": "conda_env",
                "kind": "base",
                "do": "install conda at %s" % base,
                "artifact": {"name": "conda-installer", "version": None, "platform": {"arch": row["arch"]}},
            }
        )
    rid, prefix = row["runtime_id"], env_prefix(row, settings)
    env = _dict(envs.get(prefix))
    if steps or not _settled(facts, "conda_env", rid) or not env.get("exists") or _repairable(facts, row, env):
        steps.append(
            {
                "layer": "conda_env",
                "kind": "env",
                "prefix": prefix,
                "python": row["python_default"],
                "packages": pins(row),
                "do": "make the env %s with Python %s, %s"
                % (prefix, row["python_default"], ", ".join("%(name)s %(version)s" % one for one in pins(row))),
            }
        )
    return steps


def _repairable(facts: Dict[str, Any], row: Dict[str, Any], env: Dict[str, Any]) -> bool:
    """An env of ours with other packages that no instance uses; of one in use the verdict speaks, it stays."""
    return bool(package_differences(row, env)) and not users_of(_dict(facts.get("ascend_stack")), row["runtime_id"])


# vllm_ascend --------------------------------------------------------------------------------------------------------


def _vllm_ascend(facts: Dict[str, Any], row: Dict[str, Any], settings: Dict[str, Any]) -> List[Step]:
    rid = row["runtime_id"]
    state = _dict(_state(facts, "vllm_ascend", rid))
    in_use = bool(users_of(_dict(facts.get("ascend_stack")), rid))
    if state.get("status") == "complete" and (in_use or not state.get("drift")):
        return []
    sources = [
        {
            "name": name,
            "version": row[word],
            "artifact": {"name": name + "-source", "version": row[word], "platform": {}},
        }
        for name, word in (("vllm", "vllm"), ("vllm-ascend", "vllm_ascend"))
    ]
    return [
        {
            "layer": "vllm_ascend",
            "kind": "runtime",
            "id": rid,
            "sources": sources,
            "prefix": str(settings.get("vllm_ascend_env") or env_prefix(row, settings)),
            "do": "build vLLM %s and vllm-ascend %s as runtime %s" % (row["vllm"], row["vllm_ascend"], rid),
        }
    ]


# vllm_service -------------------------------------------------------------------------------------------------------


def _vllm_service(facts: Dict[str, Any], row: Dict[str, Any], settings: Dict[str, Any]) -> List[Step]:
    steps = []
    for instance in _dicts(settings.get("vllm_service_instances")):
        name, state = str(instance.get("name")), str(instance.get("state") or "started")
        steps.append(
            {
                "layer": "vllm_service",
                "kind": "instance",
                "name": name,
                "state": state,
                "do": "see that %s is %s" % (name, state),
            }
        )
    return steps
