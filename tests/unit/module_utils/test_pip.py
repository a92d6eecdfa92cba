# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _pip


@pytest.mark.parametrize(
    ("requirement", "name", "version"),
    [
        ("torch==2.10.0+cpu", "torch", "2.10.0+cpu"),
        ("Torch_NPU == 2.10.0.post4", "torch-npu", "2.10.0.post4"),
        ("torch===2.9.0", "torch", "2.9.0"),
        ("triton-ascend==3.2.2; platform_machine == 'aarch64'", "triton-ascend", "3.2.2"),
        ("ray[cgraph]==2.48.0", "ray", "2.48.0"),
        ("numpy<2", "numpy", None),
        ("numpy==1.*", "numpy", None),
        ("numpy>=1,==1.26.4", "numpy", None),
        ("scipy", "scipy", None),
        ("--index-url https://x", None, None),
        ("https://x.example/y.whl", None, None),
        ("./local", None, None),
        ("", None, None),
    ],
)
def test_a_requirement_names_a_distribution_and_perhaps_one_version(requirement, name, version):
    assert _pip.name_of(requirement) == name
    if name:
        assert _pip.exact(requirement) == version


@pytest.mark.parametrize(
    ("want", "have", "fits"),
    [
        ("2.10.0", "2.10.0+cpu", True),
        ("2.10.0+cpu", "2.10.0", False),
        ("2.10.0+cpu", "2.10.0+cpu", True),
        ("2.10.0+cpu", "2.10.0+cu128", False),
        ("2.9.0.post1+git4c901a4", "2.9.0.post1+git4c901a4", True),
        ("2.9.0", "2.9.0.post1", False),
        ("2.10", "2.10.0", True),
        ("2.10.0", None, False),
        ("main", "main", True),
    ],
)
def test_a_pin_without_a_local_part_takes_any(want, have, fits):
    assert _pip.met(want, have) is fits


def test_differences_name_what_is_missing_and_what_is_other():
    packages = {"torch": "2.9.0", "torch-npu": "2.10.0.post4", "numpy": "2.2.6"}
    found = _pip.differences(["torch==2.10.0", "torch_npu==2.10.0.post4", "numpy<2", "scipy"], packages)
    assert found == [("torch", "2.10.0", "2.9.0"), ("scipy", "any", None)]


def test_a_requirement_for_other_envs_may_be_absent():
    line = "six==1.16.0; python_version > '3.11'"
    assert _pip.differences([line], {}) == []
    assert _pip.differences([line], {"six": "1.16.0"}) == []
    assert _pip.differences([line], {"six": "1.15.0"}) == [("six", "1.16.0", "1.15.0")]


def test_index_options_leave_the_index_out_when_there_is_none():
    pip = {"no_index": True, "index_url": "https://a", "extra_index_urls": ["https://b"], "find_links": ["/w"]}
    assert _pip.index_args(pip, "/own") == ["--no-index", "--find-links", "/w", "--find-links", "/own"]
    pip = {"index_url": "https://a", "extra_index_urls": ["https://b"], "cert": "/ca.pem", "trusted_hosts": ["m"]}
    assert _pip.index_args(pip) == (
        ["--index-url", "https://a", "--extra-index-url", "https://b", "--cert", "/ca.pem", "--trusted-host", "m"]
    )
    assert _pip.index_args({}) == []


def test_our_pins_go_before_the_users_constraints():
    lines = _pip.constraint_lines({"constraints": ["Torch==1.0", "ray<3"]}, ["torch==2.10.0"])
    assert lines == ["torch==2.10.0", "ray<3"]


def test_pins_of_a_row_become_lines():
    pins = {"torch_npu": "2.10.0.post4", "transformers": ["4.57.4", "5"], "numpy": ["1.26", None], "torchaudio": None}
    assert _pip.pin_lines(pins) == ["numpy>=1.26", "torch-npu==2.10.0.post4", "transformers>=4.57.4,<5"]


def test_the_rows_pins_replace_what_a_wheel_asks_for():
    asked = ["torch==2.9.0", "torch-npu==2.9.0", "numpy<2", "triton-ascend==3.2.0", "vllm==0.18.0", "numpy<2"]
    pins = ["torch-npu==2.9.0.post1+git4c901a4", "torch==2.9.0+cpu", "numpy<2.0.0", "torchaudio==2.9.0"]
    assert _pip.merged(asked, pins, ["vllm", "triton-ascend"]) == [
        "torch==2.9.0+cpu",
        "torch-npu==2.9.0.post1+git4c901a4",
        "numpy<2",
    ]


def test_requirements_of_extras_are_none():
    lines = ["ray", "flashinfer ; extra == 'flash'", 'x; python_version < "3.11" and extra=="y"', "z; os_name == 'nt'"]
    assert _pip.unconditional(lines) == ["ray", "z; os_name == 'nt'"]


def test_a_wheel_is_built_with_what_the_env_has_and_nothing_else():
    argv = _pip.wheel("/e/bin/python", "/tree", "/out")
    assert argv[:4] == ["/e/bin/python", "-m", "pip", "wheel"]
    assert {"--no-deps", "--no-build-isolation", "--no-index"} <= set(argv)
