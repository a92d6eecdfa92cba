# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Renders an instance into its files: vLLM's config, environment, launch description, systemd unit.

Pure: definitions and facts in, text out. Secrets are never looked at here, so no text of these files can hold one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any, Dict, Mapping, Optional, Sequence

from ansible_collections.ascend.fleet.plugins.module_utils import _launch
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, instance_env

CONFIG = "/etc/ascend-fleet/vllm"
LIBEXEC = "/opt/ascend-fleet/libexec"
ENVS = "/opt/ascend-fleet/envs"
RUNTIMES = "/etc/ascend-fleet/runtimes"
UNITS = "/etc/systemd/system"
InstanceError = instance_env.InstanceError
NAME = re.compile(r"^[a-z0-9][a-z0-9_-]{0,47}\Z")
_HERE = os.path.dirname(os.path.abspath(__file__))
_UTILS = os.path.join(os.path.dirname(_HERE), "module_utils")
_ENTRY = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "roles", "vllm_service", "files", "launch.py")
# Written by us; a setting of the same name would say it twice.
OWNED = ("model", "port", "config", "api-key")


def render(instances: Sequence[Mapping[str, Any]], context: Mapping[str, Any]) -> Dict[str, Any]:
    """All instances of a host as the module ``ascend.fleet.instance`` wants them.

    :param context: {stack, row, user, group, device_group, settings, env, stop_timeout, python, device_wait,
        data_dirs}; ``device_group`` is empty when the host has no such group.
    :return: {instances: [...], launcher: {path, entry}}
    :raises InstanceError: see there.
    """
    context = plain(context)
    launcher = launcher_of()
    return {"launcher": launcher, "instances": [_instance(plain(one), context, launcher) for one in instances]}


def launcher_of(entry: str = _ENTRY, siblings: str = _UTILS) -> Dict[str, str]:
    """Where the launcher of this version of the collection lies on a node, and its own text."""

    def source(name: str) -> str:
        return _read(os.path.join(siblings, name + ".py"))

    text = _read(entry)
    return {"path": "%s/%s" % (LIBEXEC, _launch.copied(source, text)[0]), "entry": text}


def plain(value: Any) -> Any:
    """Plain dicts, lists and scalars: what a template hands in may be lazy or tagged."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return value


def runtime_of(identity: str, stack: Mapping[str, Any]) -> Dict[str, Any]:
    """The runtime as its state describes it, or where it will be once it is built (a plan on a bare node)."""
    state = (stack.get("vllm_ascend") or {}).get(identity) or {}
    have = state.get("have") or {}
    prefix = have.get("prefix") or "%s/%s" % (ENVS, identity)
    return {
        "id": identity,
        "prefix": prefix,
        "exec": have.get("exec") or [prefix + "/bin/vllm"],
        "env_file": have.get("env_file") or "%s/%s.env" % (RUNTIMES, identity),
        "vllm": (have.get("versions") or {}).get("vllm"),
    }


def _instance(one: Dict[str, Any], context: Dict[str, Any], launcher: Dict[str, str]) -> Dict[str, Any]:
    name = str(one.get("name") or "")
    if not NAME.match(name):
        raise InstanceError(
            "%r is no name for an instance: lower-case letters, digits, - and _, at most 48, are wanted." % name
        )
    base = {"name": name, "state": one.get("state") or "started", "unit": {"path": _unit_path(name), "content": ""}}
    if base["state"] == "absent":
        return dict(base, files=[], port=one.get("port"))
    if one.get("members"):
        raise InstanceError("%s: members (one model over several nodes) is not built yet: leave it out." % name)
    if not one.get("model"):
        raise InstanceError("%s has no model: give it the folder on the node or the name of the model." % name)
    row = context.get("row") or {}
    runtime = runtime_of(one.get("runtime") or row.get("runtime_id") or "", context.get("stack") or {})
    settings = merged_settings(context.get("settings") or {}, one.get("settings") or {})
    folders = context.get("data_dirs") or []
    known = data.options(runtime["vllm"], folders) or data.options(row.get("options"), folders)
    wanted = dict(
        base,
        port=int(one.get("port") or 8000),
        host=str(settings.get("host") or ""),
        tls=bool(settings.get("ssl-certfile")),
        model=str(one["model"]),
        served_name=served_name(settings, str(one["model"])),
        pooling=settings.get("runner") == "pooling" or settings.get("task") in ("embed", "classify", "score", "reward"),
        runtime=runtime["id"],
        devices=[str(device) for device in one.get("devices") or []],
    )
    wanted["files"] = [
        {"path": "%s/%s.yaml" % (CONFIG, name), "content": config_text(wanted, settings, known)},
        {
            "path": "%s/%s.env" % (CONFIG, name),
            "content": instance_env.env_text(
                instance_env.environment(name, wanted["devices"]), name, context.get("env"), one.get("env")
            ),
        },
        {"path": "%s/%s.json" % (CONFIG, name), "content": description_text(wanted, runtime, context)},
    ]
    wanted["unit"]["content"] = unit_text(wanted, runtime, context, launcher)
    wanted["digest"] = digest([wanted["unit"]] + wanted["files"])
    return wanted


def _unit_path(name: str) -> str:
    return "%s/ascend-vllm-%s.service" % (UNITS, name)


def digest(files: Sequence[Mapping[str, str]]) -> str:
    whole = hashlib.sha256()
    for one in sorted(files, key=lambda item: item["path"]):
        whole.update(("%s\0%s\0" % (one["path"], one["content"])).encode("utf-8"))
    return whole.hexdigest()[:16]


# vLLM's config ------------------------------------------------------------------------------------------------------


def dashed(name: str) -> str:
    """An option name as vLLM spells it: dashes, except behind a dot, where the name of a JSON key begins."""
    head, dot, tail = name.lstrip("-").partition(".")
    return head.replace("_", "-") + dot + tail


def merged_settings(*layers: Mapping[str, Any]) -> Dict[str, Any]:
    """Later layers win, whichever spelling of a name they use; None takes a setting away."""
    result = {}  # type: Dict[str, Any]
    for layer in layers:
        for name, value in layer.items():
            result[dashed(name)] = value
    return {name: value for name, value in result.items() if value is not None}


def served_name(settings: Mapping[str, Any], model: str) -> str:
    name = settings.get("served-model-name")
    if isinstance(name, list):
        name = name[0] if name else None
    return str(name) if name else model


def config_text(wanted: Mapping[str, Any], settings: Mapping[str, Any], known: Optional[Mapping[str, Any]]) -> str:
    """The ``--config`` file, which vLLM turns into command line words (vllm/utils/argparse_utils.py, 0.13 to 0.23).

    Written so that it means the same in each: false is dropped by vLLM, so it becomes ``no-<name>: true``; a dictionary
    was written in Python's spelling by 0.13, so it becomes JSON text; a list is only right for options that take
    several words, else it becomes JSON text too; text is quoted, or ``on`` would become a switch.
    """
    lines = ["# Written by ascend.fleet; changes are overwritten.", "port: %d" % wanted["port"]]
    for name in sorted(settings):
        if name in OWNED:
            raise InstanceError(
                "%s: the setting %s is not taken: use %s of the instance."
                % (wanted["name"], name, {"api-key": "VLLM_API_KEY in secrets", "config": "settings"}.get(name, name))
            )
        line = _setting(name, settings[name], known)
        if line:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _setting(name: str, value: Any, known: Optional[Mapping[str, Any]]) -> Optional[str]:
    """One line of the config, or None when nothing is to be said."""
    if isinstance(value, bool):
        word = name if value else "no-" + name
        # Without a list of options the word is written: a refused start says more than a switch that stays on.
        return "%s: true" % word if value or known is None or "--" + word in known else None
    several = known is None or (known.get("--" + name) or {}).get("nargs") is not None
    if isinstance(value, list) and several:
        return "%s: [%s]" % (name, ", ".join(_scalar(item) for item in value)) if value else None
    return "%s: %s" % (name, _scalar(value))


def _scalar(value: Any) -> str:
    if isinstance(value, (dict, list, bool)):
        return quoted(json.dumps(value, ensure_ascii=False))
    return repr(value) if isinstance(value, (int, float)) else quoted(str(value))


def quoted(text: str) -> str:
    """A YAML string on one line."""
    if any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u2028\u2029\ufeff" for char in text):
        return json.dumps(text)
    return "'%s'" % text.replace("'", "''")


# launch description and unit ----------------------------------------------------------------------------------------


def description_text(wanted: Mapping[str, Any], runtime: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    name = wanted["name"]
    description = {
        "instance": name,
        "unit": "ascend-vllm-%s.service" % name,
        "devices": wanted["devices"],
        "device_wait": int(context.get("device_wait") or 900),
        "folder": "%s/%s" % (instance_env.FOLDER, name),
        "runtime": runtime["id"],
        "argv": runtime["exec"] + ["serve", wanted["model"], "--config", "%s/%s.yaml" % (CONFIG, name)],
    }
    return json.dumps(description, indent=1, ensure_ascii=False) + "\n"


def unit_text(
    wanted: Mapping[str, Any], runtime: Mapping[str, Any], context: Mapping[str, Any], launcher: Mapping[str, str]
) -> str:
    name = wanted["name"]
    python = context.get("python") or runtime["prefix"] + "/bin/python"
    launch = "%s -I -B %s/launch.py" % (_word(python), launcher["path"])
    start = [
        "# Written by ascend.fleet; changes are overwritten. Use `systemctl edit ascend-vllm-%s` for your own." % name,
        "[Unit]",
        "Description=vLLM instance %s (runtime %s)" % (name, runtime["id"]),
        "Wants=network-online.target",
        "After=network-online.target",
        # A start that fails at once again and again ends in a failed unit; one that fails after minutes is tried again.
        "StartLimitIntervalSec=600",
        "StartLimitBurst=5",
        "",
        "[Service]",
        "Type=exec",
        "User=%s" % context["user"],
    ]
    if context.get("group"):
        start.append("Group=%s" % context["group"])
    if context.get("device_group"):
        start.append("SupplementaryGroups=%s" % context["device_group"])
    lines = [
        *start,
        "UMask=0022",
        "SyslogIdentifier=ascend-vllm-%s" % name,
        "StateDirectory=ascend-vllm/%s" % name,
        "StateDirectoryMode=0750",
        "WorkingDirectory=%s/%s" % (instance_env.FOLDER, name),
        "EnvironmentFile=%s" % runtime["env_file"],
        "EnvironmentFile=%s/%s.env" % (CONFIG, name),
        "EnvironmentFile=-%s/%s.secrets" % (CONFIG, name),
        "ExecStartPre=+%s prepare %s/%s.json" % (launch, CONFIG, name),
        "ExecStart=%s start %s/%s.json" % (launch, CONFIG, name),
        "Restart=on-failure",
        "RestartSec=10",
        # 78: the launcher refuses; 2: vLLM does not know an option. Trying again cannot help.
        "RestartPreventExitStatus=2 %d" % _launch.REFUSED,
        # vLLM ignores SIGTERM while it loads: the stop is bounded, and then its workers go with it.
        "KillMode=mixed",
        "TimeoutStopSec=%d" % int(context.get("stop_timeout") or 120),
        "LimitNOFILE=1048576",
        "LimitMEMLOCK=infinity",
        "LimitNPROC=infinity",
        "TasksMax=infinity",
        "NoNewPrivileges=yes",
        # The device nodes of the NPUs must stay visible, so no PrivateDevices and no DeviceAllow.
        "PrivateTmp=yes",
        "ProtectSystem=full",
        "ProtectHome=read-only",
        "ProtectControlGroups=yes",
        "ProtectKernelModules=yes",
        "RestrictSUIDSGID=yes",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    """One word of an Exec line."""
    if re.search(r"[\s\"'\\$%;]", text):
        raise InstanceError("the path %r cannot be used in a unit: it has blanks or quotes." % text)
    return text


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as handle:
        return handle.read()
