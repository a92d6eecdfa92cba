#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller by the action plugin of the same name.
from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Show and write down what the judge found, and refuse the host by it
version_added: 0.1.0
description:
  - Prints a table of the findings, writes them to a JSON file for each host when asked, and fails when one reaches
    O(fail_on). The failure names every such finding with its remedy.
  - Works on the controller and touches no node. The report is written in check mode too; it is what was asked for.
options:
  judged:
    description:
      - What M(ascend.fleet.judge) returned with C(fail_on=none).
    type: dict
    required: true
  fail_on:
    description:
      - The least severity that refuses the host.
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
attributes:
  check_mode:
    support: full
    details: It changes no host; the report is written in check mode too.
  diff_mode:
    support: N/A
  idempotent:
    support: full
  platform:
    platforms: linux
extends_documentation_fragment:
  - ascend.fleet.attributes
seealso:
  - module: ascend.fleet.judge
"""

EXAMPLES = r"""
- name: Judge the host
  ascend.fleet.judge:
    probe: "{{ ascend_probe_result.ansible_facts }}"
    fail_on: none
  register: judged

- name: Refuse the host when it cannot work
  ascend.fleet.preflight:
    judged: "{{ judged }}"
    report: ./ascend-fleet-report
"""

RETURN = r"""
refused:
  description: Whether a finding reached O(fail_on).
  returned: always
  type: bool
counts:
  description: How many findings there are, in words.
  returned: always
  type: str
  sample: 1 error, 2 warnings
findings:
  description: The findings.
  returned: always
  type: list
  elements: dict
report:
  description: Path of the JSON file.
  returned: when O(report) is set
  type: str
"""
