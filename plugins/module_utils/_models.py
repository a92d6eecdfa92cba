# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Model folders: what is in them and what is missing, without reading a weight."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional

from ._runner import Runner

_INDEXES = tuple(
    stem + ".index.json" for stem in ("model.safetensors", "pytorch_model.bin", "quant_model_weights.safetensors")
)
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth")
_NOT_WEIGHTS = ("training_args.bin", "optimizer.bin", "scheduler.bin")
_LARGEST = 32 << 20  # bytes of a JSON file that are read; an index of a large model has some MiB
_POINTER = b"version https://git-lfs"


def gather(runner: Runner, path: str) -> Dict[str, Any]:
    """One entry of ``ascend_models``: {exists, config, weight_files, missing_weights}.

    weight_files is their number; missing_weights names those that an index promises and that are absent, empty, or a
    pointer left by a clone without Git LFS.
    """
    path = path.rstrip("/") or "/"
    names = runner.names(path)
    weights = [name for name in names if name.endswith(_WEIGHTS) and name not in _NOT_WEIGHTS]
    missing = [name for name in weights if not _sound(runner, path + "/" + name)]
    for index in _INDEXES:
        table = _json(runner, "%s/%s" % (path, index)).get("weight_map")
        if isinstance(table, dict):
            missing += [str(name) for name in set(map(str, table.values())) if not _sound(runner, path + "/" + name)]
    return {
        "exists": runner.is_dir(path),
        "config": config(_json(runner, path + "/config.json"), "quant_model_description.json" in names),
        "weight_files": len(weights),
        "missing_weights": sorted(set(missing)),
    }


def config(raw: Dict[str, Any], described: bool) -> Optional[Dict[str, Any]]:
    """What a verdict needs of config.json; a model of several parts keeps the numbers in text_config.

    :param described: the folder has the description file of Ascend's quantization tool.
    """
    if not raw:
        return None
    text = raw.get("text_config") if isinstance(raw.get("text_config"), dict) else {}
    quantized = raw.get("quantization_config", text.get("quantization_config"))
    method = quantized.get("quant_method") if isinstance(quantized, dict) else None
    dtype = _first(raw, text, "torch_dtype", "dtype")
    heads = _first(raw, text, "num_attention_heads")
    architectures = raw.get("architectures")
    return {
        "architectures": [str(name) for name in architectures] if isinstance(architectures, list) else [],
        "torch_dtype": dtype if isinstance(dtype, str) else None,
        "num_attention_heads": heads if isinstance(heads, int) and not isinstance(heads, bool) else None,
        "quantization": method if isinstance(method, str) else "ascend" if described else None,
    }


def _first(raw: Dict[str, Any], text: Dict[str, Any], *keys: str) -> Any:
    for part in (raw, text):
        for key in keys:
            if part.get(key) is not None:
                return part[key]
    return None


def _json(runner: Runner, path: str) -> Dict[str, Any]:
    try:
        found = json.loads(runner.read(path, _LARGEST) or "")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _sound(runner: Runner, path: str) -> bool:
    """A weight file that can hold weights: not absent, not empty, not a pointer to them."""
    head = runner.read_bytes(path, len(_POINTER))  # type: Optional[bytes]
    return bool(head) and head != _POINTER
