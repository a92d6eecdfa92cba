#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: cann_facts
short_description: Tell which CANN installs a host has
version_added: 0.1.0
description:
  - Returns every CANN tree and every NNAL of a host as C(ansible_facts.ascend_cann), whoever installed it, from files
    alone.
  - Knows both layouts, C(ascend-toolkit/<version>) up to 8.3 and C(cann-<version>) from 8.5 on. A tree that several
    links lead to is listed once.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  roots:
    description:
      - Folders that hold CANN installs, beside C(/usr/local/Ascend) and the one that the last installer recorded.
    type: list
    elements: path
    default: []
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.facts
seealso:
  - module: ascend.fleet.probe
  - module: ascend.fleet.run_package
"""

EXAMPLES = r"""
- name: Look for CANN, also in somebody's home
  ascend.fleet.cann_facts:
    roots: [/home/me/Ascend]

- name: Say which versions are complete
  ansible.builtin.debug:
    msg: "{{ ansible_facts['ascend_cann'].trees | selectattr('complete') | map(attribute='version') | list }}"
"""

RETURN = r"""
ansible_facts:
  description: The facts.
  returned: always
  type: dict
  contains:
    ascend_cann:
      description: What is known of CANN.
      returned: always
      type: dict
      contains:
        trees:
          description: The installs.
          type: list
          elements: dict
          contains:
            version:
              description: Version of the toolkit, or of the folder's name where no toolkit is recorded.
              type: str
              sample: 9.1.0
            path:
              description: The folder, without links.
              type: str
              sample: /usr/local/Ascend/cann-9.1.0
            layout:
              description: V(legacy) up to 8.3, V(cann) from 8.5 on.
              type: str
              sample: cann
            arch:
              description: Architecture that it was made for.
              type: str
              sample: aarch64
            toolkit:
              description: Recorded version of the toolkit, null when there is no record, as after a broken install.
              type: str
              sample: 9.1.0
            ops:
              description:
                - Versions of the operator packages by chip family. V(unknown) stands for a chip that is not recorded.
              type: dict
              sample:
                910b: 9.1.0
            complete:
              description: Whether the toolkit is recorded and has a script that sets its environment.
              type: bool
            env_scripts:
              description: Scripts that set the environment, those of this very version first.
              type: list
              elements: str
              sample: [/usr/local/Ascend/cann-9.1.0/set_env.sh]
            links:
              description: Other names of the tree.
              type: list
              elements: str
              sample: [/usr/local/Ascend/cann]
            origin:
              description: V(ours) when this collection installed it, else V(foreign).
              type: str
              sample: ours
        nnal:
          description: The installs of NNAL (ATB).
          type: list
          elements: dict
          sample:
            - version: 9.1.0
              path: /usr/local/Ascend/nnal/atb/9.1.0
              active: true
        active:
          description: Path of the tree that the links name, null when there is none.
          type: str
          sample: /usr/local/Ascend/cann-9.1.0
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _cann, _state
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main():
    module = AnsibleModule(
        argument_spec={"roots": {"type": "list", "elements": "path", "default": []}}, supports_check_mode=True
    )
    runner = Runner(module.run_command)
    facts = _cann.gather(runner, module.params["roots"], _state.gather(runner))
    module.exit_json(changed=False, ansible_facts={"ascend_cann": facts})


if __name__ == "__main__":
    main()
