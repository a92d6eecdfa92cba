# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Why a vLLM service did not start, from its journal: the cause in the user's words and what to do next."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Sequence


class Cause(NamedTuple):
    text: str
    remedy: str


class Rule(NamedTuple):
    """{0}, {1} in cause stand for the groups of the pattern."""

    pattern: str
    cause: str
    remedy: str


_MODEL = (
    r"Repository Not Found|not a valid model identifier|We couldn't connect to|does not appear to have a file named"
    r"|No such file or directory: '[^']*(?:config\.json|safetensors)'|is not a folder with a model"
)

# The first rule that fits a line wins, so special ones stand before general ones.
# Sources: vLLM's and vllm-ascend's documents and code, and the reports of their users.
RULES = (
    Rule(
        r"start refused: (.+ is held by .+)",
        "the launcher refused the start: {0}",
        "end that process, or give the instance other devices",
    ),
    Rule(r"start refused: (.+)", "the launcher refused the start: {0}", "compare devices with 'npu-smi info -m'"),
    Rule(r"error: unrecognized arguments: (.+)", "this vLLM does not know {0}", "correct the name in settings"),
    Rule(r"error: argument (\S+?): (.+)", "vLLM does not take this {0}: {1}", "correct it in settings"),
    Rule(
        r"Failed to load environment files: (.+)",
        "an environment file of its unit cannot be read ({0}), most likely that of its runtime",
        "run the role vllm_ascend, or correct runtime of the instance",
    ),
    Rule(r"vllm[^:]*: error: (.+)", "vLLM refused its options: {0}", "correct settings"),
    Rule(
        r"EJ0003|EI0019",
        "an HCCL port (60000 and up) is held by a process that was left over",
        "end that process, or set HCCL_IF_BASE_PORT in env",
    ),
    Rule(r"[Aa]ddress already in use", "its port is taken by another process", "give the instance another port"),
    Rule(
        r"Free memory on device .* is less than desired",
        "another process uses memory of the card",
        "look at the processes in 'npu-smi info', or lower gpu-memory-utilization in settings",
    ),
    Rule(
        r"NPU out of memory|No available memory for the cache blocks|larger than the maximum number of tokens",
        "the model with these settings does not fit into the memory of its cards",
        "lower max-model-len or max-num-seqs in settings, or give the instance more devices",
    ),
    Rule(
        r"NPU card health status is not OK",
        "a card of the instance is not healthy",
        "look at 'npu-smi info -t health -i NPU'",
    ),
    Rule(
        r"dcmi mod(?:ule|el) initiali[sz]ed? failed",
        "the NPU driver refuses the service user or is not ready",
        "run 'npu-smi info' as that user; it must be in the driver's group",
    ),
    Rule(
        r"open device \d+ failed|\b507033\b",
        "a card cannot be opened",
        "look with 'npu-smi info' whether another process or container holds it",
    ),
    Rule(
        r"Invalid device ID|\b107001\b",
        "a logical device id is beyond what the driver offers",
        "compare devices with 'npu-smi info -m'",
    ),
    Rule(
        r"libatb\.so: cannot open shared object",
        "NNAL is not in the environment of the runtime",
        "run the roles cann and vllm_ascend",
    ),
    Rule(
        r"(lib\S+\.so\S*): cannot open shared object file",
        "the library {0} is not in the environment of the runtime",
        "run the roles cann and vllm_ascend, which write that environment",
    ),
    Rule(
        r"Failed to infer device type|No platform detected",
        "the plugin vllm-ascend did not load",
        "import torch_npu and vllm_ascend with the environment of the runtime to see why",
    ),
    Rule(
        r"does not match the installed version's device type",
        "vllm-ascend was built for another chip",
        "build it for this chip with the role vllm_ascend",
    ),
    Rule(
        r"DT_BFLOAT16.*not support|[Bb]float16 is not supported|not support.*bfloat16",
        "this chip has no bfloat16",
        "set dtype to float16 in settings",
    ),
    Rule(
        r"[Uu]nexpected keyword argument|[Ee]xtra inputs are not permitted",
        "additional-config has a key that this release does not know",
        "remove it from settings",
    ),
    Rule(_MODEL, "the model or a file of it is not there", "look at the model folder as the service user"),
    Rule(
        r"ModuleNotFoundError: No module named '([^']+)'",
        "the runtime lacks the Python module {0}",
        "run the role vllm_ascend",
    ),
    Rule(
        r"PermissionError: .*'([^']+)'",
        "the service user may not use {0}",
        "give it the right to read there",
    ),
    Rule(
        r"Timed out waiting for engine core",
        "the engine needs longer to load than vLLM waits",
        "raise VLLM_ENGINE_READY_TIMEOUT_S in env",
    ),
)
_COMPILED = [(re.compile(rule.pattern), rule) for rule in RULES]


def find(lines: Sequence[str]) -> Optional[Cause]:
    """The first rule that any line fits; of several lines that fit it, the newest."""
    for pattern, rule in _COMPILED:
        for line in reversed(lines):
            match = pattern.search(line[:4096])
            if match:
                groups = [" ".join((group or "").split())[:300].rstrip(" :.") for group in match.groups()]
                return Cause(rule.cause.format(*groups), rule.remedy)
    return None
