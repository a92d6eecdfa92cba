#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: probe
short_description: Tell everything about a host of the fleet in one call
version_added: 0.1.0
description:
  - Returns NPUs, CANN, states, the machine, Python envs, units and models as facts, by subset. The roles of this
    collection judge by this one answer, so a converged host costs one call.
  - In a play the call also asks for what the roles' variables name, such as the disks, users and models of a host.
    Options add to that.
  - Reads files and starts next to nothing, C(npu-smi) twice, the driver's upgrade tool and C(systemctl) once each.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  subset:
    description: What to gather. By default all of it, V(models) only where O(models) names some.
    type: list
    elements: str
    choices: [npu, cann, stack, host, envs, units, models]
  timeout:
    description: Seconds that one call of a tool may take.
    type: int
    default: 60
  paths:
    description: Paths whose file system is measured. A path that does not exist stands for its nearest parent.
    type: list
    elements: path
    default: []
  users:
    description: Users to look up.
    type: list
    elements: str
    default: []
  groups:
    description: Groups to look up.
    type: list
    elements: str
    default: []
  commands:
    description: Commands to look for, in the path of the call and in the usual folders.
    type: list
    elements: str
    default: []
  read:
    description: Text files to return, one MiB of each at most.
    type: list
    elements: path
    default: []
  envs:
    description: Prefixes of Python envs to look into, beside those of our states.
    type: list
    elements: path
    default: []
  units:
    description: Units of systemd to look at, beside those of our states.
    type: list
    elements: str
    default: []
  models:
    description: Model folders to look into.
    type: list
    elements: path
    default: []
  cann_roots:
    description: Folders that hold CANN installs, beside C(/usr/local/Ascend).
    type: list
    elements: path
    default: []
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.facts
seealso:
  - module: ascend.fleet.npu_facts
  - module: ascend.fleet.cann_facts
  - module: ascend.fleet.stack_facts
"""

EXAMPLES = r"""
- name: Look at everything
  ascend.fleet.probe:
  register: seen

- name: Look at the disks and the NPUs only
  ascend.fleet.probe:
    subset: [host, npu]
    paths: [/opt, /data]

- name: See whether a model is all there
  ascend.fleet.probe:
    subset: [models]
    models: [/data/models/qwen3-8b]
"""

RETURN = r"""
ansible_facts:
  description: The facts. A subset that was not asked for leaves its key out.
  returned: always
  type: dict
  contains:
    ascend_npu:
      description: See M(ascend.fleet.npu_facts).
      returned: subset npu
      type: dict
    ascend_cann:
      description: See M(ascend.fleet.cann_facts).
      returned: subset cann
      type: dict
    ascend_stack:
      description: See M(ascend.fleet.stack_facts).
      returned: subset stack
      type: dict
    ascend_host:
      description:
        - The machine. C(disk), C(users), C(groups) and C(commands) have a key for each name that was asked for, null
          for what does not exist. C(port_owners) has the ports whose owner this user may see.
      returned: subset host
      type: dict
      sample:
        os: {id: openEuler, version_id: "22.03", name: openEuler 22.03 (LTS-SP4), family: redhat}
        arch: aarch64
        libc: {name: glibc, version: "2.34"}
        kernel: 5.10.0-216.0.0.115.oe2203sp4.aarch64
        kernel_headers: true
        python: {executable: /usr/bin/python3, version: 3.9.9}
        disk:
          /opt/ascend-fleet: {path: /opt, free_mb: 812345, total_mb: 921600, noexec: false}
        ports: [22, 8000]
        port_owners:
          "8000": {pid: 4123, unit: ascend-vllm-chat.service, command: /opt/ascend-fleet/envs/x/bin/python}
        users:
          vllm: {uid: 990, gid: 990, home: /var/lib/vllm, groups: [HwHiAiUser, vllm]}
        groups: {HwHiAiUser: 1000}
        commands: {gcc: /usr/bin/gcc, ninja: null}
        clock: 1796100000.1
        uptime_s: 86400
        hostname: node-1
    ascend_envs:
      description: Python envs by prefix, with the version of Python and of each distribution.
      returned: subset envs
      type: dict
      sample:
        /opt/ascend-fleet/envs/0.23.0-1f2e3d4c:
          exists: true
          python: 3.11.9
          packages: {torch: 2.10.0, torch-npu: 2.10.0.post4}
    ascend_units:
      description: Units by name, null where systemd does not answer.
      returned: subset units
      type: dict
      sample:
        ascend-vllm-chat.service:
          load: loaded
          active: active
          sub: running
          enabled: true
          main_pid: 4123
          restarts: 0
          result: success
    ascend_models:
      description: Model folders by path, with the number of weight files and those that are missing or empty.
      returned: subset models
      type: dict
      sample:
        /data/models/qwen3-8b:
          exists: true
          config:
            architectures: [Qwen3ForCausalLM]
            torch_dtype: bfloat16
            num_attention_heads: 32
            quantization:
          weight_files: 5
          missing_weights: []
    ascend_reads:
      description: Texts of the files of O(read) by path, null for what cannot be read.
      returned: always
      type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _probe
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def names(elements):
    return {"type": "list", "elements": elements, "default": []}


def main():
    module = AnsibleModule(
        argument_spec={
            "subset": {"type": "list", "elements": "str", "choices": list(_probe.SUBSETS)},
            "timeout": {"type": "int", "default": 60},
            "paths": names("path"),
            "users": names("str"),
            "groups": names("str"),
            "commands": names("str"),
            "read": names("path"),
            "envs": names("path"),
            "units": names("str"),
            "models": names("path"),
            "cann_roots": names("path"),
        },
        supports_check_mode=True,
    )
    params = dict(module.params)
    if params["timeout"] < 1:
        module.fail_json(msg="timeout is %d and must be at least 1 second." % params["timeout"])
    params["subset"] = _probe.subset_of(params["subset"], params["models"])
    facts = _probe.gather(Runner(module.run_command), _probe.Ask(**params))
    module.exit_json(changed=False, ansible_facts=facts)


if __name__ == "__main__":
    main()
