# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in for torch_npu: what it demands of the environment, and how many devices it sees. No computing inside."""

from __future__ import annotations

from torch_npu import _cann, npu
from torch_npu.version import __version__  # noqa: F401

_cann.load_libraries()
_cann.check_environment()


def _register() -> None:
    import torch
    from torch import _tensor

    torch.npu = npu
    _tensor.device_hooks[:] = [npu.check_tensor]


def _autoload() -> None:
    """Called by torch for the entry point in the group torch.backends; importing this module did the work."""


_register()
