"""Steps of each layer: nothing on a host that is as wanted, the difference on any other."""

from __future__ import annotations

import copy
from typing import Any

import judged_host as host
import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import plan
from hypothesis import given
from hypothesis import strategies as st

ROW = host.row()
RID = ROW["runtime_id"]
PREFIX = "/opt/ascend-fleet/envs/" + RID


def steps(layer: str, facts: dict[str, Any], row: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    return plan.plan(layer, facts, row or ROW, host.settings(**more))


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [step.get("package") or step["kind"] for step in found]


@pytest.fixture
def facts() -> dict[str, Any]:
    return copy.deepcopy(host.facts())


def test_a_host_that_is_as_wanted_needs_nothing(facts: dict[str, Any]) -> None:
    assert [steps(layer, facts) for layer in ("cann", "conda_env", "vllm_ascend")] == [[], [], []]


def test_a_bare_host_needs_everything_in_order() -> None:
    assert kinds(steps("cann", {})) == ["toolkit", "ops", "nnal", "env"]
    assert kinds(steps("conda_env", {})) == ["base", "env"]
    assert kinds(steps("vllm_ascend", {})) == ["runtime"]
    for layer in plan.LAYERS:
        for step in steps(layer, {}):
            assert step["layer"] == layer and step["do"]


def test_the_shapes_of_the_contract() -> None:
    toolkit, ops, _nnal, env = steps("cann", {})
    assert toolkit["artifact"] == {"name": "cann-toolkit", "version": "9.1.0", "platform": {"arch": "x86_64"}}
    assert ops["artifact"]["platform"] == {"arch": "x86_64", "family": "910b"} and ops["family"] == "910b"
    assert (toolkit["have"], toolkit["family"], env["version"]) == (None, None, "9.1.0")
    base, env = steps("conda_env", {})
    assert base["artifact"] == {"name": "conda-installer", "version": None, "platform": {"arch": "x86_64"}}
    assert (env["prefix"], env["python"]) == (PREFIX, "3.12")
    assert {"name": "torch-npu", "version": "2.10.0.post4"} in env["packages"]
    assert {"name": "torch", "version": "2.10.0+cpu"} in env["packages"]
    (runtime,) = steps("vllm_ascend", {})
    assert (runtime["id"], runtime["prefix"]) == (RID, PREFIX)
    assert [(one["name"], one["version"], one["artifact"]["name"]) for one in runtime["sources"]] == [
        ("vllm", "0.23.0", "vllm-source"),
        ("vllm-ascend", "0.23.0", "vllm-ascend-source"),
    ]


def test_a_foreign_tree_that_fits_is_used_as_it_is(facts: dict[str, Any]) -> None:
    facts["ascend_stack"]["cann"].pop("toolkit-9.1.0")
    facts["ascend_cann"]["trees"][0]["origin"] = "foreign"
    assert steps("cann", facts) == []
    facts["ascend_stack"]["cann"].pop("env-9.1.0")
    assert kinds(steps("cann", facts)) == ["env"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"version": "9.0.0", "toolkit": "9.0.0"}, ["toolkit", "ops", "nnal"]),
        ({"complete": False, "toolkit": None}, ["toolkit", "ops"]),
        ({"ops": {"310p": "9.1.0"}}, ["ops"]),
        ({"ops": {"910b": "9.0.0"}}, ["ops"]),
        ({"ops": {}}, ["ops"]),
        ({"ops": {"unknown": "9.1.0"}}, []),
        ({"ops": {"910B": "9.1.0"}}, []),
    ],
)
def test_what_does_not_fit_is_installed_anew(facts: dict[str, Any], change: dict[str, Any], wanted: list[str]) -> None:
    facts["ascend_cann"]["trees"][0].update(change)
    if "version" in change:
        facts["ascend_cann"]["nnal"] = [{"version": "9.0.0"}]
    found = kinds(steps("cann", facts))
    assert found == ([*wanted, "env"] if wanted else [])


def test_the_version_that_is_there_is_named(facts: dict[str, Any]) -> None:
    old = dict(facts["ascend_cann"]["trees"][0], version="9.0.0", toolkit="9.0.0")
    facts["ascend_cann"]["trees"] = [dict(old, version="8.5.0"), old]
    assert steps("cann", facts)[0]["have"] == "9.0.0"


@pytest.mark.parametrize(
    ("key", "wanted"),
    [("toolkit-9.1.0", ["toolkit", "ops", "env"]), ("ops-910b-9.1.0", ["ops", "env"]), ("nnal-9.1.0", ["nnal", "env"])],
)
def test_what_we_began_and_did_not_end_is_done_again(facts: dict[str, Any], key: str, wanted: list[str]) -> None:
    facts["ascend_stack"]["cann"][key] = host.state("cann", key, status="installing")
    assert kinds(steps("cann", facts)) == wanted


def test_an_environment_file_that_was_changed_is_written_again(facts: dict[str, Any]) -> None:
    facts["ascend_stack"]["cann"]["env-9.1.0"]["drift"] = [{"path": "/etc/ascend-fleet/x.env", "problem": "changed"}]
    assert kinds(steps("cann", facts)) == ["env"]


def test_spelling_of_a_cann_version_does_not_matter(facts: dict[str, Any]) -> None:
    row = host.row("0.11.0")
    tree = {"version": "8.3.rc2", "toolkit": "8.3.rc2", "ops": {"unknown": "8.3.rc2"}, "complete": True, "path": "/x"}
    facts["ascend_cann"] = {"trees": [tree], "nnal": [{"version": "8.3.RC2"}]}
    facts["ascend_stack"]["cann"]["env-8.3.RC2"] = host.state("cann", "env")
    assert steps("cann", facts, row) == []


def test_of_two_whole_trees_the_one_below_the_install_path_is_used_then_ours() -> None:
    def tree(path: str, origin: str) -> dict[str, Any]:
        return {"version": "9.1.0", "toolkit": "9.1.0", "complete": True, "path": path, "origin": origin}

    trees = [tree("/a/cann-9.1.0", "ours"), tree("/b/cann-9.1.0", "foreign"), tree("/c/cann-9.1.0", "ours")]
    assert plan.best_tree(trees, "9.1.0", "/b/")["path"] == "/b/cann-9.1.0"
    assert plan.best_tree(trees[1:], "9.1.0", "/x")["path"] == "/c/cann-9.1.0"
    assert plan.best_tree(trees, "9.0.0", "/b") is None


def test_a_foreign_conda_that_is_there_is_no_step(facts: dict[str, Any]) -> None:
    facts["ascend_stack"]["conda_env"].pop("base")
    assert steps("conda_env", facts) == []
    facts["ascend_envs"]["/opt/ascend-fleet/conda"]["packages"] = {}
    assert kinds(steps("conda_env", facts)) == ["base", "env"]


@pytest.mark.parametrize("in_use", [True, False])
def test_an_env_with_other_packages_is_made_again_unless_it_is_in_use(facts: dict[str, Any], in_use: bool) -> None:
    facts["ascend_envs"][PREFIX]["packages"]["torch"] = "2.9.0+cpu"
    if not in_use:
        facts["ascend_stack"]["vllm_service"] = {}
    assert kinds(steps("conda_env", facts)) == ([] if in_use else ["env"])


def test_a_local_part_of_a_version_is_no_difference(facts: dict[str, Any]) -> None:
    facts["ascend_envs"][PREFIX]["packages"]["torch"] = "2.10.0"
    assert steps("conda_env", facts) == []


def test_an_env_that_is_gone_is_made_again(facts: dict[str, Any]) -> None:
    facts["ascend_envs"][PREFIX] = {"exists": False, "python": None, "packages": {}}
    assert kinds(steps("conda_env", facts)) == ["env"]


@pytest.mark.parametrize("in_use", [True, False])
def test_a_runtime_that_was_changed_is_built_again_unless_it_is_in_use(facts: dict[str, Any], in_use: bool) -> None:
    facts["ascend_stack"]["vllm_ascend"][RID]["drift"] = [{"path": "/x", "problem": "changed"}]
    if not in_use:
        facts["ascend_stack"]["vllm_service"] = {"chat": None}
    assert kinds(steps("vllm_ascend", facts)) == ([] if in_use else ["runtime"])


def test_an_env_of_ones_own_is_where_the_runtime_goes() -> None:
    assert steps("vllm_ascend", {}, vllm_ascend_env="/opt/mine")[0]["prefix"] == "/opt/mine"


def test_each_instance_is_a_step_on_every_run(facts: dict[str, Any]) -> None:
    instances = [host.instance(), {"name": "old", "state": "absent"}, "junk"]
    found = steps("vllm_service", facts, vllm_service_instances=instances)
    assert [(one["name"], one["state"], one["kind"]) for one in found] == [
        ("chat", "started", "instance"),
        ("old", "absent", "instance"),
    ]


def test_a_host_whose_family_is_not_known_gets_no_operators() -> None:
    assert kinds(steps("cann", {}, host.row(family=None))) == ["toolkit", "nnal", "env"]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["trees", "nnal", "version", "ops", "cann", "conda_env", RID, "have", "status", PREFIX]),
        inner,
        max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@given(junk, junk, junk)
def test_facts_of_any_shape_make_steps_and_no_traceback(cann: Any, stack: Any, envs: Any) -> None:
    facts = {"ascend_cann": cann, "ascend_stack": stack, "ascend_envs": envs}
    for layer in plan.LAYERS:
        assert isinstance(steps(layer, facts), list)


def test_an_environment_file_for_another_abi_is_written_anew():
    facts = host.facts()
    state = facts["ascend_stack"]["cann"]["env-%s" % ROW["cann"]]
    state["have"]["cxx_abi"] = 1 - ROW["cxx_abi"]
    assert kinds(steps("cann", facts)) == ["env"]
    state["have"]["cxx_abi"] = ROW["cxx_abi"]
    assert steps("cann", facts) == []
