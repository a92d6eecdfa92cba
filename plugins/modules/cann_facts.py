#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: cann_facts
short_description: Facts about the CANN versions on a host
version_added: 0.1.0
description:
  - Finds every CANN tree and NNAL in both layouts, says which parts each has, and which one the links name.
  - Only files are read, no command runs.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  cann_roots:
    description: More folders below which CANN may be installed, beside C(/usr/local/Ascend) and the recorded one.
    type: list
    elements: path
    default: []
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.read
seealso:
  - module: ascend.fleet.probe
"""

EXAMPLES = r"""
- name: Look for CANN, also below a home folder
  ascend.fleet.cann_facts:
    cann_roots: [/home/me/Ascend]

- name: Say which versions there are
  ansible.builtin.debug:
    msg: "{{ ansible_facts['ascend_cann']['trees'] | map(attribute='version') }}"
"""

RETURN = r"""
ansible_facts:
  description: Facts of the host.
  returned: success
  type: dict
  contains:
    ascend_cann:
      description: Every CANN on the host, whoever installed it.
      returned: success
      type: dict
      contains:
        trees:
          description: >-
            Trees, each with C(version), C(path), C(layout) (C(legacy) up to 8.3, C(cann) from 8.5), C(arch),
            C(toolkit), C(ops) (version by chip family), C(complete), C(env_scripts), C(links) (names that lead to
            it), and C(origin), which is C(ours) when a state file of this collection names it, else C(foreign).
          type: list
          elements: dict
          returned: success
        nnal:
          description: NNAL versions, each with C(version), C(path) and C(active).
          type: list
          elements: dict
          returned: success
        active:
          description: Path of the tree that the links C(cann) or C(latest) name, or null.
          type: str
          returned: success
          sample: /usr/local/Ascend/cann-9.1.0
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _cann, _state
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main() -> None:
    module = AnsibleModule(
        argument_spec={"cann_roots": {"type": "list", "elements": "path", "default": []}},
        supports_check_mode=True,
    )
    runner = Runner(module.run_command)
    facts = _cann.gather(runner, module.params["cann_roots"], _state.gather(runner))
    module.exit_json(changed=False, ansible_facts={"ascend_cann": facts})


if __name__ == "__main__":
    main()
