#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller by the action plugin of the same name.
from __future__ import annotations

DOCUMENTATION = r"""
module: validate
short_description: Show and write down whether a host serves what it should
version_added: 0.1.0
description:
  - Prints a line for each instance, writes a JSON file for each host when asked, and fails when an instance does not
    answer, when one that is wanted is not there, or when a finding reaches O(fail_on).
  - Works on the controller and touches no node.
options:
  judged:
    description:
      - What M(ascend.fleet.judge) returned with C(fail_on=none).
    type: dict
    required: true
  asked:
    description:
      - The instances that M(ascend.fleet.instance_info) returned.
    type: list
    elements: dict
    required: true
  wanted:
    description:
      - Definitions of the instances that the host should have, as C(vllm_service_instances) has them.
    type: list
    elements: dict
    default: []
  fail_on:
    description:
      - The least severity of a finding that fails the host.
    type: str
    choices: [error, warning, none]
    default: error
  report:
    description:
      - Folder on the controller for the JSON file of each host; it is made when it is absent. Empty writes none.
    type: str
    default: ""
author:
  - ascend.fleet authors (@ascend-fleet)
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
    platforms: all
seealso:
  - module: ascend.fleet.instance_info
  - module: ascend.fleet.judge
"""

EXAMPLES = r"""
- name: Ask the instances
  ascend.fleet.instance_info:
  register: asked

- name: Fail a host that does not serve what it should
  ascend.fleet.validate:
    judged: "{{ judged }}"
    asked: "{{ asked.instances }}"
    wanted: "{{ vllm_service_instances }}"
    report: ./ascend-fleet-report
"""

RETURN = r"""
instances:
  description: Rows of M(ascend.fleet.instance_info), with one for each wanted instance that is not there.
  returned: always
  type: list
  elements: dict
findings:
  description: What the judge found.
  returned: always
  type: list
  elements: dict
table:
  description: The lines that were printed.
  returned: always
  type: list
  elements: str
report:
  description: Path of the JSON file.
  returned: when O(report) is set
  type: str
"""
