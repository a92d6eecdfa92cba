# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module ``probe``: it asks for what the host's variables make the layers need."""

from __future__ import annotations

import contextlib
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils import basic
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as core
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, probe_request, pythons

OLDEST = (3, 8)  # what the modules of this collection are written for


class ActionModule(ActionBase):
    """One module call; where no module can run, one raw command to say why."""

    _supports_check_mode = True
    _supports_async = False
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        task_vars = task_vars or {}
        result = super().run(tmp, task_vars)
        options = probe_request.merged(probe_request.request(self._reader(task_vars)), self._task.args)
        answer = self._execute_module("ascend.fleet.probe", module_args=options, task_vars=task_vars)
        result.update(answer)
        facts = result.get("ansible_facts") or {}  # a discovered interpreter is one, whether or not it exists
        if result.get("failed") and not any(name.startswith("ascend_") for name in facts):
            why = self._why(answer.get("rc") in (126, 127))
            if why:
                return {"failed": True, "msg": why, "changed": False}
        return result

    def _reader(self, task_vars: dict[str, Any]) -> Any:
        """A function that gives the host's value of a variable, its role's default, or None."""
        known = data.load("variables")

        def value(name: str) -> Any:
            if name in task_vars:
                with contextlib.suppress(AnsibleError):  # the judge says which variable cannot be worked out
                    return self._templar.template(task_vars[name])
                return None
            return known.get(name, {}).get("default")

        return value

    def _why(self, absent: bool) -> str | None:
        """Look without a module which Pythons the node has; None when they are not the reason."""
        used = (self._used_interpreter or "").lstrip("#!").strip() or None
        # Never as root: what lies in /opt may belong to anybody.
        seen = self._low_level_execute_command(pythons.look_command(used), sudoable=False)
        minimum = max(OLDEST, tuple(basic._PY_MIN))
        return pythons.explain(used, absent, pythons.parse(seen.get("stdout", "")), minimum, core)
