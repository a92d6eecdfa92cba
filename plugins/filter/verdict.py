# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter ``ascend.fleet.verdict``; documented in verdict.yml."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ansible.errors import AnsibleFilterError
from ansible_collections.ascend.fleet.plugins.plugin_utils import data
from ansible_collections.ascend.fleet.plugins.plugin_utils import verdict as judge


def verdict(facts: Any, wanted: Any, layers: Sequence[str] = judge.LAYERS) -> list[dict[str, Any]]:
    if not isinstance(facts, Mapping) or not isinstance(wanted, Mapping):
        raise AnsibleFilterError("verdict needs two dictionaries: the probe's ansible_facts | verdict({row: ...}).")
    try:
        return judge.verdict(dict(facts), dict(wanted), list(layers))
    except (ValueError, data.DataError) as exc:
        raise AnsibleFilterError("verdict: %s" % exc) from exc


class FilterModule:
    """The filters of this file by name."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"verdict": verdict}
