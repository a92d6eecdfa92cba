# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The command line of `vllm serve`: the options of the real parser (options.json), and how --config becomes words.

Read from vllm/utils/argparse_utils.py of 0.13.0, 0.18.0 and 0.23.0. The file is turned into words that are put right
behind the model, so what stands later on the command line wins. For each key of the YAML mapping:

  true    --key                 false   nothing at all (to switch something off write no-key: true)
  list    --key item item ...   an empty list gives nothing
  dict    --key JSON            0.13.0 gives Python's own notation instead, which its parser then refuses
  other   --key str(value)      null gives the word None

Only the two words --config FILE are replaced, --config=FILE is not; FILE must end in .yaml or .yml. Underscores in
option names become dashes up to the first dot; --key.sub value is gathered into one JSON value for --key.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
LISTING = json.loads((HERE / "options.json").read_text(encoding="utf-8"))["options"]
TRAITS = json.loads((HERE / "traits.json").read_text(encoding="utf-8"))
SHORT = {"-tp": "--tensor-parallel-size", "-pp": "--pipeline-parallel-size", "-dp": "--data-parallel-size"}
UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def whole_number(value: str) -> int:
    """Integer, also as 1k or 2M; "auto" and -1 mean -1."""
    if value.strip().lower() in ("auto", "-1"):
        return -1
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", value.strip())
    return int(float(match[1]) * UNITS[match[2]]) if match else int(value)


def port(value: str) -> int:
    if not value.isdigit():
        raise argparse.ArgumentTypeError("Port must be an integer")
    if not 1024 <= int(value) <= 65535:
        raise argparse.ArgumentTypeError("Port must be between 1024 and 65535")
    return int(value)


def json_value(value: str) -> object:
    try:
        return json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"Value {value} cannot be converted to {json.loads}.") from None


# Types that the list of options does not carry; everything else is text here.
TYPES = {
    "--port": port,
    "--gpu-memory-utilization": float,
    "--max-model-len": whole_number,
    "--max-num-seqs": int,
    "--max-num-batched-tokens": whole_number,
    "--tensor-parallel-size": int,
    "--pipeline-parallel-size": int,
    "--data-parallel-size": int,
    "--seed": int,
    "--additional-config": json_value,
    "--compilation-config": json_value,
    "--speculative-config": json_value,
    "--kv-transfer-config": json_value,
    "--hf-overrides": json_value,
}


def build_parser() -> argparse.ArgumentParser:
    """Parser of the vllm command with its one subcommand that matters here."""
    parser = argparse.ArgumentParser(prog="vllm", description="vLLM CLI")
    parser.add_argument("-v", "--version", action="version", version=importlib.metadata.version("vllm"))
    commands = parser.add_subparsers(required=False, dest="subparser")
    serve = commands.add_parser("serve", usage="vllm serve [model_tag] [options]")
    serve.add_argument("model_tag", nargs="?", default=None)
    groups: dict[str, list[str]] = {}
    for option in LISTING:
        if option not in ("-h", "--help"):
            groups.setdefault(SHORT.get(option, option), []).append(option)
    for name, options in sorted(groups.items()):
        spec = LISTING[name]
        destination = name.lstrip("-").replace("-", "_")
        if spec["nargs"] == 0:
            serve.add_argument(*options, dest=destination, action="store_true")
        else:
            kind = TYPES.get(name, str)
            serve.add_argument(*options, dest=destination, nargs=spec["nargs"], choices=spec["choices"], type=kind)
    return parser


def words_of_config(path: str) -> list[str]:
    """Words that a --config file stands for. ValueError for a wrong file name, OSError or YAMLError for its text."""
    extension = path.rpartition(".")[2]
    if extension not in ("yaml", "yml"):
        raise ValueError(f"Config file must be of a yaml/yml type. {extension} supplied")
    words: list[str] = []
    for key, value in yaml.safe_load(Path(path).read_text(encoding="utf-8")).items():
        if isinstance(value, bool):
            words += ["--" + key] if value else []
        elif isinstance(value, list):
            words += ["--" + key, *map(str, value)] if value else []
        elif isinstance(value, dict) and TRAITS["config_dicts"]:
            words += ["--" + key, json.dumps(value)]
        else:
            words += ["--" + key, str(value)]
    return words


def expand(words: list[str]) -> list[str]:
    """WORDS with --config FILE replaced, underscores turned to dashes and dotted options gathered."""
    if "--config" in words:
        index = words.index("--config")
        if index == len(words) - 1:
            raise ValueError("No config file specified! Please check your command-line arguments.")
        inserted = words_of_config(words[index + 1])
        rest = words[:index] + words[index + 2 :]
        with_model = len(rest) > 1 and not rest[1].startswith("-")
        if not with_model and "--model" not in inserted:
            raise ValueError(
                "No model specified! Please specify model either as a positional argument or in a config file."
            )
        cut = 2 if with_model else 1
        words = rest[:cut] + inserted + rest[cut:]
    return _gather([re.sub(r"^--[^.=]*", lambda match: match[0].replace("_", "-"), word) for word in words])


def _gather(words: list[str]) -> list[str]:
    """--key.sub value and --key.sub=value, merged into --key JSON at the end."""
    kept, gathered, rest = [], {}, iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not (name.startswith("--") and "." in name):
            kept.append(word)
            continue
        value = value if equals else next(rest, "")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        key, *path = name.split(".")
        place = gathered.setdefault(key, {})
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = parsed
    for key, value in gathered.items():
        kept += [key, json.dumps(value)]
    return kept
