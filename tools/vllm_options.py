# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Write data/options/vllm-<version>.json: every option that `vllm serve` of that version takes.

The lists come from the parser itself, never from documentation. Two sources:

  python3 tools/vllm_options.py --python ENV/bin/python   asks the vLLM installed in ENV (needs its torch, no NPU)
  python3 tools/vllm_options.py --from-dumps DIR          reads earlier dumps (flags-<version>.json) of the parser

Output, one option on a line so that a diff of two versions reads well:
  {"vllm": "0.23.0", "source": "...", "options": {"--port": {"nargs": null, "choices": null}, ...}}
nargs as in argparse: null one value, 0 none, "+" one or more, "?" none or one. choices: sorted list or null.

Exit status: 0 written or current, 1 stale with --check, 2 the source cannot be used.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "data" / "options"

# Runs inside the vLLM env. The subcommand builds its own parser, whose module moved between releases, so only the
# command class and the parser class are imported. stdout is kept for the answer: vLLM logs to it.
ASK = r"""
import importlib.metadata, json, sys
answer, sys.stdout = sys.stdout, sys.stderr
from vllm.entrypoints.cli.serve import ServeSubcommand
try:
    from vllm.utils.argparse_utils import FlexibleArgumentParser
except ImportError:
    from vllm.utils import FlexibleArgumentParser
parser = ServeSubcommand().subparser_init(FlexibleArgumentParser().add_subparsers())
options = {}
for action in parser._actions:
    choices = None if action.choices is None else [str(choice) for choice in action.choices]
    for option in action.option_strings:
        options[option] = {"nargs": action.nargs, "choices": choices}
json.dump({"vllm": importlib.metadata.version("vllm"), "options": options}, answer)
"""


class OptionsError(Exception):
    """The source holds no usable option list; the text says which one and why."""


def normalise(raw: object, origin: str) -> dict:
    """Return {vllm, source, options} of a dump {vllm, options: {name: {nargs, choices}}}.

    The local part of the version (+cpu, +empty) says how vLLM was built, not what its parser takes, and is cut off.
    Raises OptionsError for anything that is not such a dump.
    """
    if not isinstance(raw, dict) or not isinstance(raw.get("options"), dict) or not isinstance(raw.get("vllm"), str):
        raise OptionsError(f"{origin}: no dump of a vLLM parser (want keys vllm and options)")
    version = raw["vllm"].partition("+")[0]
    if not re.fullmatch(r"\d+(\.\d+)+([a-z]+\d+)?(\.post\d+)?", version):
        raise OptionsError(f"{origin}: {raw['vllm']!r} is no released vLLM version")
    options = {}
    for name, spec in sorted(raw["options"].items()):
        if not name.startswith("-") or not isinstance(spec, dict) or spec.get("nargs") not in (None, 0, "+", "*", "?"):
            raise OptionsError(f"{origin}: option {name!r} has an unknown shape: {spec!r}")
        choices = spec.get("choices")
        options[name] = {"nargs": spec.get("nargs"), "choices": sorted(map(str, choices)) if choices else None}
    if "--port" not in options:
        raise OptionsError(f"{origin}: --port is missing, so this is not the parser of `vllm serve`")
    source = f"parser of `vllm serve` in vLLM {raw['vllm']}, read by tools/vllm_options.py"
    return {"vllm": version, "source": source, "options": options}


def render(listing: dict) -> str:
    """Text of the file: JSON with one option on each line."""
    lines = [f"{json.dumps(name)}: {json.dumps(spec)}" for name, spec in listing["options"].items()]
    head = f'{{"vllm": {json.dumps(listing["vllm"])},\n"source": {json.dumps(listing["source"])},\n"options": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def ask_installed(python: str) -> dict:
    """Option list of the vLLM that PYTHON can import. Raises OptionsError with the tail of its error output."""
    try:
        done = subprocess.run([python, "-c", ASK], capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise OptionsError(f"{python}: {err}") from err
    if done.returncode:
        tail = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise OptionsError(f"{python} could not build the parser (install vLLM with its torch there):\n{tail}")
    return normalise(json.loads(done.stdout), python)


def read_dumps(folder: Path) -> list[dict]:
    """Option lists of all flags-*.json in FOLDER. Raises OptionsError when there is none or one is damaged."""
    files = sorted(folder.glob("flags-*.json"))
    if not files:
        raise OptionsError(f"{folder}: no flags-<version>.json in it")
    listings = []
    for path in files:
        try:
            listings.append(normalise(json.loads(path.read_text(encoding="utf-8")), str(path)))
        except ValueError as err:
            raise OptionsError(f"{path}: {err}") from err
    return listings


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--python", help="Python of an env with vLLM")
    source.add_argument("--from-dumps", type=Path, metavar="DIR", help="folder of flags-<version>.json")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a file is stale")
    args = parser.parse_args(argv)
    try:
        listings = [ask_installed(args.python)] if args.python else read_dumps(args.from_dumps)
    except OptionsError as err:
        print(f"vllm_options: {err}", file=sys.stderr)
        return 2
    stale = 0
    for listing in listings:
        path, text = OUT / f"vllm-{listing['vllm']}.json", render(listing)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            print(f"{path.relative_to(ROOT)}: current, {len(listing['options'])} options")
            continue
        stale += 1
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {'stale' if args.check else 'written'}, {len(listing['options'])} options")
    return 1 if stale and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
