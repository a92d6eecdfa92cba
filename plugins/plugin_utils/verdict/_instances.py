# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Definitions of instances: the shape alone, without the node."""

from __future__ import annotations

import difflib
from typing import Any, Dict, List

from ansible_collections.ascend.fleet.plugins.plugin_utils import instance_files
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain

KINDS = {
    "name": "text",
    "state": "text",
    "runtime": "text",
    "model": "text",
    "devices": "list",
    "port": "port",
    "settings": "dictionary",
    "env": "dictionary",
    "secrets": "dictionary",
    "members": "any",
}
STATES = ("started", "stopped", "absent")
PORTS = (1024, 65535)
DEFAULT_PORT = 8000
TYPES = {"text": str, "list": (list, tuple), "dictionary": dict}


def sound(ctx: Context) -> List[Dict[str, Any]]:
    """The instances whose definition has a shape to go on with; what is wrong with the others is said.

    :return: dictionaries with state, port, settings (merged with the role's) and env (likewise) filled in.
    """
    found = []
    instances = ctx.settings.get("vllm_service_instances")
    if instances is not None and not isinstance(instances, (list, tuple)):
        ctx.say(
            "vllm_service.instance.malformed",
            "vllm_service_instances is no list",
            "a list of instances",
            "Write each instance as an element with a dash before it.",
        )
    for number, one in enumerate(items(instances), 1):
        if not isinstance(one, dict):
            ctx.say(
                "vllm_service.instance.malformed",
                "element %d of vllm_service_instances is no dictionary" % number,
                "a dictionary with name and model",
                "Correct the element: its keys are %s." % ", ".join(KINDS),
            )
        elif _shape(ctx, one, number):
            found.append(_filled(ctx, one))
    _unique(ctx, found)
    return found


def _shape(ctx: Context, one: Dict[str, Any], number: int) -> bool:
    """Say what is wrong; True when the rest of the judges can work with it."""
    name = one.get("name")
    if name in (None, ""):
        ctx.say(
            "vllm_service.instance.key_missing",
            "element %d of vllm_service_instances has no name" % number,
            "a name",
            "Give it a name.",
        )
        return False
    name = str(name)
    if not instance_files.NAME.match(name):
        ctx.say(
            "vllm_service.instance.name_invalid",
            name,
            "lower-case letters, digits, - and _, at most 48",
            "Rename the instance.",
            instance=name,
        )
        return False
    good = True
    for key, value in one.items():
        kind = KINDS.get(key)
        if kind is None:
            near = difflib.get_close_matches(str(key), list(KINDS), n=1, cutoff=0.6)
            ctx.say(
                "vllm_service.instance.key_unknown",
                "%s: %s" % (name, key),
                near[0] if near else "one of %s" % ", ".join(KINDS),
                "Did you mean %s?" % near[0] if near else "Options of vLLM belong into settings, variables into env.",
                instance=name,
            )
        elif kind in TYPES and value is not None and not isinstance(value, TYPES[kind]):
            good = False
            ctx.say(
                "vllm_service.instance.malformed",
                "%s: %s is no %s" % (name, key, kind),
                "a %s" % kind,
                "Correct %s of %s." % (key, name),
                instance=name,
            )
    return _values(ctx, one, name) and good


def _values(ctx: Context, one: Dict[str, Any], name: str) -> bool:
    state = one.get("state") or "started"
    if state not in STATES:
        ctx.say(
            "vllm_service.instance.state_invalid",
            "%s: %s" % (name, state),
            " or ".join(STATES),
            "Correct state of %s." % name,
            instance=name,
        )
        return False
    if one.get("members"):
        ctx.say(
            "vllm_service.members.unsupported",
            "%s: members is set" % name,
            "one instance on one node",
            "An instance over several nodes is not built yet: take members out.",
            instance=name,
        )
    if not one.get("model") and state != "absent":
        ctx.say(
            "vllm_service.instance.key_missing",
            "%s has no model" % name,
            "a folder on the node or the name of a model",
            "Set model of %s." % name,
            instance=name,
        )
    port = one.get("port")
    if port is not None and not _is_port(port):
        ctx.say(
            "vllm_service.port.invalid",
            "%s: %s" % (name, port),
            "%d to %d" % PORTS,
            "Correct port of %s." % name,
            instance=name,
        )
        return False
    return True


def _is_port(value: Any) -> bool:
    text = str(value)
    return not isinstance(value, bool) and text.isdecimal() and PORTS[0] <= int(text) <= PORTS[1]


def _filled(ctx: Context, one: Dict[str, Any]) -> Dict[str, Any]:
    settings = instance_files.merged_settings(
        plain(ctx.settings.get("vllm_service_settings")), plain(one.get("settings"))
    )
    env = dict(plain(ctx.settings.get("vllm_service_env")), **plain(one.get("env")))
    return dict(
        one,
        name=str(one["name"]),
        state=one.get("state") or "started",
        port=int(one.get("port") or DEFAULT_PORT),
        settings=settings,
        env={str(key): value for key, value in env.items()},
        devices=items(one.get("devices")),
    )


def _unique(ctx: Context, instances: List[Dict[str, Any]]) -> None:
    names = {}  # type: Dict[str, int]
    ports = {}  # type: Dict[int, str]
    for one in instances:
        name, port = one["name"], one["port"]
        names[name] = names.get(name, 0) + 1
        if names[name] == 2:
            ctx.say(
                "vllm_service.instance.name_duplicate",
                "two instances %s" % name,
                "names that differ",
                "Rename one of them.",
                instance=name,
            )
        if one["state"] == "absent":
            continue
        if port in ports and ports[port] != name:
            ctx.say(
                "vllm_service.port.duplicate",
                "%s and %s both have port %d" % (ports[port], name, port),
                "ports that differ",
                "Set port of %s to a free one." % name,
                instance=name,
            )
        ports.setdefault(port, name)
