# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the manifest of a folder of artifacts on the controller; documented as the module ``bundle``."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts, bundle


class ActionModule(ActionBase):
    """Works on the controller alone, whatever host the task is run for."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _spec, options = self.validate_argument_spec(argument_spec={"path": {"type": "str", "required": True}})
        if not options["path"].strip():
            raise AnsibleActionFail("No folder is named. Run it with: -e bundle_dir=FOLDER")
        folder = os.path.abspath(os.path.expanduser(options["path"]))
        try:
            found = bundle.scan(folder)
        except OSError as exc:
            raise AnsibleActionFail(
                "%s cannot be read (%s). Name a folder of the controller with the packages." % (folder, exc.strerror)
            ) from None
        if not found.manifest["artifacts"]:
            raise AnsibleActionFail(
                "%s has no file whose name says what it is. Put the vendor's files there under the vendor's names: "
                "Ascend-cann-toolkit_VERSION_linux-ARCH.run and the like." % folder
            )
        path = os.path.join(folder, artifacts.MANIFEST)
        before, after = _read(path), bundle.render(found.manifest)
        if before != after and not self._task.check_mode:
            try:
                _write(path, after)
            except OSError as exc:
                raise AnsibleActionFail(
                    "%s cannot be written (%s). Run as a user who may write there." % (path, exc.strerror)
                ) from None
        for item in found.unknown:
            self._display.warning("%s is not in the manifest: %s." % (item["file"], item["why"]))
        result.update(
            changed=before != after,
            manifest=path,
            artifacts=[
                artifacts.describe(entry["name"], entry["version"], entry["platform"])
                for entry in found.manifest["artifacts"]
            ],
            unknown=found.unknown,
            diff={"before": before, "after": after, "before_header": path, "after_header": path},
        )
        return result


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return handle.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    """Replace the file at once: nodes may be reading the old one over a mount or a mirror."""
    handle, temporary = tempfile.mkstemp(prefix=".manifest.", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            os.fchmod(stream.fileno(), 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
