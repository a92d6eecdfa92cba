# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show and write down what the judge found, and refuse the host by it; documented as the module ``preflight``."""

from __future__ import annotations

import os
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import instance_files, judgement, preflight, verdict

OPTIONS = {
    "judged": {"type": "dict", "required": True},
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
        findings = judged.get("findings") or []
        refused = verdict.reaches(judged.get("worst"), fail_on)
        result.update(changed=False, refused=refused, findings=findings, counts=preflight.counts(findings))
        if options["report"]:
            result["report"] = self._write(options["report"], host, preflight.document(
                host, judged, fail_on, refused, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))  # fmt: skip
        # What refuses the host is in the failure; the table shows the rest, infos only when asked with -v.
        rest = [name for name in verdict.SEVERITIES if not verdict.reaches(name, fail_on)]
        shown = [name for name in rest if name != "info" or self._display.verbosity > 0]
        if any(one["severity"] in shown for one in findings):
            self._display.display("\n".join(preflight.table(host, findings, shown)))
        if refused:
            result.update(failed=True, msg=judgement.message(findings, fail_on))
        return result

    @staticmethod
    def _write(folder: str, host: str, content: dict[str, Any]) -> str:
        folder = os.path.abspath(os.path.expanduser(folder))
        try:
            return preflight.write(folder, host, content)
        except OSError as exc:
            raise AnsibleActionFail(
                "The report cannot be written to %s on the controller (%s). Choose another folder in "
                "ascend_preflight_report." % (folder, exc.strerror)
            ) from None
