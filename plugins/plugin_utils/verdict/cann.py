# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""CANN: may we install, is there something in the way, are the packages there."""

from __future__ import annotations

from ansible_collections.ascend.fleet.plugins.plugin_utils import plan
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict import _artifacts
from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain


def judge(ctx: Context) -> None:
    """Needs ``ascend_cann``; packages and licence are asked for only when the plan installs something."""
    path = ctx.settings.get("cann_install_path")
    if path is not None and _artifacts.path_problem(path):
        ctx.say(
            "cann.path.invalid",
            "cann_install_path: %s" % path,
            "an absolute path without blanks",
            "Correct cann_install_path: %s." % _artifacts.path_problem(path),
        )
    if not ctx.row:
        return
    _in_the_way(ctx)
    packages = [step for step in ctx.steps("cann") if step.get("kind") == "package"]
    if packages and not ctx.settings.get("cann_accept_eula"):
        names = ", ".join("%s %s" % (step["package"], step["version"]) for step in packages)
        ctx.say(
            "cann.eula.not_accepted",
            "cann_accept_eula is not true",
            "consent to the licence of %s" % names,
            "Read the vendor's licence and set cann_accept_eula: true; the quiet installer accepts it in your name.",
        )
    _artifacts.judge(ctx, "cann")


def _in_the_way(ctx: Context) -> None:
    """A tree that is foreign and unfinished blocks its version, unless a whole one of the same version is there too."""
    trees = [plain(one) for one in items(plain(ctx.facts.get("ascend_cann")).get("trees"))]
    found = [one for one in trees if plan.same_cann(one.get("version"), ctx.row["cann"])]
    if any(one.get("complete") for one in found):
        return
    for one in found:
        if one.get("origin") != "ours":
            ctx.say(
                "cann.tree.incomplete",
                "CANN %s at %s, incomplete" % (one.get("version"), one.get("path")),
                "a complete installation or none",
                "Whoever began it finishes or removes it; it is left as it is. Another cann_install_path avoids it.",
                evidence=one.get("path"),
            )
