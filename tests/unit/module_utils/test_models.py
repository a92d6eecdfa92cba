# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model folders: what they are and what is missing in them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _models

PATH = "/data/models/x"
CONFIG = {"architectures": ["Qwen3ForCausalLM"], "torch_dtype": "bfloat16", "num_attention_heads": 32}


def model(node, index=("a.safetensors", "b.safetensors")):
    node.file(PATH + "/config.json", json.dumps(CONFIG))
    for name in ("a.safetensors", "b.safetensors"):
        node.file("%s/%s" % (PATH, name), "weights")
    table = {"weight_map": {"layer.%d" % number: name for number, name in enumerate(index)}}
    node.file(PATH + "/model.safetensors.index.json", json.dumps(table))


def test_a_whole_model(node):
    model(node)
    node.file(PATH + "/training_args.bin", "not a weight")
    assert _models.gather(node.runner, PATH + "/") == {
        "exists": True,
        "config": dict(CONFIG, quantization=None),
        "weight_files": 2,
        "missing_weights": [],
    }


def test_weights_that_are_absent_empty_or_pointers(node):
    model(node, index=("a.safetensors", "b.safetensors", "c.safetensors", "c.safetensors"))
    node.file(PATH + "/a.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    node.file(PATH + "/b.safetensors", "")
    found = _models.gather(node.runner, PATH)
    assert found["missing_weights"] == ["a.safetensors", "b.safetensors", "c.safetensors"]
    assert found["weight_files"] == 2


def test_a_folder_that_is_none(node):
    empty = {"exists": False, "config": None, "weight_files": 0, "missing_weights": []}
    assert _models.gather(node.runner, PATH) == empty
    node.file(PATH, "a file")
    assert _models.gather(node.runner, PATH) == empty


@pytest.mark.parametrize(
    ("raw", "described", "expected"),
    [
        ({"quantization_config": {"quant_method": "gptq"}}, False, {"quantization": "gptq"}),
        ({}, True, None),
        (CONFIG, True, {"quantization": "ascend", "num_attention_heads": 32}),
        ({"dtype": "float16"}, False, {"torch_dtype": "float16"}),
        ({"text_config": {"num_attention_heads": 8, "dtype": "bfloat16"}}, False, {"num_attention_heads": 8}),
        ({"num_attention_heads": "8", "torch_dtype": 3, "architectures": "x", "text_config": []}, False, {
            "num_attention_heads": None, "torch_dtype": None, "architectures": [], "quantization": None,
        }),
        ({"num_attention_heads": True, "quantization_config": "x"}, False, {"num_attention_heads": None}),
    ],
)  # fmt: skip
def test_config(raw, described, expected):
    found = _models.config(raw, described)
    assert found is None if expected is None else expected.items() <= found.items()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100000])
def test_a_config_that_is_none(node, text):
    node.file(PATH + "/config.json", text)
    node.file(PATH + "/model.safetensors.index.json", text or '{"weight_map": ["a"]}')
    assert _models.gather(node.runner, PATH)["config"] is None
