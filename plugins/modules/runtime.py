#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: runtime
short_description: Build vLLM and vllm-ascend from source into an env, and prove the runtime
version_added: 0.1.0
description:
  - Builds vLLM without device code and vllm-ascend for one chip from sources on the node, installs both with what they
    need, writes the environment file of the runtime, and proves that versions, C++ ABI and chip are the wanted ones.
  - Sources are copied before they are built, so a checkout stays clean. One that is not exactly the wanted version
    is refused, because vllm-ascend compares the version of vLLM with one number.
  - Wheels that were built from the same sources with the same CANN, torch, Python and chip are used again.
  - Pins of the release go before what the wheels ask for. Triton is installed last, or removed where there is none.
  - No NPU is used for the build or the proof. An env that an instance uses is never changed.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  id:
    description: Runtime id, which is also the key of the state.
    type: str
    required: true
  release:
    description: The vllm-ascend release that the runtime is of.
    type: str
    required: true
  family:
    description: Chip family, like V(910b), V(a3) or V(310p).
    type: str
    required: true
  prefix:
    description:
      - The env to install into, made by M(ascend.fleet.conda_env).
      - Another env is used as it is when it holds both packages in the wanted versions, and refused otherwise.
    type: path
    required: true
  sources:
    description: The sources of vLLM and vllm-ascend. In check mode they need not be there yet.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Which of the two it is.
        type: str
        required: true
        choices: [vllm, vllm-ascend]
      version:
        description: The version that it must be.
        type: str
        required: true
      src:
        description: Source archive on the node, a folder with its content, or a git checkout at the tag of the version.
        type: path
        required: true
      sha256:
        description: SHA-256 that an archive must have.
        type: str
  cann_env_file:
    description: Environment file of the CANN version, made by M(ascend.fleet.script_env).
    type: path
    required: true
  env_file:
    description: Environment file of the runtime. The default is C(/etc/ascend-fleet/runtimes/<id>.env).
    type: path
  wheels:
    description: Folder for the built wheels. The default is C(/opt/ascend-fleet/wheels/<id>).
    type: path
  cxx_abi:
    description: C++ ABI that the CANN environment was made for, and that torch must have.
    type: int
    choices: [0, 1]
    default: 1
  soc_version:
    description: Chip to build for, as vllm-ascend spells it. Empty lets the build ask npu-smi.
    type: str
    default: ""
  custom_kernels:
    description: Whether to compile the custom kernels. Without them the runtime is good for tests only.
    type: bool
    default: true
  max_jobs:
    description: Compilers at a time. V(0) leaves it to the build.
    type: int
    default: 0
  build_env:
    description: Further environment variables of the builds.
    type: dict
    default: {}
  requirements:
    description: Build requirements. Empty takes those that the sources name.
    type: list
    elements: str
    default: []
  triton_ascend:
    description: Version of triton-ascend. Empty means that there must be no Triton, as on the 310P.
    type: str
    default: ""
  pins:
    description:
      - Versions of the release by distribution name, each a version or a list V([low, high]), without high itself.
      - A version goes before what the wheels ask for; null is no limit.
    type: dict
    default: {}
  dependencies:
    description: Whether to install what both wheels need, or nothing but the wheels themselves.
    type: str
    choices: [resolve, skip]
    default: resolve
  timeout:
    description: Seconds that all of the work may take.
    type: int
    default: 7200
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.change
  - ascend.fleet.pip
seealso:
  - module: ascend.fleet.conda_env
  - module: ascend.fleet.script_env
"""

EXAMPLES = r"""
- name: Build the runtime of a release for an Atlas 800I A2
  ascend.fleet.runtime:
    id: 0.23.0-1a2b3c4d
    release: 0.23.0
    family: 910b
    prefix: /opt/ascend-fleet/envs/0.23.0-1a2b3c4d
    sources:
      - {name: vllm, version: 0.23.0, src: /srv/ascend/sources/vllm-0.23.0.tar.gz}
      - {name: vllm-ascend, version: 0.23.0, src: /srv/ascend/sources/vllm_ascend-0.23.0.tar.gz}
    cann_env_file: /etc/ascend-fleet/cann-9.1.0.env
    soc_version: ascend910b1
    triton_ascend: 3.2.2
    pins:
      torch: 2.10.0
      torch-npu: 2.10.0.post4
      numpy: ["1.26", null]
"""

RETURN = r"""
have:
  description:
    - The runtime, as M(ascend.fleet.instance) takes it.
    - In check mode, and when nothing was to be done, what the state tells; empty when there is none.
  returned: success
  type: dict
  sample:
    id: 0.23.0-1a2b3c4d
    kind: native
    release: 0.23.0
    family: 910b
    exec: [/opt/ascend-fleet/envs/0.23.0-1a2b3c4d/bin/vllm]
    env_file: /etc/ascend-fleet/runtimes/0.23.0-1a2b3c4d.env
    prefix: /opt/ascend-fleet/envs/0.23.0-1a2b3c4d
    versions: {vllm: 0.23.0, vllm_ascend: 0.23.0, torch: 2.10.0, python: 3.12.7, cann: 9.1.0}
    device_type: A2
would:
  description: The steps that were done, or in check mode would be done.
  returned: success
  type: list
  elements: str
  sample: ["build vllm 0.23.0 without device code", "write /etc/ascend-fleet/runtimes/0.23.0-1a2b3c4d.env"]
log:
  description: Last lines of the output of the command that failed.
  returned: failure of a command
  type: list
  elements: str
  sample: ["RuntimeError: Could not determine chip type automatically via 'npu-smi'"]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils._lock import Busy, held, layer_lock
from ansible_collections.ascend.fleet.plugins.module_utils._pip import OPTIONS, pin_lines
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner
from ansible_collections.ascend.fleet.plugins.module_utils._runtime import LAYER, Want, apply, look, refusal, steps
from ansible_collections.ascend.fleet.plugins.module_utils._state import load
from ansible_collections.ascend.fleet.plugins.module_utils._work import Failed

LOCK_WAIT = 30  # seconds; the work of another run takes far longer, so the answer is who does it
SOURCE = {
    "name": {"type": "str", "required": True, "choices": ["vllm", "vllm-ascend"]},
    "version": {"type": "str", "required": True},
    "src": {"type": "path", "required": True},
    "sha256": {"type": "str"},
}
SPEC = {
    "id": {"type": "str", "required": True},
    "release": {"type": "str", "required": True},
    "family": {"type": "str", "required": True},
    "prefix": {"type": "path", "required": True},
    "sources": {"type": "list", "elements": "dict", "required": True, "options": SOURCE},
    "cann_env_file": {"type": "path", "required": True},
    "env_file": {"type": "path"},
    "wheels": {"type": "path"},
    "cxx_abi": {"type": "int", "choices": [0, 1], "default": 1},
    "soc_version": {"type": "str", "default": ""},
    "custom_kernels": {"type": "bool", "default": True},
    "max_jobs": {"type": "int", "default": 0},
    "build_env": {"type": "dict", "default": {}},
    "requirements": {"type": "list", "elements": "str", "default": []},
    "triton_ascend": {"type": "str", "default": ""},
    "pins": {"type": "dict", "default": {}},
    "dependencies": {"type": "str", "choices": ["resolve", "skip"], "default": "resolve"},
    "find_links": {"type": "path"},
    "pip": {"type": "dict", "default": {}, "options": OPTIONS},
    "timeout": {"type": "int", "default": 7200},
}


def wanted(params):
    """The Want of the module's parameters. ValueError for pins of another form."""
    for name, pin in params["pins"].items():
        if isinstance(pin, dict) or (isinstance(pin, list) and len(pin) != 2):
            raise ValueError("The pin of %s is %r, wanted is a version or [low, high]" % (name, pin))
    return Want(
        id=params["id"],
        release=params["release"],
        family=params["family"],
        prefix=params["prefix"].rstrip("/"),
        sources=params["sources"],
        cann_env_file=params["cann_env_file"],
        env_file=params["env_file"] or "/etc/ascend-fleet/runtimes/%s.env" % params["id"],
        wheels=params["wheels"] or "/opt/ascend-fleet/wheels/%s" % params["id"],
        cxx_abi=params["cxx_abi"],
        soc_version=params["soc_version"],
        custom_kernels=params["custom_kernels"],
        max_jobs=params["max_jobs"],
        build_env={name: str(value) for name, value in params["build_env"].items()},
        requirements=params["requirements"],
        triton_ascend=params["triton_ascend"],
        pins=pin_lines(params["pins"]),
        dependencies=params["dependencies"],
        pip=params["pip"],
        find_links=params["find_links"] or "",
        timeout=params["timeout"],
    )


def main():
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    runner = Runner(module.run_command)
    try:
        want = wanted(module.params)
        seen = look(runner, want)
        would = steps(seen, want)
        if would and not module.check_mode:
            with held(runner, layer_lock(LAYER), LOCK_WAIT, "building the runtime %s" % want.id):
                before = seen = look(runner, want)  # the run that we waited for may have done it
                would = steps(seen, want)
                if would:
                    reason = refusal(runner, seen, want)
                    if reason:
                        module.fail_json(msg=reason, would=would)
                    have = apply(runner, want, seen)
                    module.exit_json(changed=True, would=would, have=have, diff=difference(want, before, have))
    except Failed as failure:
        module.fail_json(**failure.result())
    except Busy as busy:
        module.fail_json(msg=str(busy))
    except ValueError as exc:
        module.fail_json(msg="%s. Correct the options of the runtime." % exc)
    except OSError as exc:
        module.fail_json(msg="%s. The runtime is root's: run with become, and look at the disk and its mounts." % exc)
    have = (load(runner, LAYER, want.id) or {}).get("have", {})
    module.exit_json(changed=bool(would), would=would, have=have, diff=difference(want, seen, None) if would else [])


def difference(want, seen, have):
    """Two short texts for --diff: the distributions that tell the runtime, before and after."""
    names = ("vllm", "vllm-ascend", "triton-ascend")
    after = {one["name"]: one["version"] for one in want.sources}
    after["triton-ascend"] = want.triton_ascend or None
    if have:
        after = {name: have["versions"].get(name.replace("-", "_")) for name in names}
    return {
        "before_header": want.prefix,
        "after_header": want.prefix,
        "before": "runtime: %s\n" % seen.runtime + "".join("%s: %s\n" % (n, seen.packages.get(n)) for n in names),
        "after": "runtime: complete\n" + "".join("%s: %s\n" % (name, after.get(name)) for name in names),
    }


if __name__ == "__main__":
    main()
