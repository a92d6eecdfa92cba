#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: npu_facts
short_description: Facts about the Ascend NPUs, driver and firmware of a host
version_added: 0.1.0
description:
  - Reads npu-smi, the driver's and the firmware's files, the PCI bus and the device nodes, and returns one structure.
  - Runs C(npu-smi info) and C(npu-smi info -m) once each, one after the other, under a lock that every caller of this
    collection takes, since the tool fails when it is called twice at a time.
  - An error of npu-smi is a fact (C(smi.error)), not a failure of the module.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  timeout:
    description: Seconds that each call of a tool may take. npu-smi can hang for minutes when a card is lost.
    type: int
    default: 60
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.read
notes:
  - Without root the firmware version and what belongs to other users cannot be read and is null.
seealso:
  - module: ascend.fleet.probe
"""

EXAMPLES = r"""
- name: Look at the NPUs
  ascend.fleet.npu_facts:

- name: Say which driver there is
  ansible.builtin.debug:
    msg: "{{ ansible_facts['ascend_npu']['driver']['version'] }}"
  when: ansible_facts['ascend_npu']['driver'] is not none
"""

RETURN = r"""
ansible_facts:
  description: Facts of the host.
  returned: success
  type: dict
  contains:
    ascend_npu:
      description: >-
        What the host's NPUs, driver and firmware are. An absent key was not asked for, null was asked for and could
        not be known. A number that a tool does not give is null, never 0.
      returned: success
      type: dict
      contains:
        subset:
          description: Which part was asked for.
          type: str
          returned: success
          sample: minimal
        pci:
          description: >-
            NPUs on the PCI bus, by C(address), C(vendor), C(device), C(subsystem), C(family). Needs no driver.
          type: list
          elements: dict
          returned: success
          sample: [{address: "0000:81:00.0", vendor: "19e5", device: "d802", subsystem: "19e5:3005", family: "910b"}]
        device_nodes:
          description: Device nodes of single NPUs, in the order of their numbers.
          type: list
          elements: str
          returned: success
          sample: [/dev/davinci0, /dev/davinci1]
        smi:
          description: >-
            npu-smi itself, C(path), C(version), C(usable), and C(error), which is null or has C(text) (what was
            printed), C(code) (such as -8005) and C(meaning).
          type: dict
          returned: success
          sample: {path: /usr/local/sbin/npu-smi, version: "25.5.1", usable: true, error: null}
        driver:
          description: >-
            The driver package, C(version), C(running), C(reboot_pending), C(user), C(group), C(for_all),
            C(install_path), C(install_status), C(firmware_ranges) and C(source). Null on a host without a driver.
          type: dict
          returned: success
        firmware:
          description: Firmware, C(version), C(source), and C(mixed), which is true when cards differ.
          type: dict
          returned: success
          sample: {version: "7.8.0.6.201", source: upgrade-tool, mixed: false}
        devices:
          description: >-
            One entry for each chip, by C(npu_id) and C(chip_id), with C(logic_id), C(phy_id), C(name), C(family),
            C(health), C(fault_codes), C(firmware), C(power_w) in watts, C(temperature_c), C(aicore_percent),
            C(bus_id), C(memory_used_mb), C(memory_total_mb), C(hbm_used_mb), C(hbm_total_mb), C(hugepages_used),
            C(hugepages_total), C(compatibility).
          type: list
          elements: dict
          returned: success
        processes:
          description: >-
            Processes on the chips, C(npu_id), C(chip_id), C(pid), C(container_pid), C(name), C(memory_mb). Null
            when npu-smi printed no table of processes, empty when it listed none. It lists at most eight for each
            chip.
          type: list
          elements: dict
          returned: success
        truncated:
          description: Whether a row or a table was cut.
          type: bool
          returned: success
        warnings:
          description: Texts that came along with the answers.
          type: list
          elements: str
          returned: success
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _npu
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner


def main() -> None:
    module = AnsibleModule(
        argument_spec={"timeout": {"type": "int", "default": _npu.DEFAULT_TIMEOUT}},
        supports_check_mode=True,
    )
    facts = _npu.gather(Runner(module.run_command), module.params["timeout"])
    module.exit_json(changed=False, ansible_facts={"ascend_npu": facts})


if __name__ == "__main__":
    main()
