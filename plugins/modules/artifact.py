#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller by the action plugin of the same name.
from __future__ import annotations

DOCUMENTATION = r"""
module: artifact
short_description: Put a package, an installer, a source archive or all wheels on the node
version_added: 0.1.0
description:
  - Looks into the sources that the variable C(ascend_artifacts) names, finds the artifact by name, version and
    platform in their C(manifest.yml), and puts it on the node. The first source that has it wins.
  - A source is C(dir), a folder on the controller that is copied from; C(node_dir), a folder on the node that is used
    in place; or C(url), a mirror that the node fetches from.
  - The SHA-256 of the manifest is compared wherever the file comes from. A file with another content is never used,
    and the failure names both hashes.
options:
  name:
    description:
      - Name of the artifact, as C(cann-toolkit), C(cann-ops), C(cann-nnal), C(conda-installer) or C(vllm-source).
      - Required unless O(wheels=true).
    type: str
  version:
    description:
      - Version of the artifact; without one the first of the manifest that fits is taken.
    type: str
  platform:
    description:
      - What it is for, as C(arch) and C(family). A key that the artifact does not name fits any.
      - With O(wheels=true) also C(python), as C(cp312) or C(3.12).
    type: dict
    default: {}
  dest:
    description:
      - Folder on the node for what is copied or fetched. It is made, with its parents and mode 0755, when it is
        absent; a folder that exists is left as it is.
    type: path
    default: /var/cache/ascend-fleet
  wheels:
    description:
      - Put every wheel that fits O(platform) into the folder C(wheels) below O(dest).
    type: bool
    default: false
author:
  - ascend.fleet authors (@ascend-fleet)
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details: Names the file and its SHA-256.
  idempotent:
    support: full
  platform:
    platforms: linux
extends_documentation_fragment:
  - ascend.fleet.attributes
seealso:
  - module: ascend.fleet.bundle
"""

EXAMPLES = r"""
- name: Put the toolkit on the node
  ascend.fleet.artifact:
    name: cann-toolkit
    version: 9.1.0
    platform:
      arch: aarch64
  register: package

- name: Put the wheels for the env on the node
  ascend.fleet.artifact:
    wheels: true
    platform:
      python: cp312
      arch: aarch64
  register: wheels
"""

RETURN = r"""
path:
  description:
    - Path of the file on the node; with O(wheels=true) the folder, empty when no source has a wheel that fits.
  returned: success
  type: str
  sample: /var/cache/ascend-fleet/Ascend-cann-toolkit_9.1.0_linux-aarch64.run
sha256:
  description: SHA-256 of the file.
  returned: success, without O(wheels=true)
  type: str
files:
  description: Paths of the wheels on the node.
  returned: success, with O(wheels=true)
  type: list
  elements: str
staged:
  description: Whether RV(path) is a copy below O(dest), to be removed after use; false when it is the node's own file.
  returned: success
  type: bool
would:
  description: What was done, or would be done in check mode.
  returned: when there is a difference
  type: list
  elements: str
"""
