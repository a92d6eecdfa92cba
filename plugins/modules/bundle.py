#!/usr/bin/python
# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller by the action plugin of the same name.
from __future__ import annotations

DOCUMENTATION = r"""
module: bundle
short_description: Write the manifest of a folder of vendor files
version_added: 0.1.0
description:
  - Looks at every file below a folder of the controller and writes C(manifest.yml) into it, with name, version,
    platform, SHA-256 and size of each. C(ascend_artifacts) can then name the folder, a mount of it on the nodes, or a
    mirror.
  - What a file is follows from its name as its vendor gives it; wheels are recognised by the rules for wheel names.
  - Files that look like packages and cannot be used are named with the reason, as a warning and in RV(unknown).
options:
  path:
    description:
      - Folder on the controller.
    type: str
    required: true
author:
  - ascend.fleet authors (@ascend-fleet)
extends_documentation_fragment:
  - ascend.fleet.attributes
  - ascend.fleet.attributes.change
seealso:
  - module: ascend.fleet.artifact
"""

EXAMPLES = r"""
- name: Describe the packages that were downloaded
  ascend.fleet.bundle:
    path: /srv/ascend
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
manifest:
  description: Path of the manifest.
  returned: success
  type: str
artifacts:
  description: What is in it, in words.
  returned: success
  type: list
  elements: str
  sample:
    - cann-nnal 9.1.0 (aarch64)
unknown:
  description: Files that look like packages and are not in the manifest, as C(file) and C(why).
  returned: success
  type: list
  elements: dict
"""
