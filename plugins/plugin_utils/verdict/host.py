# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The request itself (release, variables, chip family) and the host under all layers."""

from __future__ import annotations

import posixpath
from typing import Any, List

from ansible_collections.ascend.fleet.plugins.module_utils import _chips, _run_checks, _version
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain

# What a layer is about to write: kind of step -> variable that names the path.
WRITES = {"cann": ("package", "cann_install_path")}


def judge_request(ctx: Context) -> None:
    """What makes judging any layer worthless."""
    for one in items(ctx.wanted.get("misspelt")):
        ctx.say(
            "host.variable.misspelt",
            one["name"],
            one["meant"],
            "Did you mean %s? Rename it, or give yours a name that is less like ours." % one["meant"],
        )
    for one in items(ctx.wanted.get("invalid")):
        ctx.say("host.variable.invalid", "%s: %s" % (one["name"], one["have"]), one["want"], "Correct the variable.")
    problem = plain(ctx.wanted.get("problem"))
    if problem.get("problem") == "unknown":
        known = ", ".join(items(problem.get("known")))
        ctx.say(
            "host.release.unknown",
            "release %s" % problem.get("have"),
            " or ".join(items(problem.get("near"))) or "one of %s" % known,
            "Correct ascend_release, or add the release in a folder of ascend_data_dirs. Known: %s." % known,
        )
    elif problem:
        near = " or ".join(items(problem.get("near")))
        ctx.say("host.override.invalid", problem.get("have"), near or "a word of data/releases.yml", problem["text"])
    _families(ctx)
    if ctx.row and ctx.family:
        have = "%s on %s" % (ctx.row.get("release"), ctx.family)
        if ctx.row.get("supported") is False:
            ctx.say(
                "host.release.unsupported",
                have,
                "a release that has images for this family",
                "Choose another ascend_release for these hosts, or take them out of the group.",
                source=ctx.row.get("source"),
            )
        elif ctx.row.get("supported") is None:
            ctx.say(
                "host.release.undocumented",
                have,
                "a family that the release names",
                "Try it on one host first; a row in ascend_data_dirs that names the family ends this warning.",
                source=ctx.row.get("source"),
            )


def _families(ctx: Context) -> None:
    if not ctx.npu:
        return
    seen = _chips.families_of(ctx.npu)
    if len(seen) > 1:
        ctx.say(
            "host.npu.mixed",
            " and ".join(seen),
            "one chip family in a host",
            "Set ascend_family to the family that is to be used; the other cards stay untouched.",
            evidence=_evidence(ctx),
            severity="warning" if ctx.family else None,
        )
    if ctx.family or len(seen) > 1:
        return
    if not (items(ctx.npu.get("pci")) or items(ctx.npu.get("devices")) or items(ctx.npu.get("device_nodes"))):
        ctx.say(
            "host.npu.none",
            "no Ascend device on the PCI bus",
            "a host with Ascend devices",
            "Look at `lspci -d 19e5:`; for a build host without cards set ascend_family.",
        )
    else:
        ctx.say(
            "host.npu.unknown",
            _evidence(ctx),
            "a chip that our data names",
            "Set ascend_family for this host, for example 910b.",
        )


def _evidence(ctx: Context) -> str:
    names = sorted({str(one["name"]) for one in items(ctx.npu.get("devices")) if plain(one).get("name")})
    chips = sorted(
        {"%s:%s" % (one.get("vendor"), one.get("device")) for one in items(ctx.npu.get("pci")) if isinstance(one, dict)}
    )
    return "npu-smi names: %s; PCI ids: %s" % (", ".join(names) or "none", ", ".join(chips) or "none")


def judge(ctx: Context) -> None:
    """The operating system, the processor and the Python of the node."""
    if not ctx.host:
        return
    known = ctx.tables["os"]
    arch = ctx.host.get("arch")
    if arch and arch not in known["arches"]:
        ctx.say("host.arch.unknown", arch, " or ".join(sorted(known["arches"])), "Take the host out of the group.")
    name = plain(ctx.host.get("os"))
    if "os" in ctx.host and not name.get("family"):
        ctx.say(
            "host.os.unknown",
            "%s %s" % (name.get("id") or "no /etc/os-release", name.get("version_id") or ""),
            "debian or redhat family",
            "Install the OS packages that the roles name by hand and set their *_packages variables to skip.",
        )
    version = plain(ctx.host.get("python")).get("version")
    wanted = known["node_python"]["range"]
    if version and _version.in_ranges(version, [wanted]) is False:
        ctx.say(
            "host.python.unsupported",
            version,
            "%s or newer" % wanted[0],
            "Install a newer Python on the node and name it in ansible_python_interpreter.",
        )


def judge_room(ctx: Context, layer: str) -> None:
    """Room and rights at the paths that the steps of a layer write to; a path that was not looked at is not judged."""
    kind, variable = WRITES.get(layer, ("", ""))
    steps = [step for step in ctx.steps(layer) if step.get("kind") == kind]
    if not steps:
        return
    need = plain(ctx.tables["os"]["room_mb"].get(layer))
    place = str(ctx.settings.get(variable) or "")
    have = _disk(ctx, place)
    if have.get("free_mb") is not None and need and have["free_mb"] < need["need"]:
        ctx.say(
            "host.room.short",
            "%s MiB free at %s" % (have["free_mb"], have.get("path") or place),
            "%s MiB for %s" % (need["need"], place),
            "Make room, or set %s to a path on a larger file system." % variable,
            source=need.get("source"),
        )
    _tmp(ctx, layer, steps)


def _tmp(ctx: Context, layer: str, steps: List[Any]) -> None:
    """A package unpacks itself to a folder for temporary files and runs there: it needs at least its own size.

    Without a folder that is named, any of the usual ones will do, so only the last of them to fail is told.
    """
    named = ctx.settings.get(layer + "_tmp_dir")
    size = max([int(plain(step.get("artifact")).get("size") or 0) for step in steps] or [0]) >> 20
    variable = "%s_tmp_dir" % layer
    problems = []
    for place in [str(named)] if named else _run_checks.TMP_FOLDERS:
        have = _disk(ctx, place)
        if have.get("noexec"):
            problems.append(("host.tmp.noexec", "%s is mounted noexec" % place, "a folder that programs may run from"))
        elif have.get("free_mb") is not None and have["free_mb"] < size:
            wanted = "%s MiB to unpack the package" % size
            problems.append(("host.room.short", "%s MiB free at %s" % (have["free_mb"], place), wanted))
        else:
            return
    for id, found, wanted in problems:
        ctx.say(id, found, wanted, "Set %s to a folder on another file system." % variable)


def _disk(ctx: Context, place: str) -> Any:
    """What the probe saw at a path, or at the nearest folder above it that it was asked about."""
    asked = plain(ctx.host.get("disk"))
    while place not in asked and place not in ("", "/"):
        place = posixpath.dirname(place)
    return plain(asked.get(place))
