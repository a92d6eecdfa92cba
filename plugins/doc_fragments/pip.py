# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations


class ModuleDocFragment:
    """Options of the modules that run pip."""

    DOCUMENTATION = r"""
options:
  find_links:
    description: Folder on the node with wheels, searched beside the index.
    type: path
  pip:
    description:
      - Where pip may look. No configuration file of the node is read.
    type: dict
    default: {}
    suboptions:
      index_url:
        description: Index to ask instead of the public one.
        type: str
      extra_index_urls:
        description: Further indexes, like that of PyTorch's CPU builds, or that of the Ascend packages.
        type: list
        elements: str
      find_links:
        description: Further folders or pages with wheels.
        type: list
        elements: str
      no_index:
        description: Whether to ask no index at all.
        type: bool
        default: false
      constraints:
        description: Limits for packages that the release does not pin, as lines of a constraints file.
        type: list
        elements: str
      cert:
        description: CA bundle on the node for the index.
        type: path
      trusted_hosts:
        description: Hosts that need no valid certificate.
        type: list
        elements: str
"""
