# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: release
short_description: What one vllm-ascend release needs
version_added: 0.1.0
author:
  - ascend.fleet authors (@ascend-fleet)
description:
  - Returns the row of a vllm-ascend release, as one dictionary with the versions of vLLM, CANN, ops, NNAL, torch,
    torch_npu, Triton, transformers and Python, the driver range, and the id of the runtime that these make.
  - The roles do not call it for each value. The action M(ascend.fleet.judge) resolves the row once for each host.
options:
  _terms:
    description:
      - Names of releases, for example V(0.23.0). An empty name, or none at all, is the default release of the data.
    type: list
    elements: str
  family:
    description:
      - Chip family, for example V(910b), V(a3), V(310p) or V(950). Overrides of the row that depend on a family are
        applied only when it is given.
    type: str
  arch:
    description: Processor architecture as C(uname -m) prints it, V(x86_64) or V(aarch64).
    type: str
  overrides:
    description:
      - Words of the row to replace, as one dictionary of words and values, or as a list of dictionaries with C(when),
        C(set) and C(source).
    type: raw
  data_dirs:
    description: Folders on the controller whose C(releases.yml) is merged over the one of the collection.
    type: list
    elements: path
    default: []
seealso:
  - module: ascend.fleet.judge
"""

EXAMPLES = r"""
- name: Show what the default release needs on an Atlas A2 server with x86_64
  ansible.builtin.debug:
    msg: "{{ lookup('ascend.fleet.release', '', family='910b', arch='x86_64') }}"

- name: Show the CANN of two releases
  ansible.builtin.debug:
    msg: "{{ query('ascend.fleet.release', '0.18.0', '0.23.0') | map(attribute='cann') }}"

- name: See which runtime another CANN would make
  ansible.builtin.debug:
    msg: "{{ lookup('ascend.fleet.release', '0.23.0', overrides={'cann': '9.1.1'}).runtime_id }}"
"""

RETURN = r"""
_raw:
  description:
    - One row for each term. RV(_raw[].runtime_id) is made from the versions, RV(_raw[].applied) names every override
      that was used, RV(_raw[].source) says where the row comes from.
  type: list
  elements: dict
  contains:
    runtime_id:
      description: Release and eight hex digits of the wanted set.
      type: str
    applied:
      description: Source of each override that matched, in the order in which they were applied.
      type: list
    source:
      description: Where the versions are written down.
      type: str
"""

from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import data, release


class LookupModule(LookupBase):
    """One row for each term."""

    def run(self, terms: list[Any], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        folders = self.get_option("data_dirs")
        try:
            table, chips = data.load("releases", folders), data.load("chips", folders)
            return [
                release.resolve(
                    table,
                    str(term or ""),
                    self.get_option("family"),
                    self.get_option("arch"),
                    chips=chips,
                    overrides=self.get_option("overrides"),
                )
                for term in terms or [""]
            ]
        except (release.ReleaseError, data.DataError) as exc:
            raise AnsibleError(str(exc)) from exc
