# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible.errors import AnsibleFilterError
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, instance_files


def render(instances, context):
    try:
        return instance_files.render(instances, context)
    except (instance_files.InstanceError, data.DataError) as exc:
        raise AnsibleFilterError(str(exc)) from exc


class FilterModule:
    """Filters of the service layer."""

    def filters(self):
        return {"instance_files": render}
