#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: stack_facts
short_description: Facts about what ascend.fleet made on a host
version_added: 0.1.0
description:
  - Reads the state files below C(/var/lib/ascend-fleet) and says for each whether its paths and files are still as they
    were left.
author:
  - ascend.fleet authors (@ascend-fleet)
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.read
seealso:
  - module: ascend.fleet.probe
"""

EXAMPLES = r"""
- name: Look at what was made here
  ascend.fleet.stack_facts:

- name: Name the runtimes of this host
  ansible.builtin.debug:
    msg: "{{ ansible_facts['ascend_stack']['vllm_ascend'] | default({}) | list }}"
"""

RETURN = r"""
ansible_facts:
  description: Facts of the host.
  returned: success
  type: dict
  contains:
    ascend_stack:
      description: >-
        State of what this collection made, by layer and key. A damaged state file is null. Each state carries
        C(drift), a list of what is no longer as it was left.
      returned: success
      type: dict
      sample: {cann: {toolkit-9.1.0: {status: complete, origin: installed, drift: []}}}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _state
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main() -> None:
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    module.exit_json(changed=False, ansible_facts={"ascend_stack": _state.gather(Runner(module.run_command))})


if __name__ == "__main__":
    main()
