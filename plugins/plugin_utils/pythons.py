# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Why no module runs on a node: it has no Python, or one that is too old for the controller's ansible-core.

Both are common (a minimal image; Kylin V10 and openEuler 20.03 with Python 3.7), and what ansible-core itself says is a
traceback of its own files.
"""

from __future__ import annotations

import re
import shlex
from typing import List, NamedTuple, Optional, Tuple

# Where a second Python of a node usually lies: distributions, source builds, conda and its relatives.
PLACES = (
    "/usr/bin/python3*",
    "/usr/libexec/platform-python",
    "/usr/local/bin/python3*",
    "/usr/local/python3*/bin/python3*",
    "/usr/local/*conda*/bin/python3",
    "/opt/*/bin/python3*",
    "/opt/*/*/bin/python3",
    "/root/*/bin/python3",
)
_LINE = re.compile(r"^FOUND (/\S*) (\d+)\.(\d+)\.(\d+)\s*$")


class Python(NamedTuple):
    path: str
    version: Tuple[int, ...]

    @property
    def text(self) -> str:
        return ".".join(map(str, self.version))


def look_command(used: Optional[str]) -> str:
    """A command for any POSIX shell that prints every Python of the node, the used one first.

    :param used: the interpreter that Ansible took: an absolute path, or what an inventory says; None when unknown.
    """
    first = shlex.quote(used) if used and used.startswith("/") else ""
    return (
        "for p in %s %s; do [ -f \"$p\" ] && [ -x \"$p\" ] || continue; case \"$p\" in *-config) continue;; esac; "
        "v=$(\"$p\" -c 'import sys; sys.stdout.write(\"%%d.%%d.%%d\" %% sys.version_info[:3])' 2>/dev/null </dev/null) "
        "&& echo \"FOUND $p $v\"; done; :" % (first, " ".join(PLACES))
    )  # fmt: skip


def parse(output: str) -> List[Python]:
    """The Pythons that ``look_command`` printed, each path once, in order."""
    found = {}
    for line in output.splitlines():
        match = _LINE.match(line.strip())
        if match:
            found.setdefault(match.group(1), Python(match.group(1), tuple(map(int, match.groups()[1:]))))
    return list(found.values())


def explain(
    used: Optional[str], absent: bool, found: List[Python], minimum: Tuple[int, ...], core: str
) -> Optional[str]:
    """One line on why the module did not run and what to set; None when Python is not the reason.

    :param used: the interpreter that Ansible took.
    :param absent: whether the node's shell could not start it (exit status 126 or 127).
    :param minimum: the oldest Python that the controller's ansible-core runs modules with, as (3, 9).
    :param core: version of that ansible-core.
    """
    need = "ansible-core %s needs Python %s or newer on the node" % (core, ".".join(map(str, minimum)))
    taken = next((python for python in found if python.path == used), None)
    if (taken and taken.version >= minimum) or (taken is None and not absent):
        return None
    if taken:
        have = "The node's %s is Python %s" % (taken.path, taken.text)
    elif found:
        have = "The node has no %s" % (used or "Python where Ansible looks")
    else:
        have = "The node has no Python 3"
    better = sorted((python for python in found if python.version >= minimum), key=lambda python: python.version)
    if better:
        best = better[-1]
        remedy = "It has Python %s: set ansible_python_interpreter: %s for this host." % (best.text, best.path)
    else:
        others = ", ".join("%s %s" % (python.path, python.text) for python in found if python is not taken)
        remedy = "%sInstall a newer Python beside it and set ansible_python_interpreter to its path." % (
            "It also has %s, too old as well. " % others if others else ""
        )
    return "%s, %s. %s" % (have, need, remedy)
