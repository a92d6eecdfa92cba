# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a host by what the probe found; documented as the module ``judge``."""

from __future__ import annotations

import difflib
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.template import trust_as_template
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, instance_files, judgement, variables, verdict

OPTIONS = {
    "layers": {"type": "list", "elements": "str", "choices": list(verdict.LAYERS), "default": list(verdict.LAYERS)},
    "probe": {"type": "dict", "required": True},
    "fail_on": {"type": "str", "choices": ["error", "warning", "none"], "default": "error"},
    "ignore": {"type": "list", "elements": "str", "default": []},
}
# What a plan needs of other layers: where envs lie, and what changes the row.
ALWAYS = ("conda_env_root", *variables.ROW_WORDS)


class ActionModule(ActionBase):
    """Reads variables, knowledge and artifacts on the controller; the node is not touched."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._vars = task_vars or {}
        result = super().run(tmp, self._vars)
        _spec, options = self.validate_argument_spec(argument_spec=OPTIONS)
        try:
            answer = judgement.judge(self._request(options))
            self._drop_ignored(answer, options["ignore"])
        except data.DataError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        refused = verdict.reaches(answer["worst"], options["fail_on"])
        result.update(answer, changed=False, refused=refused)
        if refused:
            result.update(failed=True, msg=judgement.message(answer["findings"], options["fail_on"]))
        return result

    def _request(self, options: dict[str, Any]) -> judgement.Request:
        known = data.load("variables")
        settings: dict[str, Any] = {}
        invalid: list[dict[str, Any]] = []
        for name, entry in known.items():
            if entry["role"] not in options["layers"] and name not in ALWAYS:
                continue
            value = self._value(name, entry["default"])
            try:
                settings[name] = variables.typed(value, entry["type"])
            except ValueError as exc:
                settings[name] = entry["default"]
                invalid.append({"name": name, "have": "a %s" % type(value).__name__, "want": str(exc)})
        return judgement.Request(
            facts=instance_files.plain(options["probe"]),
            layers=options["layers"],
            settings=settings,
            shared={name: self._value(name, None) for name in variables.SHARED},
            names=[name for name in self._vars if isinstance(name, str)],
            invalid=invalid,
            known=known,
            check=bool(self._task.check_mode),
        )

    def _value(self, name: str, default: Any) -> Any:
        """Plain value of a variable of the host, else of its role's default, which may be a template."""
        raw = self._vars.get(name, _trusted(default))
        try:
            return instance_files.plain(self._templar.template(raw))
        except AnsibleError as exc:
            raise AnsibleActionFail("The variable %s cannot be worked out: %s" % (name, exc)) from exc

    @staticmethod
    def _drop_ignored(answer: dict[str, Any], ignore: list[str]) -> None:
        known = data.load("findings")["findings"]
        for name in ignore:
            if name not in known:
                near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
                hint = "Did you mean %s?" % near[0] if near else "data/findings.yml lists them."
                raise AnsibleActionFail("ignore: there is no finding %s. %s" % (name, hint))
        answer["findings"] = [one for one in answer["findings"] if one["id"] not in ignore]
        answer["worst"] = verdict.worst(answer["findings"])


def _trusted(value: Any) -> Any:
    """A default of ours, marked as ours: what is read from a file is no template otherwise."""
    if isinstance(value, dict):
        return {key: _trusted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_trusted(item) for item in value]
    return trust_as_template(value) if isinstance(value, str) else value
