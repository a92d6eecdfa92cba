# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""torch.npu, as far as tests, checks and vLLM's start ask it."""

from __future__ import annotations

import re

from torch_npu import _devices

# Chip names as the hardware says them -> first number of the family in get_soc_version().
SOC_VERSIONS = (
    (r"^(Ascend ?)?910B", 220),
    (r"^Ascend910$|^(Ascend ?)?910_?93|910C", 250),
    (r"310P", 200),
    (r"950", 260),
)
NO_BFLOAT16 = range(200, 206)
_state = {"current": 0}


def device_count() -> int:
    return len(_devices.visible_devices())


def is_available() -> bool:
    return device_count() > 0


def current_device() -> int:
    return _state["current"]


def set_device(device) -> None:
    _state["current"] = _index(device)


def synchronize(device=None) -> None:
    """Nothing runs behind the caller's back here."""


def get_device_name(device=None) -> str:
    name = _device(device)["name"]
    return name if name.startswith("Ascend") or not name else f"Ascend{name}"


def get_soc_version() -> int:
    """Number of the chip's family, 223 and the like in the real one; -1 where the chip is not known."""
    name = _device(None)["name"]
    return next((number for pattern, number in SOC_VERSIONS if re.search(pattern, name)), -1)


def check_tensor(device: str, dtype: str) -> None:
    """Refuse a tensor on a device that is not there, and a type that the chip does not compute."""
    _device(device)
    if dtype == "torch.bfloat16" and get_soc_version() in NO_BFLOAT16:
        raise RuntimeError(
            "EZ1001: Tensor self not implemented for DT_BFLOAT16, should be in dtype support list "
            "[DT_FLOAT,DT_FLOAT16,DT_INT32,DT_INT64]."
        )


def _index(device) -> int:
    number = str(_state["current"] if device is None else device).rpartition(":")[2]
    return int(number) if number.isdigit() else _state["current"]


def _device(device) -> dict:
    devices, index = _devices.visible_devices(), _index(device)
    if index >= len(devices):
        raise RuntimeError(
            f"Invalid device ID. ERR00001 PTA invalid parameter: device id {index}, {len(devices)} visible"
        )
    return devices[index]
