"""Writes the generated parts of the documentation: variable tables of roles, lists of roles and plugins in README.md.

    python3 tools/make_docs.py           write
    python3 tools/make_docs.py --check   exit 1 and say which file is stale, write nothing

The text between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->`` is replaced. Needs PyYAML (ansible-core brings it).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(<!-- (?P<name>[a-z]+):begin -->\n).*?(<!-- (?P=name):end -->)", re.DOTALL)
MARKUP = re.compile(r"\b(?:O|V|C|RV|I|B|E)\(([^)]*)\)")
MODULE = re.compile(r"\bM\(([^)]*)\)")


def prose(text: Any) -> str:
    """A description (string or list) as one line of Markdown."""
    joined = " ".join(text) if isinstance(text, list) else str(text or "")
    joined = MODULE.sub(r"`\1`", MARKUP.sub(r"`\1`", joined))
    return " ".join(joined.split()).replace("|", "\\|")


def shown(value: Any) -> str:
    """A default as it would be typed in YAML."""
    if value is None:
        return ""
    text = yaml.safe_dump(value, default_flow_style=True, width=10000).replace("\n...", "").strip()
    return f"`{text}`"


def variable_table(options: dict[str, Any]) -> str:
    rows = ["| variable | type | default | meaning |", "|---|---|---|---|"]
    for name, option in options.items():
        kind = option.get("type", "str")
        if "elements" in option:
            kind += f" of {option['elements']}"
        default = "**required**" if option.get("required") else shown(option.get("default"))
        text = prose(option.get("description"))
        if "choices" in option:
            text += " One of " + ", ".join(f"`{choice}`" for choice in option["choices"]) + "."
        rows.append(f"| `{name}` | {kind} | {default} | {text} |")
        for key, sub in (option.get("options") or {}).items():
            sub_default = "**required**" if sub.get("required") else shown(sub.get("default"))
            rows.append(
                f"| &nbsp;&nbsp;`{key}` | {sub.get('type', 'str')} | {sub_default} | {prose(sub.get('description'))} |"
            )
    return "\n".join(rows) + "\n"


def specs() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted(ROOT.glob("roles/*/meta/argument_specs.yml")):
        found[path.parts[-3]] = yaml.safe_load(path.read_text())["argument_specs"]["main"]
    return found


def plugin_table() -> str:
    rows = ["| plugin | kind | what it does |", "|---|---|---|"]
    for kind in ("modules", "lookup", "filter", "callback"):
        for path in sorted(ROOT.glob(f"plugins/{kind}/*.py")):
            side = path.with_suffix(".yml")
            text = side.read_text() if side.exists() else path.read_text()
            line = re.search(r"^\s*short_description:\s*(.+)$", text, re.MULTILINE)
            action = (
                " (runs on the controller)"
                if kind == "modules" and (ROOT / "plugins/action" / path.name).exists()
                else ""
            )
            label = {"modules": "module"}.get(kind, kind) + action
            rows.append(f"| `ascend.fleet.{path.stem}` | {label} | {prose(line.group(1)) if line else ''} |")
    return "\n".join(rows) + "\n"


def role_table(found: dict[str, dict[str, Any]]) -> str:
    rows = ["| role | what it does |", "|---|---|"]
    for name, spec in found.items():
        rows.append(f"| [`{name}`](roles/{name}/README.md) | {prose(spec.get('short_description'))} |")
    return "\n".join(rows) + "\n"


def filled(text: str, blocks: dict[str, str]) -> str:
    return MARKED.sub(lambda match: match[1] + blocks.get(match["name"], "") + match[3], text)


def generate() -> dict[Path, str]:
    """Every file with generated parts and the text that it should have."""
    found = specs()
    wanted = {}
    for name, spec in found.items():
        readme = ROOT / "roles" / name / "README.md"
        wanted[readme] = filled(readme.read_text(), {"variables": variable_table(spec.get("options") or {})})
    readme = ROOT / "README.md"
    wanted[readme] = filled(readme.read_text(), {"roles": role_table(found), "plugins": plugin_table()})
    return wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a file is stale")
    options = parser.parse_args()
    stale = [path for path, text in generate().items() if path.read_text() != text]
    if options.check:
        if stale:
            names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
            sys.exit(f"stale: {names}. Run 'make docs' and commit what it wrote.")
        return
    for path in stale:
        path.write_text(generate()[path])
        print("wrote", path.relative_to(ROOT))


if __name__ == "__main__":
    main()
