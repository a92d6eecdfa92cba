# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Options, environment and model of an instance: what vLLM would refuse, ignore or show to everybody."""

from __future__ import annotations

import difflib
from typing import Any, Dict, List, Optional

from ansible_collections.ascend.fleet.plugins.plugin_utils.verdict._context import Context, items, plain


def judge(ctx: Context, one: Dict[str, Any]) -> None:
    _options(ctx, one)
    _env(ctx, one)
    _dtype(ctx, one)
    _model(ctx, one)


def _options(ctx: Context, one: Dict[str, Any]) -> None:
    name, known = one["name"], ctx.wanted.get("options")
    own, secret = ctx.tables["settings"]["own_settings"], ctx.tables["settings"]["secret_settings"]
    if known is None and one["settings"] and ctx.row:
        ctx.say(
            "vllm_service.setting.unchecked",
            "%s: %d settings" % (name, len(one["settings"])),
            "an option list of vLLM %s" % ctx.row.get("vllm"),
            "Nothing is to be done; a mistyped option shows when the service starts.",
            instance=name,
        )
    for option, value in sorted(one["settings"].items()):
        where = "%s: %s" % (name, option)
        if option in secret:
            ctx.say(
                "vllm_service.setting.secret",
                where,
                "%s in secrets" % secret[option],
                "Move the value to secrets as %s: the configuration file can be read by everybody on the host."
                % secret[option],
                instance=name,
            )
        elif option in own:
            ctx.say(
                "vllm_service.setting.reserved",
                where,
                "the key %s of the instance" % own[option],
                "Use %s of the instance." % own[option],
                instance=name,
            )
        elif known is not None:
            _option(ctx, name, option, value, known)


def _option(ctx: Context, name: str, option: str, value: Any, known: Dict[str, Any]) -> None:
    where = "%s: %s" % (name, option)
    entry = known.get("--" + option.partition(".")[0])
    if entry is None:
        near = [
            word[2:]
            for word in difflib.get_close_matches(
                "--" + option, [word for word in known if word.startswith("--")], n=3, cutoff=0.7
            )
        ]
        ctx.say(
            "vllm_service.setting.unknown",
            where,
            " or ".join(near) or "an option of vLLM %s" % ctx.row.get("vllm"),
            "Did you mean %s?" % near[0]
            if near
            else "Take it out: vLLM %s would refuse to start." % ctx.row.get("vllm"),
            instance=name,
        )
        return
    choices = [str(choice) for choice in items(plain(entry).get("choices"))]
    wrong = [str(item) for item in _scalars(value) if choices and str(item) not in choices]
    if wrong and "." not in option:
        near = difflib.get_close_matches(wrong[0], choices, n=1, cutoff=0.6)
        ctx.say(
            "vllm_service.setting.choice",
            "%s: %s" % (where, ", ".join(wrong)),
            "one of %s" % ", ".join(choices),
            "Did you mean %s?" % near[0] if near else "Choose one of these.",
            instance=name,
        )


def _scalars(value: Any) -> List[Any]:
    """What can be compared with choices: booleans and dictionaries cannot."""
    return [
        item
        for item in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(item, (str, int, float)) and not isinstance(item, bool)
    ]


def _env(ctx: Context, one: Dict[str, Any]) -> None:
    table, name = ctx.tables["settings"], one["name"]
    for variable in sorted(one["env"]):
        if variable in table["own_env"]:
            key = table["own_env"][variable]
            ctx.say(
                "vllm_service.env.reserved",
                "%s: env has %s" % (name, variable),
                "the key %s of the instance" % key,
                "Take it out of env and use %s: logical ids are worked out at each start." % key,
                instance=name,
            )
        elif _looks_secret(variable, table):
            ctx.say(
                "vllm_service.env.secret",
                "%s: env has %s" % (name, variable),
                "%s in secrets" % variable,
                "Move it to secrets, which only root can read.",
                instance=name,
            )


def _looks_secret(variable: str, table: Dict[str, Any]) -> bool:
    words = variable.upper().split("_")
    joined = "_" + "_".join(words) + "_"
    return variable.upper() not in table["secret_exceptions"] and any(
        "_%s_" % word in joined for word in table["secret_words"]
    )


def _dtype(ctx: Context, one: Dict[str, Any]) -> None:
    chip = next((entry for entry in items(ctx.tables["chips"]["families"]) if entry.get("family") == ctx.family), {})
    if chip.get("bf16") is not False:
        return
    dtype = one["settings"].get("dtype")
    config = plain(plain(plain(ctx.facts.get("ascend_models")).get(str(one.get("model")))).get("config"))
    of_model = str(config.get("torch_dtype") or "").endswith("bfloat16")
    if dtype == "bfloat16" or (dtype in (None, "auto") and of_model):
        ctx.say(
            "vllm_service.dtype.unsupported",
            "%s: dtype %s%s" % (one["name"], dtype or "auto", "" if dtype == "bfloat16" else " of a bfloat16 model"),
            "float16 on %s" % ctx.family,
            "Set dtype: float16 in settings.",
            source="; ".join(items(chip.get("source"))) or None,
            instance=one["name"],
        )


def _model(ctx: Context, one: Dict[str, Any]) -> None:
    path = str(one.get("model") or "")
    seen = plain(ctx.facts.get("ascend_models")).get(path)
    if not path.startswith("/") or not isinstance(seen, dict):
        return
    name = one["name"]
    if not seen.get("exists"):
        ctx.say(
            "vllm_service.model.missing",
            "%s: no %s on the node" % (name, path),
            "the folder of the model",
            "Copy the model there or mount it, or correct model of %s." % name,
            instance=name,
        )
        return
    missing = [str(item) for item in items(seen.get("missing_weights"))]
    lacks = (["config.json"] if seen.get("config") is None else []) + missing
    if lacks or seen.get("weight_files") == 0:
        ctx.say(
            "vllm_service.model.incomplete",
            "%s: %s lacks %s" % (name, path, ", ".join(lacks[:5]) or "weights"),
            "configuration and every weight file of the index",
            "Copy the model again; %d files are missing." % max(len(lacks), 1),
            instance=name,
        )
    heads, size = (
        plain(seen.get("config")).get("num_attention_heads"),
        whole(one["settings"].get("tensor-parallel-size")),
    )
    if isinstance(heads, int) and size and heads % size:
        ctx.say(
            "vllm_service.parallel.heads",
            "%s: tensor-parallel-size %d, %d attention heads" % (name, size, heads),
            "a divisor of %d" % heads,
            "Choose a size that divides the heads.",
            instance=name,
        )


def whole(value: Any) -> Optional[int]:
    """A whole number above zero, written as number or text; else None."""
    text = str(value)
    return int(text) if not isinstance(value, bool) and text.isdecimal() and int(text) > 0 else None
