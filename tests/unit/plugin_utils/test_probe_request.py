"""What is asked of a host follows from its variables."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import probe_request
from hypothesis import given
from hypothesis import strategies as st

VARIABLES = {
    "cann_install_path": "/data/Ascend",
    "conda_env_base": "/opt/ascend-fleet/conda",
    "conda_env_root": "/data/envs",
    "cann_tmp_dir": "",
    "vllm_service_user": "vllm",
    "vllm_service_group": "",
    "vllm_service_device_group": "HwHiAiUser",
    "vllm_ascend_env": "/data/own-env",
    "vllm_service_instances": [{"name": "chat", "model": "/models/qwen"}, {"name": "embed", "model": "org/model"}],
    "ascend_artifacts": [{"dir": "/here"}, {"node_dir": "/srv/ascend"}],
}


def test_everything_that_a_layer_needs_is_asked() -> None:
    asked = probe_request.request(VARIABLES.get)
    assert {"/data/Ascend", "/data/envs", "/opt/ascend-fleet/conda", "/tmp"} <= set(asked["paths"])
    assert asked["users"] == ["vllm"]
    assert asked["groups"] == ["HwHiAiUser", "vllm"]
    assert asked["models"] == ["/models/qwen"]
    assert asked["read"] == ["/srv/ascend/manifest.yml"]
    assert asked["envs"] == ["/opt/ascend-fleet/conda", "/data/own-env"]
    assert asked["units"] == ["ascend-vllm-chat.service", "ascend-vllm-embed.service"]
    assert asked["cann_roots"] == ["/data/Ascend"]
    assert "sha256sum" in asked["commands"]


def test_unset_variables_ask_nothing_and_leave_out_the_option() -> None:
    asked = probe_request.request(lambda name: None)
    assert set(asked) == {"paths", "groups", "commands"}
    assert asked["groups"] == ["HwHiAiUser"]


def test_a_task_s_own_options_are_added() -> None:
    options = probe_request.merged({"paths": ["/tmp"], "users": ["vllm"]}, {"paths": ["/data", "/tmp"], "timeout": 30})
    assert options == {"paths": ["/tmp", "/data"], "users": ["vllm"], "timeout": 30}


def test_a_list_as_a_command_line_gives_it_is_a_list() -> None:
    assert probe_request.merged({"paths": ["/tmp"]}, {"paths": "/opt,/srv"}) == {"paths": ["/tmp", "/opt", "/srv"]}


@pytest.mark.parametrize("wrong", ["text", 5, {"name": "x"}, [None, 3, "x", {"name": 7, "model": ["/a"]}], [[]], True])
def test_wrong_kinds_are_left_to_the_judge(wrong: Any) -> None:
    asked = probe_request.request(lambda name: wrong)
    assert all(isinstance(word, str) for words in asked.values() for word in words)
    assert "units" not in asked


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_breaks_the_question(value: Any) -> None:
    asked = probe_request.request(lambda name: value)
    assert all(words and all(isinstance(word, str) for word in words) for words in asked.values())
