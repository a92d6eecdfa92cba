# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The environment that the vendor's scripts set, as a dict and as one file that bash and systemd read alike.

The scripts are bash, break under ``set -u`` and ``set -e``, leave empty elements in search paths (which mean the
current folder), and speak of links that move with the next install. So they run once, in a bash that knows nothing of
the caller.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import Dict, List, NamedTuple, Sequence, Tuple

from ._runner import Runner

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOME = "/nonexistent/ascend-fleet"  # what a script derives from the caller's home is recognised by it, and left out
MARK = "ascend-fleet-environment"
BASH_OWN = ("_", "PWD", "OLDPWD", "SHLVL", "HOME", "BASH_ENV", "ENV", "PS4", "LC_ALL", "LANG")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LINE = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"\Z')
_LINKS = 40  # what Linux allows in one path


class EnvError(Exception):
    """The environment cannot be made; the text says why and what to do."""


class Script(NamedTuple):
    """A script to source, with its arguments."""

    path: str
    args: Tuple[str, ...] = ()


# running the scripts ------------------------------------------------------------------------------------------------


def program(scripts: Sequence[Script]) -> str:
    """Bash text that prints the environment before and after sourcing: twice MARK and the variables, NUL after each.

    ``set --`` goes before each script, which would else see the arguments of the one before.
    """
    dump = 'printf "%%s\\0" %s; "$__env" -0' % MARK
    lines = ["set +e +u +o pipefail", "__env=$(type -P env)", dump]
    for script in scripts:
        words = " ".join(shlex.quote(word) for word in script.args)
        lines.append("set +e +u; set -- %s" % words)
        lines.append('. %s "$@" >&2 </dev/null || true' % shlex.quote(script.path))  # or: set -e in it ends nothing
    lines += ["set +e +u", dump]
    return "\n".join(lines)


def split_dumps(out: str) -> List[Dict[str, str]]:
    """[before, after] from the output of program(); fewer when the shell ended before."""
    dumps = []  # type: List[Dict[str, str]]
    for item in out.split("\0"):
        if item == MARK:
            dumps.append({})
        elif dumps:
            name, sign, value = item.partition("=")
            if sign:
                dumps[-1][name] = value
    return dumps


def capture(runner: Runner, scripts: Sequence[Script], timeout: int = 120) -> Dict[str, str]:
    """What the scripts set or change, values as they leave them. EnvError when one ends the shell or hangs."""
    argv = ["env", "-i", "HOME=" + HOME, "PATH=" + PATH, "LC_ALL=C", "LANG=C"]
    argv += ["bash", "--noprofile", "--norc", "-c", program(scripts)]
    result = runner.run(argv, timeout=timeout, cwd="/")
    names = ", ".join(script.path for script in scripts)
    if result.timed_out:
        raise EnvError("Sourcing %s took over %d s and was stopped; source it by hand to see why." % (names, timeout))
    dumps = split_dumps(result.out)
    if len(dumps) != 2:
        last = (result.err.strip().splitlines() or ["no message"])[-1][:300]
        raise EnvError("Sourcing %s ended the shell with status %d: %s" % (names, result.rc, last))
    before, after = dumps[0], dumps[1]
    return {
        name: value
        for name, value in after.items()
        if _NAME.match(name) and name not in BASH_OWN and before.get(name) != value
    }


# making it fit to be kept -------------------------------------------------------------------------------------------


def resolve(runner: Runner, path: str, root: str) -> str:
    """A path with every link below root followed, root itself as it is named; paths elsewhere stay.

    Parts that do not exist stay as they are. EnvError on a circle of links.
    """
    if not path.startswith(root + "/"):
        return path
    done, waiting, left = root, path[len(root) + 1 :].split("/"), _LINKS
    while waiting:
        part = waiting.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            done = done.rsplit("/", 1)[0] or "/"
            continue
        step = done.rstrip("/") + "/" + part
        target = runner.readlink(step) if done == root or done.startswith(root + "/") else None
        if target is None:
            done = step
            continue
        left -= 1
        if left < 0:
            raise EnvError("%s runs in a circle of links; look with 'namei -l %s'." % (path, path))
        if target.startswith("/"):
            done = "/" if not target.startswith(root + "/") else root
            target = target[len(root) + 1 :] if done == root else target
        waiting = target.split("/") + waiting
    return done


def real_root(runner: Runner, root: str) -> str:
    """Where root lies when it, or a folder above it, is a link; scripts that ask for the real path speak of that."""
    base = os.path.realpath(runner.real("/")).rstrip("/")
    return os.path.realpath(runner.real(root))[len(base) :]


def settle(runner: Runner, path: str, roots: Sequence[str], pins: Dict[str, str]) -> str:
    """A path that names one version: moving links replaced by what they stand for, then every link followed."""
    for root in roots:
        real = real_root(runner, root)
        if path.startswith(real + "/"):
            path = root + path[len(real) :]
    for link in sorted(pins, key=len, reverse=True):
        if path == link or path.startswith(link + "/"):
            path = pins[link] + path[len(link) :]
            break
    for root in roots:
        path = resolve(runner, path, root)
    return path


def _is_path_list(value: str) -> bool:
    first = next((part for part in value.split(":") if part), "")
    return first.startswith("/")


def _speaks_of_home(value: str) -> bool:
    return any(part == HOME or part.startswith(HOME + "/") for part in value.split(":"))


def clean(
    runner: Runner, env: Dict[str, str], roots: Sequence[str], pins: Dict[str, str]
) -> Tuple[Dict[str, str], List[str]]:
    """(environment fit to be kept, names left out because they hang on the caller's home).

    Search paths lose empty and repeated elements, and paths below the install roots name one version. EnvError when a
    value cannot stand in a file, or a path still goes over a link that moves.
    """
    kept = {}
    left_out = []
    for name in sorted(env):
        value = env[name]
        if _speaks_of_home(value):
            left_out.append(name)
            continue
        if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise EnvError("%s has a control character or is not UTF-8 and cannot stand in an environment file." % name)
        if _is_path_list(value):
            parts = [settle(runner, part, roots, pins) for part in value.split(":") if part]
            for part in parts:
                _refuse_moving(name, part, pins)
            value = ":".join(dict.fromkeys(parts))
        kept[name] = value
    return kept, left_out


def _refuse_moving(name: str, path: str, pins: Dict[str, str]) -> None:
    for link in pins:
        if path == link or path.startswith(link + "/"):
            raise EnvError("%s still goes over %s, which moves with the next install: %s" % (name, link, path))


def need_folders(runner: Runner, env: Dict[str, str], wanted: Dict[str, str]) -> None:
    """EnvError unless each variable names an existing folder at or below the one given for it."""
    for name, folder in sorted(wanted.items()):
        value = env.get(name)
        if value is None:
            raise EnvError("The vendor's scripts do not set %s; is the package complete? Look in %s." % (name, folder))
        if not (value == folder or value.startswith(folder + "/")) or not runner.is_dir(value):
            raise EnvError("The vendor's scripts set %s to %s, wanted is a folder in %s." % (name, value, folder))


# the file -----------------------------------------------------------------------------------------------------------


def render(env: Dict[str, str], comment: str) -> str:
    """KEY="value" lines, sorted. In double quotes bash and systemd know the same four escapes: \\ " $ `."""
    lines = ["# " + comment]
    for name in sorted(env):
        lines.append('%s="%s"' % (name, re.sub(r'([\\"$`])', r"\\\1", env[name])))
    return "\n".join(lines) + "\n"


def parse(text: str) -> Dict[str, str]:
    """The inverse of render(); lines of another form are passed over."""
    env = {}
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match:
            env[match.group(1)] = re.sub(r"\\(.)", r"\1", match.group(2))
    return env
