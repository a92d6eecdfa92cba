# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The environment of an instance: what it writes stays in its own folder, its HCCL ports are its own."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Mapping, Optional, Sequence

from ansible_collections.ascend.fleet.plugins.module_utils import _launch

FOLDER = "/var/lib/ascend-vllm"
VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\Z")
HCCL_PORT = 60000  # CANN's default
HCCL_PORTS = 32  # how many from there a process takes


class InstanceError(Exception):
    """A definition that cannot be rendered; the text names the instance, the cause and the remedy."""


def environment(name: str, devices: Sequence[str] = ()) -> Dict[str, str]:
    """What every instance gets: all that it writes stays below its own folder, and HCCL ports of its own."""
    folder = "%s/%s" % (FOLDER, name)
    ports = hccl_port(devices)
    return {
        **({"HCCL_IF_BASE_PORT": str(ports)} if ports else {}),
        "HOME": folder,
        "XDG_CACHE_HOME": folder + "/cache",
        "VLLM_CACHE_ROOT": folder + "/cache/vllm",
        "TRITON_CACHE_DIR": folder + "/cache/triton",
        "ASCEND_CACHE_PATH": folder + "/cache/ascend",
        "ASCEND_PROCESS_LOG_PATH": folder + "/log",
        "VLLM_NO_USAGE_STATS": "1",
        "PYTHONUNBUFFERED": "1",
    }


def hccl_port(devices: Sequence[str]) -> Optional[int]:
    """First of the host ports of HCCL for an instance, from its lowest chip, so that no two of a host share them; None
    leaves CANN's own (60000), as for an instance that has the node for itself or for ids beyond any server's.

    Every process on a host takes 60000 and the 31 above it by default, so a second instance of several cards fails.
    """
    chips = [_launch.ID.match(str(word)) for word in devices]
    slots = [int(chip.group(1)) * 2 + int(chip.group(2) or 0) for chip in chips if chip]
    lowest = min(slots, default=0)
    port = HCCL_PORT + HCCL_PORTS * lowest
    return port if lowest and port + HCCL_PORTS <= 65536 else None


def env_text(values: Dict[str, str], name: str, *layers: Optional[Mapping[str, Any]]) -> str:
    """The env file; later layers win over ``values``, None takes a variable away."""
    for layer in layers:
        for key, value in (layer or {}).items():
            if value is None:
                values.pop(key, None)
            elif key == _launch.VISIBLE:
                raise InstanceError("%s: %s is set at each start from devices: leave it out of env." % (name, key))
            else:
                values[key] = env_value(value)
    lines = ["# Written by ascend.fleet; changes are overwritten."]
    lines += [env_line(name, key, values[key]) for key in sorted(values)]
    return "\n".join(lines) + "\n"


def env_value(value: Any) -> str:
    """Text of a variable; YAML's true and false become 1 and 0, the spelling that vLLM and CANN read."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def env_line(name: str, key: str, value: str) -> str:
    """``KEY="value"`` as systemd's EnvironmentFile and bash read it alike."""
    if not VARIABLE.match(key):
        raise InstanceError("%s: %r is no name for an environment variable." % (name, key))
    if any(ord(char) < 32 and char != "\t" for char in value):
        raise InstanceError("%s: %s has a line break or control character: systemd takes none." % (name, key))
    return '%s="%s"' % (key, re.sub(r'([\\"$`])', r"\\\1", value))
