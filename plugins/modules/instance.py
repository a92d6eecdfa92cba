#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: instance
short_description: Bring the vLLM instances of a node to their state and wait until they answer
version_added: 0.1.0
description:
  - Takes all instances of a node in one call. Compares their files with what is wanted, writes only what differs,
    starts or restarts only what has to be, and waits until each one answers.
  - Ready means that C(/health) answers, that the model list has the served name, and, after a start, that the model
    said something.
  - An instance that fails or ends in a loop fails the task at once, with the cause as far as its journal shows it, the
    next command and the last lines. The task does not wait for its time limit then.
  - A port that another process holds, or a file of that name that this collection did not write, stops the task before
    any change.
  - Secrets are compared on the node and written to a file that only root can read. They are in no other file, no diff,
    no state and no result.
  - The files are rendered on the controller by the filter P(ascend.fleet.instance_files#filter); the role
    C(ascend.fleet.vllm_service) does both.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  instances:
    description: Instances as P(ascend.fleet.instance_files#filter) renders them.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the instance; lower-case letters, digits, C(-) and C(_).
        type: str
        required: true
      state:
        description:
          - V(started) runs now and after a reboot, V(stopped) is installed and does not run, V(absent) is removed with
            all that its state names, its own caches included.
        type: str
        choices: [started, stopped, absent]
        default: started
      unit:
        description: The systemd unit.
        type: dict
        required: true
        suboptions:
          path:
            description: Where it lies.
            type: path
            required: true
          content:
            description: Its text.
            type: str
            default: ''
      files:
        description: The other files, all of which may be read by everyone.
        type: list
        elements: dict
        default: []
        suboptions:
          path:
            description: Where it lies.
            type: path
            required: true
          content:
            description: Its text.
            type: str
            required: true
      host:
        description: Address that the server listens on; empty for all.
        type: str
        default: ''
      port:
        description: Port that the server listens on. Not needed for V(absent).
        type: int
      tls:
        description: Whether the server speaks HTTPS.
        type: bool
        default: false
      model:
        description: Folder or name of the model.
        type: str
      served_name:
        description: Name under which the model is asked.
        type: str
      pooling:
        description: Whether the model gives vectors instead of text.
        type: bool
        default: false
      runtime:
        description: Id of the runtime that the instance points to.
        type: str
      devices:
        description: NPUs or chips, as C(npu-smi info -m) prints their ids; none for all of the node.
        type: list
        elements: str
        default: []
      digest:
        description: What the rendered files hash to.
        type: str
  secrets:
    description:
      - Environment variables for the service alone, by instance and name. C(VLLM_API_KEY) is also used to ask the
        server.
    type: dict
    default: {}
  launcher:
    description: The program that finds the devices at each start, as P(ascend.fleet.instance_files#filter) gives it.
    type: dict
    required: true
    suboptions:
      path:
        description: Folder, named by content.
        type: path
        required: true
      entry:
        description: Text of its first file; the others are those of this module.
        type: str
        required: true
  user:
    description: The service user. Made when it is missing; an existing one is not changed.
    type: str
    default: vllm
  group:
    description: Group of the service; empty for the user's own.
    type: str
    default: ''
  restart:
    description:
      - What to do with a running instance whose files changed. V(now) restarts it, V(pending) leaves it alone and says
        so in RV(instances[].pending_restart).
    type: str
    choices: [now, pending]
    default: now
  prove:
    description: Whether the model is asked for a completion only after a V(start), or always (V(completion)).
    type: str
    choices: [start, completion]
    default: start
  ready_timeout:
    description: Seconds until all instances must answer. Loading a large model and capturing graphs takes long.
    type: int
    default: 1800
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.change
seealso:
  - module: ascend.fleet.instance_info
"""

EXAMPLES = r"""
- name: Render the instances and bring them to their state
  vars:
    rendered: "{{ my_instances | ascend.fleet.instance_files(my_context) }}"
  ascend.fleet.instance:
    instances: "{{ rendered.instances }}"
    launcher: "{{ rendered.launcher }}"
    secrets:
      chat:
        VLLM_API_KEY: "{{ vault_chat_key }}"

- name: Write changed files and leave running models alone until the maintenance window
  ascend.fleet.instance:
    instances: "{{ rendered.instances }}"
    launcher: "{{ rendered.launcher }}"
    restart: pending
"""

RETURN = r"""
instances:
  description: One row for each instance, in the order of the option.
  returned: always, unless nothing was changed because of a refusal
  type: list
  elements: dict
  contains:
    name:
      description: Name of the instance.
      type: str
    state:
      description: The state that was asked for.
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
    changed:
      description: Whether something of it changed, or would change.
      type: bool
    pending_restart:
      description: Whether it runs with older files than those on the node.
      type: bool
    ready:
      description: Whether it answers; null when it was not asked.
      type: bool
    completion:
      description: What the model said; null when it was not asked.
      type: str
    seconds:
      description: How long it was waited for.
      type: float
  sample:
    - name: chat
      state: started
      unit: ascend-vllm-chat.service
      port: 8000
      model: qwen3-8b
      runtime: 0.23.0-1f2e3d4c
      devices: ["0", "1"]
      changed: true
      pending_restart: false
      ready: true
      completion: Paris
      seconds: 84.0
would:
  description: What was done, or would be done in check mode, in sentences.
  returned: always, unless nothing was changed because of a refusal
  type: list
  elements: str
  sample: ["write /etc/ascend-fleet/vllm/chat.yaml", "restart ascend-vllm-chat.service"]
"""

import importlib

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _instance_act, _instance_run, _launch, _openai
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

FILE = {"path": {"type": "path", "required": True}, "content": {"type": "str", "required": True}}
UNIT = {"path": {"type": "path", "required": True}, "content": {"type": "str", "default": ""}}
INSTANCE = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["started", "stopped", "absent"], "default": "started"},
    "unit": {"type": "dict", "required": True, "options": UNIT},
    "files": {"type": "list", "elements": "dict", "default": [], "options": FILE},
    "host": {"type": "str", "default": ""},
    "port": {"type": "int"},
    "tls": {"type": "bool", "default": False},
    "model": {"type": "str"},
    "served_name": {"type": "str"},
    "pooling": {"type": "bool", "default": False},
    "runtime": {"type": "str"},
    "devices": {"type": "list", "elements": "str", "default": []},
    "digest": {"type": "str"},
}
LAUNCHER = {"path": {"type": "path", "required": True}, "entry": {"type": "str", "required": True}}
ARGUMENTS = {
    "instances": {"type": "list", "elements": "dict", "required": True, "options": INSTANCE},
    "secrets": {"type": "dict", "default": {}, "no_log": True},
    "launcher": {"type": "dict", "required": True, "options": LAUNCHER},
    "user": {"type": "str", "default": "vllm"},
    "group": {"type": "str", "default": ""},
    "restart": {"type": "str", "choices": ["now", "pending"], "default": "now"},
    "prove": {"type": "str", "choices": ["start", "completion"], "default": "start"},
    "ready_timeout": {"type": "int", "default": 1800},
}


def own_source(name):
    """Text of a sibling as it came along with this module: the launcher is made of the same files."""
    loaded = importlib.import_module("ansible_collections.ascend.fleet.plugins.module_utils." + name)
    return loaded.__loader__.get_source(loaded.__name__)


def site_of(params):
    name, files = _launch.copied(own_source, params["launcher"]["entry"])
    path = params["launcher"]["path"]
    if not path.endswith("/" + name):
        raise _instance_run.Failed(
            "The launcher that was rendered (%s) is not the one of this module (%s): render the instances with the "
            "same version of the collection." % (path, name)
        )
    return _instance_act.Site(params["user"], params["group"], path, files)


def main():
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        supports_check_mode=True,
    )
    params = module.params
    options = _instance_run.Options(params["restart"], params["prove"], params["ready_timeout"], module.check_mode)
    try:
        result = _instance_run.run(
            Runner(module.run_command),
            _openai.http_open,
            site_of(params),
            params["instances"],
            params["secrets"] or {},
            options=options,
        )
    except _instance_run.Failed as exc:
        module.fail_json(msg=str(exc), **exc.result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
