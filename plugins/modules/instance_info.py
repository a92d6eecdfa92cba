#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: instance_info
short_description: Ask the vLLM instances of a node whether they answer
version_added: 0.1.0
description:
  - Asks each instance as its users do. Health, model list, and a short completion, with the time that it took.
  - Takes port, served name and key from what M(ascend.fleet.instance) left on the node, so that nothing has to be said
    again. The key is not returned.
  - Changes nothing, and does not fail because an instance does not answer.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  names:
    description: Instances to ask; none for all that are on the node.
    type: list
    elements: str
    default: []
  completion:
    description: Whether the models are asked for a completion too.
    type: bool
    default: true
  timeout:
    description: Seconds that a model has to answer.
    type: int
    default: 120
extends_documentation_fragment:
  - ascend.fleet.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
  platform:
    platforms: linux
seealso:
  - module: ascend.fleet.instance
"""

EXAMPLES = r"""
- name: Ask all instances of the node
  ascend.fleet.instance_info:
  register: asked

- name: Ask one for its health and its models only
  ascend.fleet.instance_info:
    names: [chat]
    completion: false
"""

RETURN = r"""
instances:
  description: One row for each instance, by name.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the instance.
      type: str
    state:
      description: V(started), V(stopped), or V(missing) when it is not on the node.
      type: str
    active:
      description: What systemd says of its unit.
      type: str
    unit:
      description: Its systemd unit.
      type: str
    port:
      description: Its port.
      type: int
    model:
      description: The served name.
      type: str
    runtime:
      description: Id of its runtime.
      type: str
    devices:
      description: Its NPUs or chips.
      type: list
      elements: str
    pending_restart:
      description: Whether it runs with older files than those on the node.
      type: bool
    ready:
      description: Whether it answers; null when it is stopped.
      type: bool
    models:
      description: Names that it serves.
      type: list
      elements: str
    completion:
      description: What the model said; null when it was not asked or did not answer.
      type: str
    latency_s:
      description: Seconds from the first question to the completion.
      type: float
    error:
      description: Why it does not answer, with its cause and the next command; null when it does.
      type: str
  sample:
    - name: chat
      state: started
      active: active
      unit: ascend-vllm-chat.service
      port: 8000
      model: qwen3-8b
      runtime: 0.23.0-1f2e3d4c
      devices: ["0", "1"]
      pending_restart: false
      ready: true
      models: [qwen3-8b]
      completion: Paris
      latency_s: 0.412
      error:
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _instance_info, _openai, _systemd
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main():
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "default": []},
            "completion": {"type": "bool", "default": True},
            "timeout": {"type": "int", "default": 120},
        },
        supports_check_mode=True,
    )
    params = module.params
    ask = _instance_info.Ask(params["names"], params["completion"], params["timeout"])
    try:
        rows = _instance_info.look(Runner(module.run_command), _openai.http_open, ask)
    except _systemd.SystemdError as exc:
        module.fail_json(msg="%s. Instances are systemd units: is systemd running on this node?" % exc)
    module.exit_json(changed=False, instances=rows)


if __name__ == "__main__":
    main()
