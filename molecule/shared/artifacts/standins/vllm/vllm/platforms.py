# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Finds the platform plugin, as vLLM does: an entry point in the group vllm.platform_plugins."""

from __future__ import annotations

import importlib
import importlib.metadata
import os

from vllm.log import log

GROUP = "vllm.platform_plugins"


def current_platform():
    """Instance of the one active platform. Raises RuntimeError where no plugin offers itself."""
    allowed = os.environ.get("VLLM_PLUGINS")
    active = {}
    for plugin in importlib.metadata.entry_points(group=GROUP):
        if allowed is not None and plugin.name not in allowed.split(","):
            continue
        try:
            name = plugin.load()()
        except ImportError as err:
            log("ERROR", "__init__.py:68", f"Failed to load plugin {plugin.name}: {err}")
            continue
        if name:
            active[plugin.name] = name
    if not active:
        raise RuntimeError(
            "Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG` "
            "to turn on verbose logging to help debug the issue."
        )
    if len(active) > 1:
        raise RuntimeError(f"Only one platform plugin can be activated, but got: {sorted(active)}")
    name, path = next(iter(active.items()))
    log("INFO", "__init__.py:217", f"Platform plugin {name} is activated")
    module, attribute = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), attribute)()
