"""Names that are almost ours, and values that come as text."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import variables
from hypothesis import given
from hypothesis import strategies as st

NAMES = (
    "cann_version", "cann_ops_version", "cann_accept_eula", "cann_install_path", "vllm_service_instances",
    "vllm_service_settings", "conda_env_base", "conda_env_root", "vllm_ascend_env", "npu_driver_devices",
)  # fmt: skip
KNOWN = {
    name: {
        "role": next(
            role for role in ("cann", "vllm_service", "conda_env", "vllm_ascend", "npu_driver") if name.startswith(role)
        )
    }
    for name in NAMES
}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("cann_verson", "cann_version"),
        ("cann_version_", "cann_version"),
        ("cann_accept_elua", "cann_accept_eula"),
        ("cann_accept_licence_eula", ""),
        ("ascend_releases", "ascend_release"),
        ("ascend_relase", "ascend_release"),
        ("ascned_release", "ascend_release"),
        ("ascend_artefacts", "ascend_artifacts"),
        ("vllm_service_instance", "vllm_service_instances"),
        ("vllm_servce_instances", "vllm_service_instances"),
        ("vllm_services_instances", "vllm_service_instances"),
        ("conda_env_bse", "conda_env_base"),
    ],
)
def test_near_names_are_told(name: str, meant: str) -> None:
    assert variables.misspelt([name], KNOWN) == ([{"name": name, "meant": meant}] if meant else [])


@pytest.mark.parametrize(
    "name",
    [
        *NAMES, *variables.SHARED, *variables.FACTS, *variables.INTERNAL, "ascend_site", "ascend_rack", "cann_mirror",
        "cann_owner", "vllm_service_team", "conda_env", "conda_root", "release", "ansible_user", "_cann_verson",
        "__cann_verson", "group_names", "inventory_hostname", "my_cann_version_of_last_year", "ascend_x",
    ],
)  # fmt: skip
def test_unlike_names_and_ours_pass(name: str) -> None:
    assert variables.misspelt([name], KNOWN) == []


def test_each_is_told_once_in_order() -> None:
    found = variables.misspelt(["conda_env_rot", "cann_verson", "cann_verson"], KNOWN)
    assert [one["name"] for one in found] == ["cann_verson", "conda_env_rot"]


def slow(one: str, other: str) -> int:
    """Optimal string alignment by its definition."""
    if not one or not other:
        return len(one) + len(other)
    best = min(
        slow(one[:-1], other) + 1, slow(one, other[:-1]) + 1, slow(one[:-1], other[:-1]) + (one[-1] != other[-1])
    )
    if len(one) > 1 and len(other) > 1 and one[-1] == other[-2] and one[-2] == other[-1]:
        best = min(best, slow(one[:-2], other[:-2]) + 1)
    return best


words = st.text("abc", max_size=5)


@given(words, words)
def test_edits_are_those_of_the_definition(one: str, other: str) -> None:
    assert variables.edits(one, other) == slow(one, other)
    assert variables.edits(one, other, 2) == min(slow(one, other), 2)


@pytest.mark.parametrize(
    ("value", "kind", "is_"),
    [
        ("yes", "bool", True), ("False", "bool", False), (True, "bool", True), (0, "bool", False), ("3", "int", 3),
        ("1.5", "float", 1.5), ("0, 1:0,", "list", ["0", "1:0"]), (["0"], "list", ["0"]), ({}, "dict", {}),
        (None, "bool", None), ("x", "str", "x"), (3, "str", 3), ("x", "raw", "x"), ("", "list", []),
    ],
)  # fmt: skip
def test_text_becomes_what_its_variable_is(value: Any, kind: str, is_: Any) -> None:
    found = variables.typed(value, kind)
    assert found == is_ and type(found) is type(is_)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("maybe", "bool"), ([], "bool"), ("x", "int"), ({}, "list"), (3, "list"), ("x", "dict"), ([], "dict")],
)
def test_what_cannot_be_that_kind_is_told(value: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=r"^(a \w+|true or false)$"):
        variables.typed(value, kind)


def test_role_variables_that_change_the_row() -> None:
    found = variables.row_words({"cann_version": "9.1.1", "conda_env_python": "", "conda_env_torch": None, "x": "y"})
    assert found == [("cann_version", {"cann": "9.1.1"})]
