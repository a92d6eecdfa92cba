# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The conda base and the env: is the Python allowed, is something in the way, is the installer there."""

from __future__ import annotations

from ansible_collections.ascend.fleet.plugins.module_utils import _version
from ansible_collections.ascend.fleet.plugins.plugin_utils import plan
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict import _artifacts
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, plain


def judge(ctx: Context) -> None:
    for name in ("conda_env_base", "conda_env_root"):
        value = ctx.settings.get(name)
        if value is not None and _artifacts.path_problem(value):
            ctx.say(
                "conda_env.path.invalid",
                "%s: %s" % (name, value),
                "an absolute path without blanks",
                "Correct %s: %s." % (name, _artifacts.path_problem(value)),
            )
    if not ctx.row:
        return
    python = ctx.row["python_default"]
    if _version.in_ranges(python, [ctx.row["python"]]) is not True:
        ctx.say(
            "conda_env.python.unsupported",
            "Python %s" % python,
            "%s to before %s for release %s"
            % (ctx.row["python"][0], ctx.row["python"][1] or "any", ctx.row["release"]),
            "Correct conda_env_python or ascend_overrides; pip would not stop this install.",
            source=ctx.row.get("source"),
        )
    _base(ctx)
    _env(ctx)
    _artifacts.judge(ctx, "conda_env")


def _base(ctx: Context) -> None:
    base = str(ctx.settings.get("conda_env_base") or "")
    have = plain(plain(ctx.facts.get("ascend_envs")).get(base))
    if have.get("exists") and not plan.holds_conda(have) and "base" not in plain(ctx.stack.get("conda_env")):
        ctx.say(
            "conda_env.base.foreign",
            "%s holds no conda" % base,
            "a conda installation or nothing",
            "Set conda_env_base to a path that is free or to a conda that works; the folder is left as it is.",
        )


def _env(ctx: Context) -> None:
    rid = ctx.row["runtime_id"]
    prefix = plan.env_prefix(ctx.row, ctx.settings)
    have = plain(plain(ctx.facts.get("ascend_envs")).get(prefix))
    state = ctx.state("conda_env", rid)
    begun = rid in plain(ctx.stack.get("conda_env"))
    if have.get("exists") and not begun:
        ctx.say(
            "conda_env.env.foreign",
            "%s exists and no state of ours names it" % prefix,
            "a path that is free",
            "Move the folder away or set conda_env_root to another path; it is left as it is.",
        )
        return
    users = plan.users_of(ctx.stack, rid)
    if state and users:
        wrong = plan.package_differences(ctx.row, have)
        if wrong:
            ctx.say(
                "conda_env.env.changed",
                "; ".join(wrong),
                "what release %s pins" % ctx.row["release"],
                "An env in use is never changed: stop %s, then run again, or give the instances another runtime."
                % ", ".join(users),
                evidence=prefix,
            )
