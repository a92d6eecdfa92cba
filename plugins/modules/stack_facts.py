#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: stack_facts
short_description: Tell what this collection made on a host, and whether it is still so
version_added: 0.1.0
description:
  - Returns every state below C(/var/lib/ascend-fleet) as C(ansible_facts.ascend_stack), each with what has changed
    since.
author:
  - ascend.fleet authors (@ascend-fleet)
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.facts
seealso:
  - module: ascend.fleet.probe
"""

EXAMPLES = r"""
- name: Look at what was made
  ascend.fleet.stack_facts:

- name: Show the runtimes of the host
  ansible.builtin.debug:
    msg: "{{ ansible_facts['ascend_stack'].vllm_ascend | default({}) | list }}"
"""

RETURN = r"""
ansible_facts:
  description: The facts.
  returned: always
  type: dict
  contains:
    ascend_stack:
      description:
        - States by layer (V(cann), V(conda_env), V(vllm_ascend), V(vllm_service)) and by key, null for a damaged file.
        - A state names what was installed (C(have)), what was made for it (C(made)), whether it was finished
          (C(status) is V(complete) or V(installing)), and in C(drift) each file that is missing or was changed since.
      returned: always
      type: dict
      sample:
        cann:
          toolkit-9.1.0:
            schema: 1
            layer: cann
            key: toolkit-9.1.0
            status: complete
            origin: installed
            have: {package: toolkit, version: 9.1.0, path: /usr/local/Ascend/cann-9.1.0}
            sha256:
            when: "2026-12-01T04:48:51Z"
            collection: 0.1.0
            by: run_package
            made: {paths: [/usr/local/Ascend/cann-9.1.0], links: [], users: [], units: [], packages: []}
            files: {}
            previous:
            drift: []
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _state
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main():
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    facts = _state.gather(Runner(module.run_command))
    module.exit_json(changed=False, ansible_facts={"ascend_stack": facts})


if __name__ == "__main__":
    main()
