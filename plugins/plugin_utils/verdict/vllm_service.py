# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Instances against the node: runtime, devices, ports. The rest is in _instances and _settings."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ansible_collections.ascend.fleet.plugins.plugin_utils import devices
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict import _instances, _settings
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain

# Settings that multiply to the number of devices of an instance on this node.
SIZES = ("tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size")
LOCAL = ("data-parallel-size-local", "data-parallel-size")


def judge(ctx: Context) -> None:
    taken = {}  # type: Dict[str, str]
    for one in _instances.sound(ctx):
        if one["state"] == "absent":
            continue
        _settings.judge(ctx, one)
        _runtime(ctx, one)
        _port(ctx, one)
        _devices(ctx, one, taken)


def unit_of(name: str) -> str:
    return "ascend-vllm-%s.service" % name


def _running(ctx: Context, name: str) -> bool:
    return plain(plain(ctx.facts.get("ascend_units")).get(unit_of(name))).get("active") in (
        "active",
        "activating",
        "deactivating",
        "reloading",
    )


def _runtime(ctx: Context, one: Dict[str, Any]) -> None:
    """In check mode, and when the runtime's own layer is about to be made, its absence is no finding."""
    rid = str(one.get("runtime") or ctx.row.get("runtime_id") or "")
    if not rid or "ascend_stack" not in ctx.facts:
        return
    state = ctx.complete("vllm_ascend", rid)
    if state is None:
        will_be = rid == ctx.row.get("runtime_id") and (ctx.check or ctx.planned("vllm_ascend"))
        if not will_be and one["state"] == "started":
            there = sorted(key for key in plain(ctx.stack.get("vllm_ascend")) if ctx.complete("vllm_ascend", key))
            ctx.say(
                "vllm_service.runtime.missing",
                "%s: no runtime %s" % (one["name"], rid),
                "one of %s" % ", ".join(there) if there else "a runtime on the node",
                "Run the role vllm_ascend first (tag vllm_ascend), or correct runtime of %s." % one["name"],
                instance=one["name"],
            )
        return
    family = plain(state.get("have")).get("family")
    if family and ctx.family and family != ctx.family:
        ctx.say(
            "vllm_service.runtime.family",
            "%s: runtime %s is for %s" % (one["name"], rid, family),
            "a runtime for %s" % ctx.family,
            "Build the runtime on this host, or correct runtime of %s." % one["name"],
            instance=one["name"],
        )


def _port(ctx: Context, one: Dict[str, Any]) -> None:
    name, port = one["name"], one["port"]
    low, high = ctx.tables["os"]["hccl_ports"]["range"]
    if low <= port <= high:
        ctx.say(
            "vllm_service.port.reserved",
            "%s: port %d" % (name, port),
            "a port outside %d to %d" % (low, high),
            "Choose another port; HCCL takes these on the host.",
            source=ctx.tables["os"]["hccl_ports"]["source"],
            instance=name,
        )
    if one["state"] != "started" or port not in items(ctx.host.get("ports")):
        return
    owner = plain(plain(ctx.host.get("port_owners")).get(str(port)))
    ours = owner.get("unit") == unit_of(name) or (not owner.get("unit") and _running(ctx, name))
    if not ours and not _moves_away(ctx, owner.get("unit"), port):
        who = (
            "process %s (%s)" % (owner.get("pid"), owner.get("unit") or owner.get("command") or "name unknown")
            if owner
            else "a process that we cannot see"
        )
        ctx.say(
            "vllm_service.port.taken",
            "%s: %s listens on port %d" % (name, who, port),
            "a free port",
            "End that process, or set another port for %s." % name,
            evidence=owner.get("command"),
            instance=name,
        )


def _moves_away(ctx: Context, unit: Optional[str], port: int) -> bool:
    """Whether the port belongs to an instance of ours that this very run stops, removes or gives another port."""
    for one in items(ctx.settings.get("vllm_service_instances")):
        if unit and isinstance(one, dict) and unit_of(str(one.get("name"))) == unit:
            return one.get("state") in ("stopped", "absent") or str(one.get("port") or _instances.DEFAULT_PORT) != str(
                port
            )
    return False


def _devices(ctx: Context, one: Dict[str, Any], taken: Dict[str, str]) -> None:
    """Devices of an instance: named rightly, there, well, free, shared with no other, as many as the sizes need."""
    if not plain(ctx.npu.get("smi")).get("usable"):
        return
    listed = devices.listed(ctx.npu)
    chosen = _chosen(ctx, one, listed)
    for device in chosen:
        label = devices.label(device)
        if devices.sick(device) or devices.silent(device):
            ctx.say(
                "vllm_service.device.sick",
                "%s: device %s: health %s" % (one["name"], label, device.get("health") or "not given"),
                "OK",
                "Give %s other devices until this one is OK." % one["name"],
                instance=one["name"],
            )
        if label in taken and taken[label] != one["name"]:
            ctx.say(
                "vllm_service.device.shared",
                "%s and %s both name device %s" % (taken[label], one["name"], label),
                "devices of their own",
                "Correct devices of one of them.",
                instance=one["name"],
            )
        taken.setdefault(label, one["name"])
    if one["state"] == "started":
        _held(ctx, one, chosen)
    if chosen:
        _sizes(ctx, one, len(chosen))


def _chosen(ctx: Context, one: Dict[str, Any], listed: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """What the instance asks for; no devices means all of the node."""
    if not one["devices"]:
        return listed
    chosen = []  # type: List[Dict[str, Any]]
    for word in one["devices"]:
        asked = devices.choose(listed, word)
        if not asked.valid:
            ctx.say(
                "vllm_service.device.invalid",
                "%s: device %s" % (one["name"], asked.word),
                "npu or npu:chip as `npu-smi info -m` prints them",
                "Correct devices of %s and write each id in quotes." % one["name"],
                instance=one["name"],
            )
        elif not asked.found:
            quotes = isinstance(word, int) and word >= 60
            ctx.say(
                "vllm_service.device.absent",
                "%s: no device %s" % (one["name"], asked.word),
                "one of %s" % ", ".join(devices.label(device) for device in listed),
                "Write the ids in quotes: YAML reads 1:0 without quotes as the number 60."
                if quotes
                else "Correct devices of %s." % one["name"],
                instance=one["name"],
            )
        chosen += [device for device in asked.found if device not in chosen]
    return chosen


def _held(ctx: Context, one: Dict[str, Any], chosen: List[Dict[str, Any]]) -> None:
    """Processes on the devices that are not ours. A process of which nothing is known is taken for one of the instance
    that runs on the device by its state; an instance of this run gives up its devices by itself."""
    ours = {unit_of(other["name"]) for other in _named(ctx)}
    running = _running_units(ctx)
    for device in chosen:
        label = devices.label(device)
        for process in _processes(ctx, device):
            owner = process.get("unit") or process.get("container") or running.get(label)
            if owner in ours or (owner is None and _running(ctx, one["name"])):
                continue
            who = owner or process.get("command") or process.get("name") or "name unknown"
            ctx.say(
                "vllm_service.device.held",
                "%s: device %s is used by process %s (%s)" % (one["name"], label, process.get("pid"), who),
                "a free device",
                "End that process, or choose other devices for %s." % one["name"],
                instance=one["name"],
            )


def _named(ctx: Context) -> List[Dict[str, Any]]:
    """Instances of this run that have a name, whatever else is wrong with them."""
    found = [plain(other) for other in items(ctx.settings.get("vllm_service_instances"))]
    return [other for other in found if isinstance(other.get("name"), str)]


def _running_units(ctx: Context) -> Dict[str, str]:
    """Device -> unit, for the instances that run by their unit and have the device by their state."""
    listed = devices.listed(ctx.npu)
    found = {}  # type: Dict[str, str]
    for name, state in plain(ctx.stack.get("vllm_service")).items():
        if _running(ctx, name):
            words = items(plain(plain(state).get("have")).get("devices"))
            taken = [device for word in words for device in devices.choose(listed, word).found] if words else listed
            found.update({devices.label(device): unit_of(name) for device in taken})
    return found


def _processes(ctx: Context, device: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Holders of a device when the probe asked for them (they know the unit), else what npu-smi lists."""
    label, found = devices.label(device), {}  # type: str, Dict[Any, Dict[str, Any]]
    for process in items(ctx.npu.get("processes")):
        same = plain(process).get("npu_id") == device.get("npu_id") and process.get("chip_id") in (
            None,
            device.get("chip_id"),
        )
        if same:
            found[process.get("pid")] = process
    for holder in items(ctx.npu.get("holders")):
        if plain(holder).get("device") in (label, "/dev/davinci%s" % device.get("phy_id")):
            found[holder.get("pid")] = dict(found.get(holder.get("pid"), {}), **holder)
    return list(found.values())


def _sizes(ctx: Context, one: Dict[str, Any], have: int) -> None:
    settings = one["settings"]
    need = 1
    words = []
    for names in [(name,) for name in SIZES] + [LOCAL]:
        name = next((option for option in names if option in settings), None)
        size = _settings.whole(settings.get(name)) if name else None
        if size:
            need *= size
            words.append("%s %d" % (name, size))
    said = " and ".join(words) or "tensor-parallel-size 1 by default"
    if need > have:
        ctx.say(
            "vllm_service.parallel.too_big",
            "%s: %s on %d devices" % (one["name"], said, have),
            "at most %d" % have,
            "Lower the sizes or give %s %d devices." % (one["name"], need),
            instance=one["name"],
        )
    elif need < have:
        ctx.say(
            "vllm_service.parallel.too_small",
            "%s: %s on %d devices" % (one["name"], said, have),
            "sizes that use all of them",
            "Set tensor-parallel-size: %d in settings, or name fewer devices." % have,
            instance=one["name"],
        )
