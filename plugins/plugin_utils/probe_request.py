# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""What one probe call must ask so that every layer can be judged by its answer, from the variables of the host.

Nothing here refuses a variable of the wrong kind: it is left out of the question, and the judge names it.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping

from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts

# Folders that layers write to, whatever the variables say.
FOLDERS = (
    "/var/lib/ascend-fleet",
    "/var/cache/ascend-fleet",
    "/etc/ascend-fleet",
    "/opt/ascend-fleet",
    "/tmp",
    "/var/tmp",
)
FOLDER_VARIABLES = ("cann_install_path", "cann_tmp_dir", "conda_env_base", "conda_env_root")
GROUPS = ("HwHiAiUser",)
# What the modules call, and what a source build needs.
COMMANDS = (
    "bash", "sha256sum", "tar", "gzip", "timeout", "systemctl", "ip",
    "gcc", "g++", "make", "cmake", "ninja", "git",
)  # fmt: skip


def request(value: Callable[[str], Any]) -> Dict[str, List[str]]:
    """Options of the module ``probe``: lists of paths, users, groups, commands, read, envs, units, models, cann_roots.

    :param value: gives the host's value of a variable, its role's default, or None.
    """
    instances = [item for item in _list(value("vllm_service_instances")) if isinstance(item, Mapping)]
    users = _texts([value("vllm_service_user")])
    asked = {
        "paths": _paths([*FOLDERS, *(value(name) for name in FOLDER_VARIABLES)]),
        "users": users,
        "groups": _texts([*GROUPS, value("vllm_service_device_group"), value("vllm_service_group"), *users]),
        "commands": list(COMMANDS),
        "read": _manifests(value("ascend_artifacts")),
        "envs": _paths([value("conda_env_base"), value("vllm_ascend_env")]),
        "units": ["ascend-vllm-%s.service" % name for name in _texts(item.get("name") for item in instances)],
        "models": _paths(item.get("model") for item in instances),
        "cann_roots": _paths([value("cann_install_path")]),
    }
    return {name: words for name, words in asked.items() if words}


def merged(asked: Mapping[str, List[str]], given: Mapping[str, Any]) -> Dict[str, Any]:
    """The request with a task's own options: lists are joined, other options are the task's."""
    options = dict(given)
    for name, words in asked.items():
        options[name] = _texts([*words, *_list(given.get(name))])
    return options


def _manifests(sources: Any) -> List[str]:
    try:
        return artifacts.node_manifests(sources)
    except artifacts.ArtifactError:
        return []


def _list(value: Any) -> List[Any]:
    if isinstance(value, str):  # as typed on a command line: paths=/opt,/srv
        return value.split(",")
    return list(value) if isinstance(value, (list, tuple)) else []


def _texts(values: Iterable[Any]) -> List[str]:
    """The texts that are not empty, each once, in order."""
    return list(dict.fromkeys(item.strip() for item in values if isinstance(item, str) and item.strip()))


def _paths(values: Iterable[Any]) -> List[str]:
    return [item for item in _texts(values) if item.startswith("/")]
