# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _advice, _conda


def test_conda_asks_only_the_named_channels():
    argv = _conda.create("/c/bin/conda", "/e", "3.12", ["/srv/channel/", "conda-forge"], offline=True)
    assert argv[argv.index("--override-channels") :] == [
        "--override-channels",
        "--channel",
        "file:///srv/channel",
        "--channel",
        "conda-forge",
        "--offline",
        "python=3.12",
        "pip",
    ]
    assert "--offline" not in _conda.create("/c/bin/conda", "/e", "3.12", ["conda-forge"], offline=False)


@pytest.mark.parametrize("prefix", ["relative", "/a b/c", "/opt/base", "/opt/root/", "/opt/../etc"])
def test_a_prefix_that_conda_or_its_scripts_cannot_carry_is_named(prefix):
    assert _conda.bad_prefix(prefix)


def test_a_usual_prefix_and_channel_are_fine():
    assert _conda.bad_prefix("/opt/ascend-fleet/envs/0.23.0-1a2b3c4d") is None
    assert _conda.bad_channel("/srv/channel") is None
    assert _conda.bad_channel("/srv/mine.conda/") is not None


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [("3.12", "3.12.4", True), ("3.1", "3.12.4", False), ("3.12", "3.12", True), ("3.12", None, False)],
)
def test_a_python_line_is_compared_by_its_parts(want, have, same):
    assert _conda.same_line(want, have) is same


@pytest.mark.parametrize(
    ("text", "version"),
    [("conda 24.7.1\n", "24.7.1"), ("warning\nconda 4.6.14", "4.6.14"), ("mamba 2", None), ("", None)],
)
def test_the_version_of_conda(text, version):
    assert _conda.version(text) == version


@pytest.mark.parametrize(
    ("output", "word"),
    [
        (
            "ERROR: Cannot install torch-npu because these package versions have conflicting dependencies.\n"
            "    torch-npu 2.10.0.post4 depends on torch==2.10.0+cpu\nERROR: ResolutionImpossible",
            "torch==2.10.0+cpu lies only on PyTorch's CPU index",
        ),
        ("ERROR: No matching distribution found for torch==2.10.0+cpu", "CPU index"),
        ("ERROR: No matching distribution found for triton-ascend==3.2.2", "triton-ascend==3.2.2 lies only on"),
        ("ERROR: No matching distribution found for einops", "einops is not on the index"),
        ("WARNING: Retrying ... NewConnectionError\nERROR: No matching distribution found for a", "cannot be reached"),
        ("ERROR: a-1-cp311-cp311-linux_x86_64.whl is not a supported wheel on this platform.", "another Python"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: ResolutionImpossible: for help visit", "contradict"),
        ("SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED'))", "not trusted"),
    ],
)
def test_a_failure_of_pip_names_its_cause(output, word):
    assert word in _advice.for_pip(output)


@pytest.mark.parametrize(
    ("output", "word"),
    [
        ("PackagesNotFoundError: The following packages are not available from current channels:", "conda_env_python"),
        ("UnavailableInvalidChannel: HTTP 404 NOT FOUND for channel x", "noarch/repodata.json"),
        ("CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://x>", "cannot be reached"),
        ("ChecksumMismatchError: Conda detected a mismatch", "damaged"),
    ],
)
def test_a_failure_of_conda_names_its_cause(output, word):
    assert word in _advice.for_conda(output)


@pytest.mark.parametrize(
    ("output", "word"),
    [
        ("RuntimeError: Could not determine chip type automatically via 'npu-smi'", "vllm_ascend_soc_version"),
        ("Please set the toolkit package installation directory", "did not find CANN"),
        ("ImportError: libhccl.so: cannot open shared object file", "libhccl.so was not found"),
        ("No CMAKE_CXX_COMPILER could be found", "vllm_ascend_packages"),
        ("c++: fatal error: Killed signal terminated program cc1plus", "vllm_ascend_max_jobs"),
        ("ModuleNotFoundError: No module named 'setuptools_scm'", "setuptools_scm"),
        ("pip._vendor.pyproject_hooks: Cannot import 'setuptools.build_meta'", "setuptools.build_meta"),
    ],
)
def test_a_failure_of_a_build_names_its_cause(output, word):
    assert word in _advice.for_build(output)


@pytest.mark.parametrize("advice", [_advice.for_conda, _advice.for_pip, _advice.for_build])
def test_an_unknown_failure_has_no_invented_cause(advice):
    assert advice("something else") is None
    assert advice("") is None
