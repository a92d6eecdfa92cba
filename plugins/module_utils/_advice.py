# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What to do about an output of conda, pip or a build: the first known cause that it shows, in the user's words.

The most telling signature stands first: pip's closing ``ResolutionImpossible`` follows nearly every other cause.
"""

from __future__ import annotations

import re
from typing import Optional, Sequence, Tuple

Row = Tuple[str, str]

_EVERYWHERE = (
    (r"No space left on device|NoSpaceLeftError", "The disk is full: make room and run again."),
    (
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|CondaSSLError",
        "The server's certificate is not trusted: name the CA bundle of your mirror (pip.cert for pip, "
        "SSL_CERT_FILE in ascend_proxy_env for conda).",
    ),
)  # type: Sequence[Row]

_CONDA = (
    (
        r"PackagesNotFoundError|ResolvePackageNotFound|not available from current channels|nothing provides",
        "The channels do not have this Python: change conda_env_python, or add a channel that has it "
        "to conda_env_channels.",
    ),
    (
        r"UnavailableInvalidChannel|invalid channel|HTTP 404",
        "A channel of conda_env_channels is no channel (a folder needs noarch/repodata.json): correct the address.",
    ),
    (
        r"CondaHTTPError|ConnectionError|Connection (?:refused|failed)|resolve host|name resolution|Max retries",
        "A channel cannot be reached: name a mirror or a folder in conda_env_channels, or a proxy in ascend_proxy_env.",
    ),
    (
        r"ChecksumMismatch|CondaVerificationError|SafetyError|InvalidArchiveError",
        "A conda package arrived damaged: remove /var/cache/ascend-fleet/conda-pkgs and run again.",
    ),
    (r"MD5 mismatch|SHA256 mismatch|size of .* should be", "The installer is damaged: get it again."),
)  # type: Sequence[Row]

_PIP = (
    (
        r"(?:requires? |depends on |satisfies the requirement |distribution found for )(torch==[\w.]+\+cpu)",
        "{0} lies only on PyTorch's CPU index: add that index to pip.extra_index_urls, or put its wheel "
        "among the artifacts.",
    ),
    (
        r"(?:satisfies the requirement|distribution found for) (triton-ascend[^\s]*)",
        "{0} lies only on the Ascend package mirror: add that index to pip.extra_index_urls, or put its wheel "
        "among the artifacts.",
    ),
    (
        r"ReadTimeout|Read timed out|NewConnectionError|Max retries|name resolution|Name or service not known"
        r"|Network is unreachable|Connection refused|ProxyError",
        "The package index cannot be reached: set pip.index_url to a mirror, a proxy in ascend_proxy_env, "
        "or pip.no_index with wheels among the artifacts.",
    ),
    (
        r"distribution found for ([^\s(]+)",
        "{0} is not on the index or in the wheel folder for this Python and platform: add it there, or add an index.",
    ),
    (
        r"(\S+\.whl) is not a supported wheel on this platform",
        "{0} was built for another Python, processor or C library: take the wheel of this platform.",
    ),
    (
        r"DO NOT MATCH THE HASHES|Hashes are required",
        "A package is not the one that was recorded: look at the mirror before anything else.",
    ),
    (
        r"ResolutionImpossible|conflicting dependencies",
        "The requirements contradict each other: take the pins of the release, or change the extra packages "
        "that disagree.",
    ),
)  # type: Sequence[Row]

_BUILD = (
    (
        r"Could not determine chip type|Unable to recognize chip name|npu-smi command not found|SOC version is not set",
        "The build did not find out the chip: set vllm_ascend_soc_version.",
    ),
    (
        r"No CMAKE_CX?X?_?\w*COMPILER could be found|Cannot find CMake executable|gcc: not found|g\+\+: not found"
        r"|(?:gcc|g\+\+|cmake|ninja|make)'?: No such file",
        "A compiler or build tool is missing: set vllm_ascend_packages to install.",
    ),
    (
        r"toolkit package installation directory|ascendc_kernel_cmake|ASCEND_HOME_PATH|set_env\.sh",
        "The build did not find CANN: toolkit and ops of the release must be installed, see role cann.",
    ),
    (
        r"(lib(?:hccl|atb|ascendcl|ascend_hal|ge_runner|graph|acl_op_compiler)\.so)",
        "{0} was not found: the CANN environment (or NNAL, or the driver) is missing or not the release's, "
        "see roles cann and npu_driver.",
    ),
    (
        r"inner_kernel_operator_intf\.h|rope_custom_true_half",
        "The CANN version does not fit this source: take the one of the release.",
    ),
    (
        r"Killed signal terminated program|internal compiler error: Killed|virtual memory exhausted"
        r"|Cannot allocate memory",
        "The compiler ran out of memory: set vllm_ascend_max_jobs to a smaller number.",
    ),
    (
        r"No module named '([\w.]+)'|Cannot import '([\w.]+)'",
        "The build needs the Python module {0}: add its distribution to the build requirements, and to the index "
        "or wheel folder.",
    ),
)  # type: Sequence[Row]


def _first(rows: Sequence[Row], text: str) -> Optional[str]:
    for signature, remedy in rows:
        match = re.search(signature, text)
        if match:
            return remedy.format(*[group for group in match.groups() if group])
    return None


def for_conda(text: str) -> Optional[str]:
    return _first((*_EVERYWHERE, *_CONDA), text)


def for_pip(text: str) -> Optional[str]:
    return _first((*_EVERYWHERE, *_PIP), text)


def for_build(text: str) -> Optional[str]:
    return _first((*_EVERYWHERE, *_BUILD, *_PIP), text)
