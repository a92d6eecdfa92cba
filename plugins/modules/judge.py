#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller by the action plugin of the same name.
from __future__ import annotations

DOCUMENTATION = r"""
module: judge
short_description: Say whether a host can become what its variables want, and what is to be done
version_added: 0.1.0
description:
  - Takes what M(ascend.fleet.probe) found on a host and the variables of the host, and answers three questions. Which
    versions does the release need here (RV(row))? What is wrong (RV(findings))? What has to be done (RV(steps))?
  - It runs on the controller and does not touch the node. It fails by itself, with every reason and remedy at once,
    when a finding reaches O(fail_on), so nothing changes on a host whose verdict is no.
  - Artifacts that the steps need are looked up, and those on the controller are hashed, before anything begins.
  - A variable whose name is almost one of ours is refused, because it would have no effect.
options:
  layers:
    description:
      - What is judged. The release, the chip family and the names of the variables are judged with any layer.
    type: list
    elements: str
    choices: [host, npu_driver, cann, conda_env, vllm_ascend, vllm_service]
    default: [host, npu_driver, cann, conda_env, vllm_ascend, vllm_service]
  probe:
    description:
      - The C(ansible_facts) of M(ascend.fleet.probe) in this run. What is absent is not judged.
    type: dict
    required: true
  fail_on:
    description:
      - The least severity that makes the task fail.
      - V(none) never fails because of a finding.
    type: str
    choices: [error, warning, none]
    default: error
  ignore:
    description:
      - Ids of findings that are left out, as C(npu_driver.version.undocumented).
    type: list
    elements: str
    default: []
author:
  - ascend.fleet authors (@ascend-fleet)
extends_documentation_fragment:
  - ascend.fleet.attributes
attributes:
  check_mode:
    support: full
    details: Nothing is changed, in check mode or without.
  diff_mode:
    support: N/A
    details: Nothing is changed.
  idempotent:
    support: full
  platform:
    platforms: all
seealso:
  - module: ascend.fleet.probe
  - plugin: ascend.fleet.release
    plugin_type: lookup
  - plugin: ascend.fleet.verdict
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Look at the host
  ascend.fleet.probe:
  register: seen

- name: Refuse a host that cannot get CANN
  ascend.fleet.judge:
    layers: [host, npu_driver, cann]
    probe: "{{ seen.ansible_facts }}"
  register: judged

- name: Say what would be done
  ansible.builtin.debug:
    msg: "{{ judged.steps.cann | map(attribute='do') }}"
"""

RETURN = r"""
row:
  description: What the release needs on this host; null when there is no such release.
  returned: always
  type: dict
family:
  description: Chip family, from the host or from C(ascend_family); null when it is not known.
  returned: always
  type: str
  sample: 910b
arch:
  description: Processor architecture.
  returned: always
  type: str
  sample: aarch64
runtime_id:
  description: Id of the runtime that the row makes.
  returned: always
  type: str
  sample: 0.23.0-1a2b3c4d
findings:
  description: What is wrong or not documented, errors first, then in the order of the layers.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Stable name, C(<layer>.<subject>.<problem>).
      type: str
    severity:
      description: V(error), V(warning) or V(info).
      type: str
    layer:
      description: The layer that is concerned.
      type: str
    have:
      description: What was found.
      type: raw
    want:
      description: What is wanted.
      type: raw
    evidence:
      description: Where it shows, or the words of the tool, or null.
      type: raw
    remedy:
      description: What to do next.
      type: str
    source:
      description: Where the wanted value is documented, or null.
      type: str
    instance:
      description: Name of the instance that is concerned, or null.
      type: str
worst:
  description: The highest severity, null when there are no findings.
  returned: always
  type: str
steps:
  description: What has to be done, by layer, in order. A layer that is as it should be has an empty list.
  returned: always
  type: dict
  sample: {cann: [{do: install CANN toolkit 9.1.0, kind: package, layer: cann, package: toolkit, version: 9.1.0}]}
refused:
  description: Whether a finding reached O(fail_on).
  returned: always
  type: bool
"""
