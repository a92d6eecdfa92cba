# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/tiny: a model folder with everything that a check looks at, and a few bytes of weights."""

from __future__ import annotations

import json
import struct
from pathlib import Path

WEIGHTS = "model.safetensors"
CONFIG = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "torch_dtype": "float16",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "max_position_embeddings": 4096,
    "vocab_size": 256,
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
TENSORS = {"model.norm.weight": [64], "model.layers.0.input_layernorm.weight": [64]}


def safetensors(tensors: dict[str, list[int]]) -> bytes:
    """A file of float16 ones in the safetensors format: length of the header (8 bytes, little-endian), header, data."""
    header, data = {}, b""
    for name, shape in tensors.items():
        values = b"\x00\x3c" * shape[0]
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def build(out: Path) -> list[Path]:
    """Write OUT/model/tiny and return its files."""
    folder = out / "model" / "tiny"
    folder.mkdir(parents=True, exist_ok=True)
    weights = safetensors(TENSORS)
    index = {"metadata": {"total_size": len(weights)}, "weight_map": dict.fromkeys(TENSORS, WEIGHTS)}
    vocabulary = {f"<{number}>": number for number in range(CONFIG["vocab_size"])}
    texts = {
        "config.json": CONFIG,
        f"{WEIGHTS}.index.json": index,
        "generation_config.json": {"bos_token_id": 0, "eos_token_id": 1},
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 4096},
        "tokenizer.json": {"version": "1.0", "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<0>"}},
    }
    for name, value in texts.items():
        (folder / name).write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (folder / WEIGHTS).write_bytes(weights)
    return [folder / name for name in (*texts, WEIGHTS)]
