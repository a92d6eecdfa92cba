#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: probe
short_description: Everything that a node can tell, in one call
version_added: 0.1.0
description:
  - Gathers the facts of M(ascend.fleet.npu_facts), M(ascend.fleet.cann_facts) and M(ascend.fleet.stack_facts), and
    those of the operating system, environments, units and files that the layers of this collection are judged by.
  - Environments and units that a state file names are always looked at; options add more.
  - In a playbook the controller adds what the variables of the host make the layers need, so that a single call is
    enough for every layer.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  subset:
    description:
      - Parts to gather. All but V(models) by default; V(models) too when O(models) names some.
    type: list
    elements: str
    choices: [npu, cann, stack, host, envs, units, models]
  timeout:
    description: Seconds that each call of a tool may take. npu-smi can hang for minutes when a card is lost.
    type: int
    default: 60
  paths:
    description: Paths whose room and mount options are wanted.
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
    description: Commands to look for.
    type: list
    elements: str
    default: []
  read:
    description: Files whose text is wanted, at most the first MiB of each.
    type: list
    elements: path
    default: []
  envs:
    description: More prefixes of Python environments. Their packages are read from files, nothing is started.
    type: list
    elements: path
    default: []
  units:
    description: More systemd units.
    type: list
    elements: str
    default: []
  models:
    description: Model folders, to see whether they are complete.
    type: list
    elements: path
    default: []
  cann_roots:
    description: More folders below which CANN may be installed, beside C(/usr/local/Ascend) and the recorded one.
    type: list
    elements: path
    default: []
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.read
notes:
  - The action of the same name adds to O(paths), O(users), O(groups), O(commands), O(read), O(envs), O(units),
    O(models) and O(cann_roots).
"""

EXAMPLES = r"""
- name: Look at the host
  ascend.fleet.probe:
  register: seen

- name: Say how much room there is for environments
  ascend.fleet.probe:
    subset: [host]
    paths: [/opt]
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
      returned: when O(subset) has V(npu)
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
    ascend_cann:
      description: Every CANN on the host, whoever installed it.
      returned: when O(subset) has V(cann)
      type: dict
      contains:
        trees:
          description: >-
            Trees, each with C(version), C(path), C(layout) (C(legacy) up to 8.3, C(cann) from 8.5), C(arch),
            C(toolkit), C(ops) (version by chip family), C(complete), C(env_scripts), C(links) (names that lead to
            it), and C(origin), which is C(ours) when a state file of this collection names it, else C(foreign).
          type: list
          elements: dict
          returned: success
        nnal:
          description: NNAL versions, each with C(version), C(path) and C(active).
          type: list
          elements: dict
          returned: success
        active:
          description: Path of the tree that the links C(cann) or C(latest) name, or null.
          type: str
          returned: success
          sample: /usr/local/Ascend/cann-9.1.0
    ascend_stack:
      description: >-
        State of what this collection made, by layer and key. A damaged state file is null. Each state carries
        C(drift), a list of what is no longer as it was left.
      returned: when O(subset) has V(stack)
      type: dict
      sample: {cann: {toolkit-9.1.0: {status: complete, origin: installed, drift: []}}}
    ascend_host:
      description: >-
        The operating system, C(os), C(arch), C(libc), C(kernel), C(kernel_headers), C(python), C(disk) by path,
        listening C(ports) with C(port_owners), C(users), C(groups), C(commands), C(clock), C(uptime_s),
        C(hostname).
      returned: when O(subset) has V(host)
      type: dict
    ascend_envs:
      description: Python environments by prefix, each with C(exists), C(python) and C(packages).
      returned: when O(subset) has V(envs)
      type: dict
    ascend_units:
      description: >-
        Units by name, each with C(load), C(active), C(sub), C(enabled), C(main_pid), C(restarts) and C(result).
      returned: when O(subset) has V(units)
      type: dict
    ascend_reads:
      description: Text of each file in O(read), null where it cannot be read.
      returned: success
      type: dict
    ascend_models:
      description: Model folders by path, each with C(exists), C(config), C(weight_files) and C(missing_weights).
      returned: when O(subset) has V(models)
      type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _npu, _probe
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

LISTS = {
    "paths": "path",
    "users": "str",
    "groups": "str",
    "commands": "str",
    "read": "path",
    "envs": "path",
    "units": "str",
    "models": "path",
    "cann_roots": "path",
}


def main() -> None:
    spec = {name: {"type": "list", "elements": kind, "default": []} for name, kind in LISTS.items()}
    module = AnsibleModule(
        argument_spec=dict(
            spec,
            subset={"type": "list", "elements": "str", "choices": list(_probe.SUBSETS)},
            timeout={"type": "int", "default": _npu.DEFAULT_TIMEOUT},
        ),
        supports_check_mode=True,
    )
    given = {name: module.params[name] for name in LISTS}
    subset = _probe.subset_of(module.params["subset"], given["models"])
    ask = _probe.Ask(subset=subset, timeout=module.params["timeout"], **given)
    module.exit_json(changed=False, ansible_facts=_probe.gather(Runner(module.run_command), ask))


if __name__ == "__main__":
    main()
