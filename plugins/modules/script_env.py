#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: script_env
short_description: Turn the environment scripts of one CANN version into a file of variables
version_added: 0.1.0
description:
  - Sources the C(set_env.sh) scripts of a toolkit and of NNAL once, in a bash that inherits nothing, and keeps what
    they set in a file of C(KEY="value") lines, which systemd's C(EnvironmentFile) and bash read alike.
  - Links that move with the next install (C(cann), C(latest)) are replaced by the folders of the version, so that the
    file means the same version for good. Empty elements of search paths, which mean the current folder, are dropped.
  - Variables that hang on the home folder of the caller are left out.
  - The scripts run again only when one of them, the ABI or a folder is another one, or the file was changed.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  version:
    description: Version of the toolkit.
    type: str
    required: true
  nnal_version:
    description: Version of NNAL. Without it the file is made from the toolkit alone.
    type: str
  cxx_abi:
    description:
      - C++ ABI of the torch that is used with this version. NNAL brings its library for both.
      - Needed with O(nnal_version). The vendor's script would else start Python and import torch to find out.
    type: int
    choices: [0, 1]
  install_path:
    description: Folder below which CANN is looked for first.
    type: path
    default: /usr/local/Ascend
  scripts:
    description: Further scripts, sourced last.
    type: list
    elements: path
    default: []
  dest:
    description: File to write. C(/etc/ascend-fleet/cann-<version>.env) by default.
    type: path
  timeout:
    description: Seconds that the scripts may take together.
    type: int
    default: 120
extends_documentation_fragment:
  - ascend.fleet.attributes
attributes:
  check_mode:
    support: full
    details: On a host without this CANN the text of the file cannot be known, so the diff does not show it.
  diff_mode:
    support: full
  idempotent:
    support: full
  platform:
    platforms: linux
seealso:
  - module: ascend.fleet.run_package
"""

EXAMPLES = r"""
- name: Write the environment of CANN 9.1.0 for a torch with the new C++ ABI
  ascend.fleet.script_env:
    version: 9.1.0
    nnal_version: 9.1.0
    cxx_abi: 1
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /etc/ascend-fleet/cann-9.1.0.env
env:
  description: The variables in it. Empty in check mode on a host without this CANN.
  returned: success
  type: dict
  sample: {ASCEND_HOME_PATH: /usr/local/Ascend/cann-9.1.0, ATB_CXX_ABI: "1"}
left_out:
  description: Variables that the scripts set from the home folder of the caller, and that are not in the file.
  returned: when the scripts ran
  type: list
  elements: str
  sample: [ASDOPS_LOG_PATH]
have:
  description: What the file is made from, null when it is not there.
  returned: success
  type: dict
  sample: {version: 9.1.0, path: /etc/ascend-fleet/cann-9.1.0.env, cxx_abi: 1}
want:
  description: What was asked for.
  returned: success
  type: dict
  sample: {version: 9.1.0, nnal_version: 9.1.0, cxx_abi: 1}
would:
  description: What was done, in check mode what would be done, in sentences.
  returned: success
  type: list
  elements: str
  sample: ["write /etc/ascend-fleet/cann-9.1.0.env from the scripts of CANN 9.1.0 and NNAL 9.1.0"]
"""

import contextlib

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _cann_env, _script_env
from ansible_collections.ascend.fleet.plugins.module_utils._lock import Busy, held, layer_lock
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

LOCK_WAIT = 60  # seconds


def wanted_of(params):
    return _cann_env.Wanted(
        version=params["version"],
        nnal_version=params["nnal_version"] or "",
        cxx_abi=params["cxx_abi"],
        install_path=params["install_path"].rstrip("/"),
        dest=params["dest"] or "/etc/ascend-fleet/cann-%s.env" % params["version"],
        scripts=params["scripts"],
    )


def run(module, runner, wanted):
    """Look, decide, write; returns the result."""
    nnal = " and NNAL %s" % wanted.nnal_version if wanted.nnal_version else ""
    would = ["write %s from the scripts of CANN %s%s" % (wanted.dest, wanted.version, nnal)]
    want = {"version": wanted.version, "nnal_version": wanted.nnal_version or None, "cxx_abi": wanted.cxx_abi}
    result = {"changed": True, "path": wanted.dest, "env": {}, "have": None, "want": want, "would": would}
    _cann_env.refuse_foreign(runner, wanted)
    try:
        sources = _cann_env.find(runner, wanted)
    except _script_env.EnvError:
        if module.check_mode:
            return result  # an earlier step would have brought the scripts
        raise
    have = _cann_env.have_of(runner, wanted, sources)
    before = runner.read(wanted.dest) or ""
    if _cann_env.is_current(runner, wanted, have):
        return dict(result, changed=False, env=_script_env.parse(before), have=have, would=[])
    made = _cann_env.make(runner, wanted, sources, module.params["timeout"])
    result.update(env=made["env"], left_out=made["left_out"], have=have)
    result["diff"] = {
        "before": before,
        "after": made["text"],
        "before_header": wanted.dest,
        "after_header": wanted.dest,
    }
    if not module.check_mode:
        _cann_env.write(runner, wanted, have, made["text"])
    return result


def main():
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "nnal_version": {"type": "str"},
            "cxx_abi": {"type": "int", "choices": [0, 1]},
            "install_path": {"type": "path", "default": "/usr/local/Ascend"},
            "scripts": {"type": "list", "elements": "path", "default": []},
            "dest": {"type": "path"},
            "timeout": {"type": "int", "default": 120},
        },
        required_by={"nnal_version": ["cxx_abi"]},
        supports_check_mode=True,
    )
    runner = Runner(module.run_command)
    wanted = wanted_of(module.params)
    what = "writing the environment of CANN %s" % wanted.version
    lock = contextlib.nullcontext() if module.check_mode else held(runner, layer_lock("cann"), LOCK_WAIT, what)
    try:
        with lock:
            result = run(module, runner, wanted)
    except (Busy, _script_env.EnvError) as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
