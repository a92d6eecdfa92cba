# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The runtime: are the layers below there to build on, are the sources there, is a runtime in use still whole."""

from __future__ import annotations

from ansible_collections.ascend.fleet.plugins.plugin_utils import plan
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict import _artifacts
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items


def judge(ctx: Context) -> None:
    """In check mode a layer below that is not there yet is no finding: it would be there by then."""
    if not ctx.row:
        return
    rid = ctx.row["runtime_id"]
    if ctx.steps("vllm_ascend") and ctx.stack and not ctx.check:
        own = ctx.settings.get("vllm_ascend_env")
        if not own and not ctx.complete("conda_env", rid) and not ctx.planned("conda_env"):
            ctx.say(
                "vllm_ascend.env.missing",
                "no complete env for runtime %s" % rid,
                plan.env_prefix(ctx.row, ctx.settings),
                "Run the role conda_env first (tag conda_env), or set vllm_ascend_env to an env of your own.",
            )
        key = "env-%s" % ctx.row["cann"]
        if not ctx.complete("cann", key) and not ctx.planned("cann"):
            ctx.say(
                "vllm_ascend.cann.missing",
                "no state cann/%s" % key,
                "/etc/ascend-fleet/cann-%s.env" % ctx.row["cann"],
                "Run the role cann first (tag cann).",
            )
    _drift(ctx, rid)
    _artifacts.judge(ctx, "vllm_ascend")


def _drift(ctx: Context, rid: str) -> None:
    state = ctx.complete("vllm_ascend", rid)
    users = plan.users_of(ctx.stack, rid)
    drift = items((state or {}).get("drift"))
    if not drift or not users:
        return
    gone = any(one.get("problem") == "missing" for one in drift)
    ctx.say(
        "vllm_ascend.runtime.changed",
        "; ".join("%s %s" % (one.get("path"), one.get("problem")) for one in drift),
        "runtime %s as it was built" % rid,
        "A runtime in use is never changed: stop %s, then run again, or give the instances another runtime."
        % ", ".join(users),
        severity="error" if gone else None,
    )
