# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what is generated from data/: ``python tools/make_data.py [--check]`` (``make data``).

* data/<table>.yml -> data/json/<table>.json: the controller reads JSON a hundred times faster than YAML.
* roles/*/meta/argument_specs.yml and defaults/main.yml -> data/json/variables.json: what a variable is called, whose it
  is, its kind and default.
* what the other generators in tools/ give (the chip table for nodes).

``--check`` writes nothing and exits 1 when a file is stale or left over.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from typing import Any, Callable, Dict

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATORS = ("gen_chips.py",)


def read(path: str) -> Any:
    with open(path, encoding="utf-8") as handle:
        return yaml.safe_load(handle)


def compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str) + "\n"


def text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): text_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [text_keys(item) for item in value]
    return value


def tables(root: str) -> Dict[str, str]:
    """{path: text} of data/json/ from data/*.yml."""
    found = {}
    for name in sorted(os.listdir(os.path.join(root, "data"))):
        if name.endswith(".yml"):
            found["data/json/%s.json" % name[:-4]] = compact(text_keys(read(os.path.join(root, "data", name))))
    return found


def variables(root: str) -> Dict[str, Dict[str, Any]]:
    """{name: {role, type, default}} of every public role variable; the default as in defaults/main.yml."""
    found = {}  # type: Dict[str, Dict[str, Any]]
    folder = os.path.join(root, "roles")
    for role in sorted(os.listdir(folder)):
        spec = os.path.join(folder, role, "meta", "argument_specs.yml")
        if not os.path.isfile(spec):
            continue
        defaults = os.path.join(folder, role, "defaults", "main.yml")
        given = (read(defaults) or {}) if os.path.isfile(defaults) else {}
        for entry in ((read(spec) or {}).get("argument_specs") or {}).values():
            for name, option in ((entry or {}).get("options") or {}).items():
                if name.startswith("__"):
                    continue
                default = given.get(name, option.get("default"))
                found[name] = {"role": role, "type": option.get("type", "str"), "default": default}
    return found


def generate(root: str) -> Dict[str, str]:
    """{path: text} of every generated file."""
    found = tables(root)
    found["data/json/variables.json"] = compact(text_keys(variables(root)))
    for name in GENERATORS:
        found.update(_generator(os.path.join(root, "tools", name))(root))
    return found


def _generator(path: str) -> Callable[[str], Dict[str, str]]:
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate


def stale(root: str, wanted: Dict[str, str]) -> Dict[str, str]:
    """{path: missing | stale | left over} of the generated files on disk."""
    found = {}
    for path, text in wanted.items():
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            found[path] = "missing"
        else:
            with open(full, encoding="utf-8") as handle:
                if handle.read() != text:
                    found[path] = "stale"
    folder = os.path.join(root, "data", "json")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if "data/json/" + name not in wanted:
            found["data/json/" + name] = "left over"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the generated data files.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    parser.add_argument("--root", default=ROOT)
    args = parser.parse_args()
    wanted = generate(args.root)
    changes = stale(args.root, wanted)
    for path, problem in sorted(changes.items()):
        print("%s: %s" % (path, problem))
        if args.check:
            continue
        full = os.path.join(args.root, path)
        if problem == "left over":
            os.unlink(full)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as handle:
            handle.write(wanted[path])
    if args.check and changes:
        print("Run `make data` and commit what it writes.")
    return 1 if args.check and changes else 0


if __name__ == "__main__":
    sys.exit(main())
