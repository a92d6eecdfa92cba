# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The environment file of a runtime: what its processes need, without a shell."""

from __future__ import annotations

from typing import Dict, List

from . import _script_env
from ._runner import Runner

DRIVER_LIBRARIES = tuple("/usr/local/Ascend/driver/lib64" + part for part in ("", "/common", "/driver"))


def variables(runner: Runner, cann: Dict[str, str], prefix: str) -> Dict[str, str]:
    """CANN's variables, the env's programs first in PATH, the driver's libraries last among the libraries.

    The vendor's scripts leave the driver's libraries out on hosts where they ran before the driver came.
    """
    found = dict(cann)
    usual = _script_env.PATH.split(":")
    found["PATH"] = _joined([prefix + "/bin", *cann.get("PATH", "").split(":"), *usual])
    libraries = cann.get("LD_LIBRARY_PATH", "").split(":")
    libraries += [path for path in DRIVER_LIBRARIES if runner.is_dir(path)]
    if _joined(libraries):
        found["LD_LIBRARY_PATH"] = _joined(libraries)
    found["PYTHONNOUSERSITE"] = "1"
    return found


def _joined(parts: List[str]) -> str:
    return ":".join(dict.fromkeys(part for part in parts if part))


def text(runner: Runner, cann: Dict[str, str], prefix: str, runtime: str) -> str:
    """The whole file. Same inputs, same text: drift is judged by it."""
    comment = "Environment of the runtime %s. Made by ascend.fleet; changes here are undone." % runtime
    return _script_env.render(variables(runner, cann, prefix), comment)
