# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The driver: is there a usable npu-smi, does the version fit, are the devices well."""

from __future__ import annotations

from typing import Any, Dict

from ansible_collections.ascend.fleet.plugins.module_utils import _version
from ansible_collections.ascend.fleet.plugins.plugin_utils import devices
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain

FIRST = "The NPU driver comes first: install the vendor's driver and firmware, then look at `npu-smi info` as root."


def judge(ctx: Context) -> None:
    """Needs ``ascend_npu``; says nothing when it was not asked."""
    if not ctx.npu:
        return
    smi = plain(ctx.npu.get("smi"))
    if not smi.get("usable"):
        _unusable(ctx, smi)
    else:
        for text in items(ctx.npu.get("warnings")):
            ctx.say(
                "npu_driver.smi.complains",
                str(text),
                "an answer without a warning",
                "Follow the text; most often the driver is to be installed again.",
            )
        if ctx.npu.get("truncated"):
            ctx.say(
                "npu_driver.smi.truncated",
                "an output that was cut",
                "whole lines",
                "Run `npu-smi info` on the host and compare it with what the report of the host says.",
            )
        _devices(ctx)
    _version_of(ctx)
    _package(ctx)


def _unusable(ctx: Context, smi: Dict[str, Any]) -> None:
    error = plain(smi.get("error"))
    if not smi.get("path"):
        ctx.say(
            "npu_driver.smi.missing",
            "no npu-smi on the host",
            "an installed NPU driver",
            FIRST,
            evidence=error.get("text"),
        )
        return
    meaning = error.get("meaning") or "it says nothing that we know"
    ctx.say(
        "npu_driver.smi.unusable",
        "%s: %s" % (smi["path"], meaning),
        "an answer of `npu-smi info`",
        FIRST,
        evidence=error.get("text"),
    )


def _version_of(ctx: Context) -> None:
    driver = plain(ctx.npu.get("driver"))
    version = driver.get("version")
    cann = ctx.row.get("cann")
    if not version:
        if plain(ctx.npu.get("smi")).get("usable"):
            ctx.say(
                "npu_driver.version.unknown",
                "no version of the driver",
                "a version to compare with CANN %s" % cann,
                "Read /usr/local/Ascend/driver/version.info on the host.",
            )
        return
    if not ctx.row:
        return
    ranges = ctx.row.get("hdk")
    wanted = spoken(ranges)
    inside = _version.in_ranges(version, ranges) if ranges else None
    if inside is False:
        ctx.say(
            "npu_driver.version.outside",
            version,
            "%s for CANN %s" % (wanted, cann),
            "Upgrade driver and firmware, or choose a release whose CANN fits this driver.",
            evidence=driver.get("source"),
            source=ctx.row.get("source"),
        )
    elif inside is None:
        ctx.say(
            "npu_driver.version.undocumented",
            version,
            wanted or "no range is documented for CANN %s on %s" % (cann, ctx.family),
            "Prove the pair on one host first; a row in ascend_data_dirs with its range ends this warning.",
            evidence=driver.get("source"),
            source=ctx.row.get("source"),
        )


def spoken(ranges: Any) -> str:
    """Ranges as people say them: "25.0.rc1 to before 25.1 or 25.2.rc1 or newer"."""
    words = []
    for low, high in items(ranges):
        words.append("%s or newer" % low if high is None else "%s to before %s" % (low, high))
    return " or ".join(words)


def _package(ctx: Context) -> None:
    driver, firmware = plain(ctx.npu.get("driver")), plain(ctx.npu.get("firmware"))
    status = driver.get("install_status")
    if status and status != "complete":
        ctx.say(
            "npu_driver.driver.incomplete",
            "install status %s" % status,
            "complete",
            "Install the driver package again.",
            evidence="/etc/ascend_install.info",
        )
    if driver.get("reboot_pending"):
        ctx.say(
            "npu_driver.driver.reboot_pending",
            "version %s installed, %s running" % (driver.get("version"), driver.get("running")),
            "one version",
            "Reboot the host when nobody uses its cards.",
        )
    if firmware.get("mixed"):
        ctx.say(
            "npu_driver.firmware.mixed",
            "cards with different firmware",
            "one firmware version",
            "Install the firmware package again and reboot.",
            evidence=firmware.get("source"),
        )


def _devices(ctx: Context) -> None:
    listed = devices.listed(ctx.npu)
    needed = [devices.choose(listed, word) for word in items(ctx.settings.get("npu_driver_devices"))]
    named = {devices.label(one) for asked in needed for one in asked.found}
    for one in listed:
        label = devices.label(one)
        severity = "error" if label in named else None
        if devices.sick(one):
            codes = ", ".join(str(code) for code in items(one.get("fault_codes")))
            ctx.say(
                "npu_driver.device.sick",
                "device %s: health %s" % (label, one["health"]),
                "OK",
                "Look at `npu-smi info -t health -i %s`; keep instances off this device until it is OK."
                % one.get("npu_id"),
                evidence=codes or None,
                severity=severity,
            )
        elif devices.silent(one):
            ctx.say(
                "npu_driver.device.lost",
                "device %s is named by `npu-smi info -m` alone" % label,
                "a device that `npu-smi info` lists",
                "Look at `dmesg`; a cold restart of the host often brings the card back.",
                severity=severity,
            )
    for asked in needed:
        if not asked.found:
            ctx.say(
                "npu_driver.device.lost",
                "device %s is not listed" % asked.word,
                "one of %s" % (", ".join(map(devices.label, listed)) or "none"),
                "Correct npu_driver_devices, or look for the card with `lspci -d 19e5:` and `dmesg`.",
                severity="error",
            )
    for address in devices.lost(ctx.npu):
        ctx.say(
            "npu_driver.device.lost",
            "PCI device %s is not listed by npu-smi" % address,
            "every card of the bus in the list",
            "Look at `dmesg` for this address; a cold restart of the host often brings the card back.",
        )
