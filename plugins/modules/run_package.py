#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: run_package
short_description: Install one CANN package from its .run file
version_added: 0.1.0
description:
  - Installs the toolkit, the operators of a chip, or NNAL of one CANN version beside whatever else is on the host.
  - A package that is there is not installed again. What is there is read from the files that the vendor's installer
    leaves, and so is its success afterwards, since its exit status says neither.
  - Before the installer runs, the licence, the file, its checksums, the architecture, the room on the disks and the
    modes of the folders are looked at, and everything that stands in the way is said at once.
  - Links (C(cann), C(latest)), C(set_env.sh) files and the record file of a host that already had a CANN are put back
    after the installer has run, so that other users of the host keep their version.
  - An unfinished install of an earlier run is removed and made again. One that this collection did not begin is an
    error and stays.
  - The package is installed for all users, because services run as a user of their own. Others may read and execute
    then, not write.
author:
  - ascend.fleet authors (@ascend-fleet)
options:
  src:
    description: Package on the node. It need not be executable.
    type: path
    required: true
  sha256:
    description: SHA-256 that O(src) must have.
    type: str
    required: true
  package:
    description: Which package this is. V(ops) is called kernels up to CANN 8.3.
    type: str
    choices: [toolkit, ops, nnal]
    required: true
  version:
    description: Version of the package, as in its file name.
    type: str
    required: true
  toolkit_version:
    description: Version of the toolkit that operators and NNAL belong to. O(version) by default.
    type: str
  arch:
    description: Architecture that the package is for, as C(uname -m) says it. That of the host by default.
    type: str
  family:
    description: Chip family that operators are for, such as V(910b), V(a3) or V(310p).
    type: str
  install_path:
    description: Folder below which all of CANN lies.
    type: path
    default: /usr/local/Ascend
  source_scripts:
    description:
      - Scripts to source before the installer of operators or NNAL runs.
      - The C(set_env.sh) of the toolkit O(toolkit_version) when empty.
    type: list
    elements: path
    default: []
  make_default:
    description:
      - Whether the links and C(set_env.sh) files of the host may go to what is installed now. Asked for only when
        something is installed.
      - V(auto) means that they may on a host that had no CANN.
    type: str
    choices: [auto, "true", "false"]
    default: auto
  accept_eula:
    description:
      - Says that you have read and accept the licence of CANN. The vendor's installer runs in its quiet mode, which
        accepts the licence in your name, so without this nothing is installed.
    type: bool
    default: false
  tmp_dir:
    description: Folder to unpack in. By default the first of C(/var/tmp) and C(/tmp) with room that may execute.
    type: path
  disk_mb:
    description: MiB that must be free at O(install_path). V(0) takes five times the size of the package.
    type: int
    default: 0
  tmp_mb:
    description: MiB that must be free to unpack. V(0) takes three times the size of the package.
    type: int
    default: 0
  timeout:
    description: Seconds that the installer may take.
    type: int
    default: 3600
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.change
seealso:
  - module: ascend.fleet.artifact
  - module: ascend.fleet.script_env
  - module: ascend.fleet.cann_facts
"""

EXAMPLES = r"""
- name: Install the toolkit
  ascend.fleet.run_package:
    src: /var/cache/ascend-fleet/Ascend-cann-toolkit_9.1.0_linux-aarch64.run
    sha256: 0f9a5d0c6f1f3b5a2b8d7c9e4f60718293a4b5c6d7e8f90123456789abcdef01
    package: toolkit
    version: 9.1.0
    accept_eula: true

- name: Install the operators for Atlas A2
  ascend.fleet.run_package:
    src: /var/cache/ascend-fleet/Ascend-cann-910b-ops_9.1.0_linux-aarch64.run
    sha256: 1f9a5d0c6f1f3b5a2b8d7c9e4f60718293a4b5c6d7e8f90123456789abcdef01
    package: ops
    version: 9.1.0
    family: 910b
    accept_eula: true
"""

RETURN = r"""
have:
  description: What is there afterwards, in check mode what was found. Null when there is nothing.
  returned: always
  type: dict
  contains:
    package:
      description: Which package this is.
      type: str
      sample: toolkit
    version:
      description: Version that is there.
      type: str
      sample: 9.1.0
    path:
      description: Folder of the version.
      type: str
      sample: /usr/local/Ascend/cann-9.1.0
  sample: {package: toolkit, version: 9.1.0, path: /usr/local/Ascend/cann-9.1.0}
want:
  description: What was asked for.
  returned: always
  type: dict
  sample: {package: toolkit, version: 9.1.0, family: null}
would:
  description: What was done, in check mode what would be done, in sentences. Empty when there is nothing to do.
  returned: always
  type: list
  elements: str
  sample: ["install CANN toolkit 9.1.0 below /usr/local/Ascend", "make it the default of the host"]
problems:
  description: Everything that stands in the way, each with its remedy.
  returned: failure before anything was changed
  type: list
  elements: str
log:
  description: Log of the vendor's installer, where it wrote one.
  returned: when the installer ran
  type: str
  sample: /var/log/ascend_seclog/ascend_toolkit_install.log
default:
  description: Whether the links of the host were left to the installer.
  returned: when the installer ran
  type: bool
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.ascend.fleet.plugins.module_utils import _run_package, _run_plan
from ansible_collections.ascend.fleet.plugins.module_utils._cann_keep import KeepError
from ansible_collections.ascend.fleet.plugins.module_utils._cann_layout import COMPLETE, versions
from ansible_collections.ascend.fleet.plugins.module_utils._lock import Busy, held, layer_lock
from ansible_collections.ascend.fleet.plugins.module_utils._run_checks import Settings
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner
from ansible_collections.ascend.fleet.plugins.module_utils._script_env import EnvError

LOCK_WAIT = 60  # seconds; an installer takes minutes, so the answer is who runs it


def settings_of(params, arch):
    """Settings of the module's parameters, with what follows from the host filled in."""
    return Settings(
        src=params["src"],
        sha256=params["sha256"].strip().lower(),
        package=params["package"],
        version=params["version"],
        toolkit_version=params["toolkit_version"] or params["version"],
        arch=params["arch"] or arch,
        family=params["family"] or "",
        install_path=params["install_path"].rstrip("/"),
        source_scripts=params["source_scripts"],
        make_default=params["make_default"],
        accept_eula=params["accept_eula"],
        tmp_dir=params["tmp_dir"] or "",
        timeout=params["timeout"],
        disk_mb=params["disk_mb"],
        tmp_mb=params["tmp_mb"],
    )


def have_of(settings, found):
    if found.status != COMPLETE:
        return None
    return {"package": settings.package, "version": settings.version, "path": found.path}


def listing(runner, settings, more=None):
    """Versions on the host as text, one a line, for the diff."""
    if settings.package == "ops":
        names = [more] if more else []
    else:
        names = sorted(set(versions(runner, settings.install_path, settings.package)) | ({more} if more else set()))
    return "".join("%s %s\n" % (settings.package, name) for name in names)


def run(module, runner, settings):
    """Look, decide, act; returns the result."""
    arch = os.uname().machine
    view = _run_plan.look(runner, settings)
    todo, reasons = _run_plan.wanted(settings, view)
    want = {"package": settings.package, "version": settings.version, "family": settings.family or None}
    result = {"changed": False, "have": have_of(settings, view.found), "want": want, "would": []}
    if not todo:
        return result
    result["would"] = _run_plan.sentences(runner, settings, view)
    problems, tmp = _run_plan.problems(runner, settings, view, arch=arch, euid=os.geteuid(), planned=module.check_mode)
    if reasons or problems:
        module.fail_json(msg=" ".join(reasons + problems), problems=reasons + problems, **result)
    result["changed"] = True
    result["diff"] = {"before": listing(runner, settings), "after": listing(runner, settings, settings.version)}
    if not module.check_mode:
        done = _run_package.install(runner, settings, view, tmp)
        result.update(log=done["log"], default=done["default"])
        result["have"] = have_of(settings, _run_plan.look(runner, settings).found)
    return result


def main():
    module = AnsibleModule(
        argument_spec={
            "src": {"type": "path", "required": True},
            "sha256": {"type": "str", "required": True},
            "package": {"type": "str", "required": True, "choices": ["toolkit", "ops", "nnal"]},
            "version": {"type": "str", "required": True},
            "toolkit_version": {"type": "str"},
            "arch": {"type": "str"},
            "family": {"type": "str"},
            "install_path": {"type": "path", "default": "/usr/local/Ascend"},
            "source_scripts": {"type": "list", "elements": "path", "default": []},
            "make_default": {"type": "str", "choices": ["auto", "true", "false"], "default": "auto"},
            "accept_eula": {"type": "bool", "default": False},
            "tmp_dir": {"type": "path"},
            "disk_mb": {"type": "int", "default": 0},
            "tmp_mb": {"type": "int", "default": 0},
            "timeout": {"type": "int", "default": 3600},
        },
        required_if=[("package", "ops", ["family"])],
        supports_check_mode=True,
    )
    runner = Runner(module.run_command)
    settings = settings_of(module.params, os.uname().machine)
    what = "installing CANN %s %s" % (settings.package, settings.version)
    try:
        if module.check_mode:
            result = run(module, runner, settings)
        else:
            with held(runner, layer_lock("cann"), LOCK_WAIT, what):
                with held(runner, _run_plan.INSTALLER_LOCK, LOCK_WAIT, what):
                    pass  # an installer whose module was killed may still be at work
                result = run(module, runner, settings)
    except Busy as exc:
        module.fail_json(msg=str(exc))
    except _run_package.PackageError as exc:
        module.fail_json(msg=str(exc), log=exc.log)
    except (KeepError, EnvError) as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
