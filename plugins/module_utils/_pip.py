# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Pip: argument lists, requirements and pins. Everything here is pure; nothing is started.

``pip`` below is the user's dict {index_url, extra_index_urls, find_links, no_index, constraints, cert, trusted_hosts}.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence

from ._envs import normalize
from ._version import compare, same

_NAME = re.compile(r"^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?")
_EXACT = re.compile(r"^===?\s*([^\s,;*]+)$")
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]""")

# argument_spec of the user's dict, for the modules that take one; documented in doc_fragments/pip.py
OPTIONS = {
    "index_url": {"type": "str"},
    "extra_index_urls": {"type": "list", "elements": "str"},
    "find_links": {"type": "list", "elements": "str"},
    "no_index": {"type": "bool", "default": False},
    "constraints": {"type": "list", "elements": "str"},
    "cert": {"type": "path"},
    "trusted_hosts": {"type": "list", "elements": "str"},
}  # type: Dict[str, Dict[str, Any]]


class Difference(NamedTuple):
    """A pin that an env does not meet; have is None when the distribution is absent."""

    name: str
    want: str
    have: Optional[str]


def environment() -> Dict[str, str]:
    """Variables for every pip of ours: no configuration file of the host, no question, no cache in a home."""
    return {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_USER": "0",
        "PIP_REQUIRE_VIRTUALENV": "0",
        "PIP_PROGRESS_BAR": "off",
    }


def _listed(value: Any) -> List[str]:
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def index_args(pip: Mapping[str, Any], find_links: Optional[str] = None) -> List[str]:
    """Where pip may look, as options. find_links is our own wheel folder, searched beside the user's."""
    words = []  # type: List[str]
    if pip.get("no_index"):
        words.append("--no-index")
    else:
        for url in _listed(pip.get("index_url")):
            words += ["--index-url", url]
        for url in _listed(pip.get("extra_index_urls")):
            words += ["--extra-index-url", url]
    for place in _listed(pip.get("find_links")) + _listed(find_links):
        words += ["--find-links", place]
    for path in _listed(pip.get("cert")):
        words += ["--cert", path]
    for host in _listed(pip.get("trusted_hosts")):
        words += ["--trusted-host", host]
    return words


def constraint_lines(pip: Mapping[str, Any], pins: Iterable[str]) -> List[str]:
    """Our pins, then the user's constraint lines for names that we do not pin."""
    lines = list(pins)
    ours = {name_of(line) for line in lines}
    return lines + [line for line in _listed(pip.get("constraints")) if name_of(line) not in ours]


def name_of(requirement: str) -> Optional[str]:
    """Normalized distribution name of a requirement, or None for what is none (an option, a path, a URL alone)."""
    match = _NAME.match(requirement)
    if not match or requirement.lstrip()[match.end() :].startswith((":", "/")) or "/" in match.group(0):
        return None
    return normalize(match.group(1))


def exact(requirement: str) -> Optional[str]:
    """Version that ``name==version`` asks for, or None when it leaves a choice."""
    match = _NAME.match(requirement)
    if not match:
        return None
    found = _EXACT.match(requirement[match.end() :].partition(";")[0].strip())
    return found.group(1) if found else None


def met(want: str, have: Optional[str]) -> bool:
    """Whether an installed version is the pinned one; as for pip, a pin without a local part takes any of them."""
    if have is None:
        return False
    if "+" in want:
        return compare(want, have) == 0 or want == have
    return bool(same(want, have)) or want == have


def differences(requirements: Iterable[str], packages: Mapping[str, str]) -> List[Difference]:
    """Requirements that installed packages do not meet. One that is no exact pin only needs its distribution.

    Whether one with a marker ("; python_version < '3.11'") is for this env, pip alone knows: it may be absent.
    """
    found = []
    for requirement in requirements:
        name, want = name_of(requirement), exact(requirement)
        if name is None:
            continue
        have = packages.get(name)
        if have is None and ";" in requirement:
            continue
        if have is None or (want is not None and not met(want, have)):
            found.append(Difference(name, want or requirement[_NAME.match(requirement).end() :].strip() or "any", have))
    return found


def pin_lines(pins: Mapping[str, Any]) -> List[str]:
    """Constraint lines of a release row's pins: {name: "1.2" | [low, high or None] | None}, sorted by name."""
    lines = []
    for name in sorted(pins, key=normalize):
        pin = pins[name]
        if pin is None or pin == "":
            continue
        if isinstance(pin, (list, tuple)):
            low, high = pin
            lines.append("%s>=%s%s" % (normalize(name), low, ",<%s" % high if high else ""))
        else:
            lines.append("%s==%s" % (normalize(name), pin))
    return lines


def unconditional(requires: Iterable[str]) -> List[str]:
    """Requires-Dist lines without those of extras."""
    return [line for line in requires if not _EXTRA.search(line.partition(";")[2])]


def merged(requires: Iterable[str], pins: Sequence[str], left_out: Iterable[str]) -> List[str]:
    """What to install for requires when the row's exact pins win over what a wheel's metadata says.

    A wheel of one release can pin a version that its own documents replace; the row knows the replacement.
    """
    exact_pins = {name_of(line): line for line in pins if exact(line)}
    out = set(left_out)
    wanted = []  # type: List[str]
    for line in requires:
        name = name_of(line)
        if name in out:
            continue
        chosen = exact_pins.get(name, line)
        if chosen not in wanted:
            wanted.append(chosen)
    return wanted


def install(python: str, words: Sequence[str], where: Sequence[str], constraints: Optional[str] = None) -> List[str]:
    limit = ["--constraint", constraints] if constraints else []
    return [python, "-m", "pip", "install", *where, *limit, *words]


def wheel(python: str, tree: str, into: str) -> List[str]:
    return [python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", into, tree]


def uninstall(python: str, names: Sequence[str]) -> List[str]:
    return [python, "-m", "pip", "uninstall", "--yes", *names]
