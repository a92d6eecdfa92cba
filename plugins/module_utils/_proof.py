# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Proof that a runtime is what it says, without touching a card.

Asked are the programs themselves, with the runtime's environment file and no shell, and the files that a build left.
"""

from __future__ import annotations

import re
from typing import Mapping, NamedTuple, Optional, Sequence

from . import _advice, _envs
from ._conda_env import marked
from ._runner import Runner
from ._version import compare
from ._work import Failed, Work

# What vllm-ascend calls the chips of a family; its worker refuses to start on another one.
DEVICE_TYPES = {"910b": "A2", "a3": "A3", "310p": "_310P", "950": "A5"}
# Older builds wrote the chip itself.
_SOC = (("ascend910b", "A2"), ("ascend910_93", "A3"), ("ascend310p", "_310P"), ("ascend950", "A5"))
_ASSIGNED = re.compile(r"""^__(device_type|soc_version)__\s*=\s*['"]([^'"]+)['"]""", re.MULTILINE)
_ABI = "import json, torch; print('ascend-fleet ' + json.dumps({'abi': int(torch.compiled_with_cxx11_abi())}))"
_VLLM = "import json, vllm; print('ascend-fleet ' + json.dumps({'vllm': str(vllm.__version__)}))"


class Expected(NamedTuple):
    """What must come out."""

    vllm: str
    cxx_abi: int
    family: str


def device_type(runner: Runner, prefix: str) -> Optional[str]:
    """Chip type that the installed vllm-ascend was built for, or None when it does not tell."""
    site = _envs.site_packages(runner, prefix)
    text = runner.read("%s/vllm_ascend/_build_info.py" % site) if site else None
    said = dict(_ASSIGNED.findall(text or ""))
    if "device_type" in said:
        return said["device_type"]
    soc = said.get("soc_version", "").lower()
    return next((kind for start, kind in _SOC if soc.startswith(start)), None)


def bare(environment: Mapping[str, str], home: str, argv: Sequence[str]) -> Sequence[str]:
    """argv in exactly this environment: what systemd will give it."""
    return ["env", "-i", "HOME=" + home, *("%s=%s" % pair for pair in sorted(environment.items())), *argv]


def prove(work: Work, prefix: str, environment: Mapping[str, str], expected: Expected) -> Optional[str]:
    """Device type of a runtime that works; Failed with what does not fit and what to do."""
    _prove_abi(work, prefix, expected.cxx_abi)
    _prove_version(work, prefix, environment, expected.vllm)
    built_for, wanted = device_type(work.runner, prefix), DEVICE_TYPES.get(expected.family)
    if wanted and built_for != wanted:
        raise Failed(
            "vllm-ascend in %s was built for %s, the chips here are %s. Correct vllm_ascend_soc_version and run again."
            % (prefix, built_for or "no chip that it tells", wanted)
        )
    return built_for


def _prove_abi(work: Work, prefix: str, cxx_abi: int) -> None:
    said = marked(
        work.call(
            [prefix + "/bin/python", "-c", _ABI],
            "Importing torch",
            env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
            advice=_advice.for_build,
        ).out
    )
    if said.get("abi") != cxx_abi:
        raise Failed(
            "torch in %s has the C++ ABI %s, the CANN environment was made for %s. Set cxx_abi in ascend_overrides "
            "and run the roles cann and vllm_ascend again." % (prefix, said.get("abi"), cxx_abi)
        )


def _prove_version(work: Work, prefix: str, environment: Mapping[str, str], vllm: str) -> None:
    """`vllm --version` works, and vllm.__version__ is the plain number that vllm-ascend compares with."""
    answer = work.call(
        bare(environment, work.home, [prefix + "/bin/vllm", "--version"]),
        "Asking vllm for its version, with the runtime's environment file,",
        advice=_advice.for_build,
    )
    words = answer.out.split()
    said = marked(
        work.call(
            bare(environment, work.home, [prefix + "/bin/python", "-c", _VLLM]),
            "Importing vllm, with the runtime's environment file,",
            advice=_advice.for_build,
        ).out
    )
    shown = words[-1].partition("+")[0] if words else None
    if compare(shown, vllm) != 0 or said.get("vllm") != vllm:
        raise Failed(
            "vllm in %s calls itself %s (%s inside), vllm-ascend works only with exactly %s. Take the source archive "
            "of that release, or a clean checkout of its tag." % (prefix, shown, said.get("vllm"), vllm)
        )
