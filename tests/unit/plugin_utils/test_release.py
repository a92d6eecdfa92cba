"""One row for a host, from the table of releases."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _version
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, release
from ansible_collections.ascend.fleet.plugins.plugin_utils.release import ReleaseError, resolve
from hypothesis import given
from hypothesis import strategies as st

TABLE = data.load("releases")
CHIPS = data.load("chips")
FAMILIES = [chip["family"] for chip in CHIPS["families"]]


def test_no_name_is_the_default_of_the_data() -> None:
    assert resolve(TABLE)["release"] == TABLE["default"]


@pytest.mark.parametrize("name", sorted(TABLE["releases"]))
@pytest.mark.parametrize("family", [*FAMILIES, None])
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_every_row_can_be_resolved_everywhere(name: str, family: str | None, arch: str) -> None:
    row = resolve(TABLE, name, family, arch, chips=CHIPS)
    assert row["source"] and row["released"]
    assert _version.in_ranges(row["python_default"], [row["python"]]) is True
    for word in ("cann", "ops", "nnal", "torch", "torch_npu", "vllm", "vllm_ascend"):
        assert _version.key(row[word]) is not None, word
    for low, high in row["hdk"] or []:
        assert _version.key(low) and (high is None or _version.compare(low, high) == -1)
    assert row["torch"].endswith("+cpu") == (arch == "x86_64")
    assert _version.same(row["torch"], row["torch_npu"].split(".post")[0])
    assert (row["kind"] == "unsupported") == (row["supported"] is False)
    if family == "310p" and row["supported"]:
        assert row["triton_ascend"] is None
    if row["supported"]:
        assert row["soc_version"]


def test_the_option_lists_that_rows_name_are_there() -> None:
    for name, row in TABLE["releases"].items():
        if row["options"]:
            assert data.options(row["options"]), name


@pytest.mark.parametrize(
    ("family", "arch", "cann"),
    [
        ("910b", "x86_64", "9.0.0"),
        ("910b", "aarch64", "8.5.1"),
        ("310p", "aarch64", "9.0.0"),
        ("a3", "aarch64", "8.5.1"),
    ],
)
def test_an_override_of_a_row_holds_where_its_condition_does(family: str, arch: str, cann: str) -> None:
    row = resolve(TABLE, "0.18.0", family, arch)
    assert (row["cann"], row["ops"], row["nnal"]) == (cann, cann, cann)
    assert bool(row["hdk"]) == (cann == "9.0.0")


def test_drivers_of_the_950_generation_have_no_range() -> None:
    assert resolve(TABLE, "0.23.0", "950", "aarch64")["hdk"] is None


def test_the_users_overrides_win_and_the_role_variables_after_them() -> None:
    own = [{"when": {"arch": ["x86_64"]}, "set": {"cann": "9.1.1"}, "source": "us"}, {"set": {"torch": "2.10.1"}}]
    row = resolve(TABLE, "", "910b", "x86_64", overrides=own, extra=[("cann_ops_version", {"ops": "9.1.2"})])
    assert (row["cann"], row["ops"], row["nnal"], row["torch"]) == ("9.1.1", "9.1.2", "9.1.1", "2.10.1")
    assert row["applied"][-3:] == ["us", "ascend_overrides", "cann_ops_version"]
    assert resolve(TABLE, "", "910b", "aarch64", overrides=own)["cann"] == "9.1.0"
    assert resolve(TABLE, overrides={"python_default": "3.11"})["python_default"] == "3.11"


def test_an_empty_role_variable_changes_nothing() -> None:
    assert resolve(TABLE, extra=[("cann_version", {"cann": ""})]) == resolve(TABLE)


def test_the_runtime_id_is_made_of_the_wanted_set_alone() -> None:
    row = resolve(TABLE, "0.23.0", "910b", "aarch64")
    assert row["runtime_id"] == resolve(copy.deepcopy(TABLE), "0.23.0", "910b", "aarch64")["runtime_id"]
    changed = copy.deepcopy(TABLE)
    changed["releases"]["0.23.0"].update(notes="other", source="other", hdk=None)
    assert resolve(changed, "0.23.0", "910b", "aarch64")["runtime_id"] == row["runtime_id"]
    ids = {row["runtime_id"]}
    for word in ("cann", "torch", "torch_npu", "python_default", "triton_ascend", "transformers", "vllm_ascend"):
        ids.add(resolve(TABLE, "0.23.0", "910b", "aarch64", overrides={word: "9.9.9"})["runtime_id"])
    ids.add(resolve(TABLE, "0.23.0", "a3", "aarch64")["runtime_id"])
    ids.add(resolve(TABLE, "0.23.0", "910b", "x86_64")["runtime_id"])
    assert len(ids) == 10
    assert row["runtime_id"].rpartition("-")[0] == "0.23.0"


def test_order_is_that_of_publication() -> None:
    rows = {"0.24.0rc1": {"released": "2026-08-04"}, "0.23.0": {"released": "2026-08-17"}, "0.9": None}
    assert release.ordered(rows) == ["0.9", "0.24.0rc1", "0.23.0"]


@pytest.mark.parametrize(
    ("name", "near"), [("0.23", "0.23.0"), ("v0.23.0", "0.23.0"), ("0.180", "0.18.0"), ("0.23.0.post2", "0.23.0.post1")]
)
def test_an_unknown_release_is_told_with_what_is_near(name: str, near: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        resolve(TABLE, name)
    assert caught.value.problem == "unknown" and near in caught.value.near
    assert "Did you mean" in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"canm": "9.1.0"}, "did you mean cann?"),
        ({"cann": 9.1}, "in quotes"),
        ({"cxx_abi": 2}, "0 or 1"),
        ({"hdk": ["25.0", "26.0"]}, "a list of"),
        ({"python": "3.11"}, "[low, high]"),
        ({"torch": None}, "a version"),
        ([{"when": {"os": "debian"}, "set": {"cann": "9"}}], "family and arch"),
        (["cann"], "has no dictionary"),
        ([{"sets": {}}], "has no dictionary"),
        ("cann=9", "is a dictionary"),
    ],
)
def test_a_wrong_override_is_told_in_words(overrides: Any, says: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        resolve(TABLE, overrides=overrides)
    assert caught.value.problem == "override"
    assert says in str(caught.value)


def test_a_row_that_lacks_something_is_told() -> None:
    with pytest.raises(ReleaseError, match=r"lacks .*torch_npu.*: add it"):
        resolve({"releases": {"1": {"kind": "final", "vllm": "1", "cann": "9"}}}, "1")


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["cann", "set", "when", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(junk)
def test_overrides_of_any_shape_give_a_row_or_words(overrides: Any) -> None:
    try:
        row = resolve(TABLE, overrides=overrides)
    except ReleaseError as exc:
        assert str(exc)
    else:
        assert row["release"] == TABLE["default"]
