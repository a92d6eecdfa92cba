#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: npu_facts
short_description: Tell which Ascend NPUs, driver and firmware a host has
version_added: 0.1.0
description:
  - Returns what C(npu-smi), the driver's files and the PCI bus say about the NPUs of a host, as
    C(ansible_facts.ascend_npu).
  - A host without NPUs, without a driver, or with a driver that does not answer is a fact, not a failure. Read
    C(ascend_npu.smi.usable) and C(ascend_npu.smi.error).
  - Calls C(npu-smi info) and C(npu-smi info -m) once each, and the driver's upgrade tool once for the firmware of all
    cards. The calls run one after the other, under a lock that every call of this collection takes.
  - Reads all tables of npu-smi from 20.x to 26.x for the chips 310, 310P, 310B, 910, 910B (A2), 910C (A3) and 950 (A5).
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  timeout:
    description:
      - Seconds that one call of a tool may take. A lost card can make C(npu-smi) hang for minutes.
      - After a call that took longer no other is made, and C(ascend_npu.smi.error) says so.
    type: int
    default: 60
notes:
  - Needs no root when the driver was installed for all users, or for a member of the driver's group.
  - Without root some drivers keep the firmware of the cards to themselves.
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.facts
seealso:
  - module: ascend.fleet.probe
  - module: ascend.fleet.cann_facts
"""

EXAMPLES = r"""
- name: Look at the NPUs
  ascend.fleet.npu_facts:

- name: Stop where the driver does not answer
  ansible.builtin.assert:
    that: ansible_facts['ascend_npu'].smi.usable
    fail_msg: "{{ (ansible_facts['ascend_npu'].smi.error | default({}, true)).meaning | default('unknown reason') }}"

- name: Name the cards that are not healthy
  ansible.builtin.debug:
    msg: >-
      {{ ansible_facts['ascend_npu'].devices | rejectattr('health', 'equalto', 'OK') | map(attribute='npu_id') | list }}
"""

RETURN = r"""
ansible_facts:
  description: The facts.
  returned: always
  type: dict
  contains:
    ascend_npu:
      description:
        - What is known of the NPUs. An absent key was not asked. A value of null was asked and is not known; it is
          never replaced by 0.
      returned: always
      type: dict
      contains:
        subset:
          description: How much was asked.
          type: str
          sample: minimal
        pci:
          description: NPUs on the PCI bus, found without a driver. An Atlas 300I Duo is one function with two chips.
          type: list
          elements: dict
          contains:
            address:
              description: Place on the bus.
              type: str
              sample: "0000:c1:00.0"
            vendor:
              description: Vendor id.
              type: str
              sample: 19e5
            device:
              description: Device id.
              type: str
              sample: d802
            subsystem:
              description: Subsystem vendor and device id.
              type: str
              sample: 19e5:3002
            family:
              description: Chip family, one of V(310), V(310b), V(310p), V(910), V(910b), V(a3), V(950).
              type: str
              sample: 910b
        device_nodes:
          description: The C(/dev/davinci<N>) of the host.
          type: list
          elements: str
          sample: [/dev/davinci0, /dev/davinci1]
        smi:
          description: The tool itself.
          type: dict
          contains:
            path:
              description: Where it is, null when it is nowhere.
              type: str
              sample: /usr/local/sbin/npu-smi
            version:
              description: Its version, which can differ from that of the driver.
              type: str
              sample: 25.5.1
            usable:
              description: Whether it listed devices.
              type: bool
              sample: true
            error:
              description: Null, or why it did not.
              type: dict
              contains:
                text:
                  description: What the tool said.
                  type: str
                  sample: dcmi module initialize failed. ret is -8005
                code:
                  description: The number in it.
                  type: int
                  sample: -8005
                meaning:
                  description: What that means and where to look.
                  type: str
        driver:
          description: The driver, null when nothing speaks of one.
          type: dict
          contains:
            version:
              description: Installed version.
              type: str
              sample: 25.5.1
            running:
              description: Version or source version of the loaded kernel module.
              type: str
            reboot_pending:
              description: Whether the installed driver is not the running one. Null when they cannot be compared.
              type: bool
            user:
              description: User that the driver was installed for.
              type: str
              sample: HwHiAiUser
            group:
              description: Group whose members may use the devices.
              type: str
              sample: HwHiAiUser
            for_all:
              description: Whether every user may.
              type: bool
            install_path:
              description: Folder that holds driver and firmware.
              type: str
              sample: /usr/local/Ascend
            install_status:
              description: V(complete) once its installer has ended; older installers do not say.
              type: str
            firmware_ranges:
              description: Firmware that it goes with, as lists of lowest and highest, both included.
              type: list
              elements: list
              sample: [["7.0.0", "8.9.9"]]
            source:
              description: What named the version, V(version.info) or V(npu-smi).
              type: str
        firmware:
          description: The firmware, null when nothing names it.
          type: dict
          contains:
            version:
              description: The version that most cards run.
              type: str
              sample: 7.8.0.6.201
            source:
              description:
                - V(upgrade-tool) asked the cards, V(version.info) is what was installed, V(npu-smi) asked one card.
              type: str
            mixed:
              description: Whether the cards differ.
              type: bool
        devices:
          description: One entry for each chip. NPU ids have gaps and can be large; an A3 has two chips for each NPU.
          type: list
          elements: dict
          sample:
            - npu_id: 0
              chip_id: 0
              logic_id: 0
              phy_id:
              name: 910B4
              family: 910b
              health: OK
              fault_codes:
              firmware: 7.8.0.6.201
              power_w: 85.1
              temperature_c: 41
              aicore_percent: 0
              bus_id: "0000:C1:00.0"
              memory_used_mb:
              memory_total_mb:
              hbm_used_mb: 2872
              hbm_total_mb: 32768
              hugepages_used: 0
              hugepages_total: 0
              compatibility:
        processes:
          description:
            - Processes on the chips. Null when the tool printed no such table, an empty list for an empty table.
            - The tool prints eight for each chip at most, and old drivers none that run in a container.
          type: list
          elements: dict
          sample:
            - npu_id: 0
              chip_id: 0
              pid: 41230
              container_pid:
              name: python3
              memory_mb: 28012
        truncated:
          description: Whether a row or a table was cut, so that devices or processes may be missing.
          type: bool
        warnings:
          description: Messages that came along with a good answer.
          type: list
          elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _npu
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main():
    module = AnsibleModule(argument_spec={"timeout": {"type": "int", "default": 60}}, supports_check_mode=True)
    timeout = module.params["timeout"]
    if timeout < 1:
        module.fail_json(msg="timeout is %d and must be at least 1 second." % timeout)
    module.exit_json(changed=False, ansible_facts={"ascend_npu": _npu.gather(Runner(module.run_command), timeout)})


if __name__ == "__main__":
    main()
