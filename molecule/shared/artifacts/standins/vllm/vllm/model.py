# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What vLLM finds out about a model folder before it loads it, and the words with which it refuses one."""

from __future__ import annotations

import json
from pathlib import Path

WEIGHTS = ("*.safetensors", "*.bin", "*.pt")
INDEX = "model.safetensors.index.json"


def load_config(model: str) -> dict:
    """config.json of a local model. OSError for a name that only a hub could resolve, ValueError for no config."""
    folder = Path(model)
    if not folder.is_dir():
        raise OSError(
            "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached "
            "files.\n"
            f"{model} is not a local folder."
        )
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"Invalid repository ID or local directory specified: '{model}'.\n"
            "Please verify the following requirements:\n"
            "1. Provide a valid Hugging Face repository ID.\n2. Specify a local directory that contains a recognized "
            "configuration file.\n   - For Hugging Face models: ensure the presence of a 'config.json'."
        )
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def check_weights(model: str) -> None:
    """Raises RuntimeError where no weights lie, ValueError where the index names files that are not there."""
    folder = Path(model)
    if not any(path for pattern in WEIGHTS for path in folder.glob(pattern)):
        raise RuntimeError(f"Cannot find any model weights with `{model}`")
    index = folder / INDEX
    if index.is_file():
        table = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        absent = {name for name, file in table.items() if not (folder / file).is_file()}
        if absent:
            raise ValueError(f"Following weights were not initialized from checkpoint: {absent}")


def check_parallel(config: dict, size: int) -> None:
    """Raises ValueError when the attention heads cannot be spread over SIZE devices."""
    heads = config.get("num_attention_heads", size)
    if heads % size:
        raise ValueError(
            f"Total number of attention heads ({heads}) must be divisible by tensor parallel size ({size})."
        )


def served_names(args) -> list[str]:
    """Names that requests may use; the first is the one that answers carry."""
    return list(args.served_model_name or [args.model_tag or args.model])
