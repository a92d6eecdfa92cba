#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: conda_env
short_description: Make a conda env with a pinned Python and pinned packages
version_added: 0.1.0
description:
  - Installs conda from an installer on the node when there is none, creates an env with one Python line, and installs
    packages into it with pip.
  - The env is judged by its files. One that is complete and equal starts no process and is reported as unchanged.
  - An env that an instance uses, a folder that this collection did not make, and a conda that was there before are
    never changed. An env whose making was cut short is removed and made again.
  - Reads no configuration of conda or pip that lies on the node, and leaves none behind.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  base:
    description:
      - Where conda is, or is to be installed.
      - A conda that was there before is used as it is; nothing is written into it.
    type: path
    default: /opt/ascend-fleet/conda
  installer:
    description: Miniforge installer on the node. Only needed when there is no conda at O(base).
    type: path
  installer_sha256:
    description: SHA-256 that O(installer) must have.
    type: str
  prefix:
    description: Where the env is, or is to be made.
    type: path
    required: true
  key:
    description: Name of the state of this env, by convention the runtime id.
    type: str
    required: true
  python:
    description: Python line of the env, like V(3.12).
    type: str
    required: true
  channels:
    description: Conda channels to take Python from, as names, addresses or folders. No other channel is asked.
    type: list
    elements: str
    default: [conda-forge]
  offline:
    description: Whether conda may use nothing but what lies on the node, as with a channel in a folder.
    type: bool
    default: false
  packages:
    description:
      - What pip installs, as requirements like V(torch==2.10.0+cpu). An exact one is also a limit for all others.
    type: list
    elements: str
    default: []
  find_links:
    description: Folder on the node with wheels, searched beside the index.
    type: path
  timeout:
    description: Seconds that all of the work may take.
    type: int
    default: 3600
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.change
  - ascend.fleet.pip
seealso:
  - module: ascend.fleet.runtime
"""

EXAMPLES = r"""
- name: Make an env from folders on the node, without any network
  ascend.fleet.conda_env:
    installer: /srv/ascend/Miniforge3-Linux-aarch64.sh
    prefix: /opt/ascend-fleet/envs/0.23.0-1a2b3c4d
    key: 0.23.0-1a2b3c4d
    python: "3.12"
    channels: [/srv/ascend/channel]
    offline: true
    packages: [torch==2.10.0, torch-npu==2.10.0.post4]
    find_links: /srv/ascend/wheels
    pip:
      no_index: true

- name: Make an env with the conda that is there, from a mirror
  ascend.fleet.conda_env:
    base: /opt/miniforge3
    prefix: /opt/ascend-fleet/envs/0.23.0-1a2b3c4d
    key: 0.23.0-1a2b3c4d
    python: "3.12"
    channels: [https://mirror.example.com/conda-forge]
    packages: [torch==2.10.0+cpu, torch-npu==2.10.0.post4]
    pip:
      index_url: https://mirror.example.com/pypi/simple
      extra_index_urls: [https://mirror.example.com/pytorch-cpu]
"""

RETURN = r"""
have:
  description: What is there afterwards; in check mode, what was found.
  returned: success
  type: dict
  contains:
    base:
      description: Whose conda is at O(base), V(ours), V(foreign), V(half), V(absent) or V(occupied).
      type: str
      sample: ours
    env:
      description: State of the env, V(complete), V(differs), V(half), V(other) or V(absent).
      type: str
      sample: complete
    prefix:
      description: Path of the env.
      type: str
      sample: /opt/ascend-fleet/envs/0.23.0-1a2b3c4d
    python:
      description: Version of its Python, if it is there.
      type: str
      sample: 3.12.7
would:
  description: The steps that were done, or in check mode would be done.
  returned: success
  type: list
  elements: str
  sample: ["create the env /opt/ascend-fleet/envs/0.23.0-1a2b3c4d with Python 3.12", "install torch==2.10.0"]
log:
  description: Last lines of the output of the command that failed.
  returned: failure of a command
  type: list
  elements: str
  sample: ["ERROR: No matching distribution found for torch==2.10.0+cpu"]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils._conda_env import LAYER, Want, apply, look, refusal, steps
from ansible_collections.ascend.fleet.plugins.module_utils._lock import Busy, held, layer_lock
from ansible_collections.ascend.fleet.plugins.module_utils._pip import OPTIONS
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner
from ansible_collections.ascend.fleet.plugins.module_utils._work import Failed

LOCK_WAIT = 30  # seconds; the work of another run takes far longer, so the answer is who does it


def wanted(params):
    """The Want of the module's parameters, paths without a closing slash."""
    return Want(
        base=params["base"].rstrip("/"),
        installer=params["installer"] or "",
        installer_sha256=(params["installer_sha256"] or "").lower(),
        prefix=params["prefix"].rstrip("/"),
        key=params["key"],
        python=params["python"],
        channels=params["channels"],
        offline=params["offline"],
        packages=params["packages"],
        pip=params["pip"],
        find_links=params["find_links"] or "",
        timeout=params["timeout"],
    )


def main():
    module = AnsibleModule(
        argument_spec={
            "base": {"type": "path", "default": "/opt/ascend-fleet/conda"},
            "installer": {"type": "path"},
            "installer_sha256": {"type": "str"},
            "prefix": {"type": "path", "required": True},
            "key": {"type": "str", "required": True, "no_log": False},
            "python": {"type": "str", "required": True},
            "channels": {"type": "list", "elements": "str", "default": ["conda-forge"]},
            "offline": {"type": "bool", "default": False},
            "packages": {"type": "list", "elements": "str", "default": []},
            "find_links": {"type": "path"},
            "pip": {"type": "dict", "default": {}, "options": OPTIONS},
            "timeout": {"type": "int", "default": 3600},
        },
        supports_check_mode=True,
    )
    runner = Runner(module.run_command)
    want = wanted(module.params)
    try:
        seen = look(runner, want)
        would = steps(seen, want)
        if would and not module.check_mode:
            with held(runner, layer_lock(LAYER), LOCK_WAIT, "making the env %s" % want.prefix):
                seen = look(runner, want)  # the run that we waited for may have done it
                would = steps(seen, want)
                reason = refusal(seen, want)
                if reason:
                    module.fail_json(msg=reason, would=would)
                if would:
                    apply(runner, want, seen)
                    after = look(runner, want)
        else:
            reason = refusal(seen, want, planned=True)
            if reason:
                module.fail_json(msg=reason, would=would)
    except Failed as failure:
        module.fail_json(**failure.result())
    except Busy as busy:
        module.fail_json(msg=str(busy))
    except ValueError as exc:
        module.fail_json(msg="%s. Correct prefix or key." % exc)
    except OSError as exc:
        module.fail_json(msg="%s. The env is root's: run with become, and look at the disk and its mounts." % exc)
    if would and not module.check_mode:
        module.exit_json(changed=True, would=would, have=described(after, want), diff=difference(seen, after, want))
    module.exit_json(
        changed=bool(would), would=would, have=described(seen, want), diff=difference(seen, None, want) if would else []
    )


def described(seen, want):
    return {"base": seen.base, "env": seen.env, "prefix": want.prefix, "python": seen.python}


def difference(before, after, want):
    """Two short texts for --diff; what is not made yet is what is wanted."""
    head = "%s" % want.prefix
    return {
        "before_header": head,
        "after_header": head,
        "before": "conda: %s\nenv: %s\npython: %s\n%s"
        % (before.base, before.env, before.python, "".join("%s: %s\n" % (d.name, d.have) for d in before.differences)),
        "after": "conda: %s\nenv: complete\npython: %s\n%s"
        % (
            after.base if after else ("ours" if before.base in ("absent", "half") else before.base),
            after.python if after else want.python,
            "".join("%s: %s\n" % (d.name, d.want) for d in before.differences),
        ),
    }


if __name__ == "__main__":
    main()
