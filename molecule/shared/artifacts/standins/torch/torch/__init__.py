# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in for torch: versions, ABI, backend auto-loading and a tensor that can add up. No computing library inside.

What it imitates: importing torch loads every backend that registers itself (torch_npu does), unless
TORCH_DEVICE_BACKEND_AUTOLOAD=0; a backend that cannot load makes the import of torch itself fail.
"""

from __future__ import annotations

import importlib.metadata
import os

from torch import _C, version  # noqa: F401
from torch._tensor import Tensor, arange, bfloat16, float16, float32, full, int64, ones, tensor, zeros  # noqa: F401
from torch.version import __version__  # noqa: F401


def compiled_with_cxx11_abi() -> bool:
    """True: all wheels since 2.7 use the new ABI."""
    return _C._GLIBCXX_USE_CXX11_ABI


def _import_device_backends() -> None:
    for backend in importlib.metadata.entry_points(group="torch.backends"):
        try:
            backend.load()()
        except Exception as err:
            raise RuntimeError(
                f"Failed to load the backend extension: {backend.name}. "
                "You can disable extension auto-loading with TORCH_DEVICE_BACKEND_AUTOLOAD=0."
            ) from err


if os.getenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    _import_device_backends()
