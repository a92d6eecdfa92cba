# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show and write down whether a host serves what it should; documented as the module ``validate``."""

from __future__ import annotations

import os
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import (
    instance_files,
    judgement,
    preflight,
    validation,
    verdict,
)

OPTIONS = {
    "judged": {"type": "dict", "required": True},
    "asked": {"type": "list", "elements": "dict", "required": True},
    "wanted": {"type": "list", "elements": "dict", "default": []},
    "fail_on": {"type": "str", "choices": ["error", "warning", "none"], "default": "error"},
    "report": {"type": "str", "default": ""},
}


class ActionModule(ActionBase):
    """Works on the controller alone."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _spec, options = self.validate_argument_spec(argument_spec=OPTIONS)
        host = str((task_vars or {}).get("inventory_hostname"))
        judged, fail_on = instance_files.plain(options["judged"]), options["fail_on"]
        checked = validation.rows(instance_files.plain(options["asked"]), instance_files.plain(options["wanted"]))
        refused = verdict.reaches(judged.get("worst"), fail_on)
        errors = validation.errors(checked)
        lines = validation.table(host, checked)
        self._display.display("\n".join(lines))
        result.update(changed=False, instances=checked, findings=judged.get("findings") or [], table=lines)
        if options["report"]:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            content = dict(preflight.document(host, judged, fail_on, refused, when), instances=checked)
            result["report"] = self._write(options["report"], host, content)
        if refused or errors:
            said = [judgement.message(result["findings"], fail_on)] if refused else []
            result.update(failed=True, msg="\n".join(errors + said))
        return result

    @staticmethod
    def _write(folder: str, host: str, content: dict[str, Any]) -> str:
        folder = os.path.abspath(os.path.expanduser(folder))
        try:
            return preflight.write(folder, host, content)
        except OSError as exc:
            raise AnsibleActionFail(
                "The report cannot be written to %s on the controller (%s). Choose another folder in "
                "ascend_validate_report." % (folder, exc.strerror)
            ) from None
