# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The NPU platform: which vLLM it fits, which chip it was built for, which devices an engine takes."""

from __future__ import annotations

import os

import torch
import torch_npu
import vllm
from packaging.version import InvalidVersion, Version
from torch_npu import _devices

from vllm_ascend import _build_info

WANTED_VLLM = "@VLLM@"
SOC_FAMILIES = {"A2": range(220, 226), "A3": range(250, 256), "_310P": range(200, 206), "A5": range(260, 261)}


def _vllm_fits() -> bool:
    """Compares vllm.__version__ (or VLLM_VERSION) as a whole: a local suffix makes it another version."""
    found = os.environ.get("VLLM_VERSION") or vllm.__version__
    try:
        return Version(found) == Version(WANTED_VLLM)
    except InvalidVersion:
        raise ValueError(
            f"Invalid vllm version {found} found. A dev version of vllm is installed probably. "
            "Set the environment variable VLLM_VERSION to control it by hand. "
            "And please make sure the value follows the format of x.y.z."
        ) from None


class NPUPlatform:
    """What the stand-in of vLLM asks its platform."""

    device_module = torch_npu.npu

    def __init__(self) -> None:
        if not _vllm_fits():
            # Patches for another vLLM are chosen then, and the first one that does not fit ends the start.
            raise AttributeError(
                "module 'vllm.v1.engine.utils' has no attribute 'get_physical_gpu_ids_for_local_dp_rank'"
            )

    def check_device_type(self) -> None:
        """Raises AssertionError when the package was built for another chip than the one that is there."""
        soc = self.device_module.get_soc_version() if self.device_module.is_available() else -1
        current = next((name for name, numbers in SOC_FAMILIES.items() if soc in numbers), None)
        built = _build_info.__device_type__
        assert current in (built, None), (
            f"Current device type: AscendDeviceType.{current} does not match the installed version's device type: "
            f"AscendDeviceType.{built}, please check your installation package."
        )

    def take_devices(self, size: int, dtype: str) -> list[int]:
        """Open the device nodes of SIZE devices and compute a little on each; the open handles hold the devices."""
        devices = _devices.visible_devices()
        assert size <= len(devices), (
            f"local_world_size ({size}) must be less than or equal to the number of visible devices ({len(devices)})."
        )
        handles = []
        for index, device in enumerate(devices[:size]):
            node = f"/dev/davinci{device['phy']}"
            if os.path.exists(node):
                handles.append(os.open(node, os.O_RDWR | os.O_CLOEXEC))
            torch.ones(4, device=f"npu:{index}", dtype=f"torch.{dtype}").sum().item()
        return handles

    def describe(self) -> str:
        """Logical ids of the visible devices and their chip, for answers that say where they come from."""
        devices = _devices.visible_devices()
        if not devices:
            return "no device"
        ids = ",".join(str(device["logic"]) for device in devices)
        return f"devices {ids} of {self.device_module.get_device_name(0) or 'an unknown chip'}"
