# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and says what it would do, without a change.
  diff_mode:
    description: Returns what is there and what would be, in diff mode.
  idempotent:
    description: Changes nothing when it is run again with the same options.
  platform:
    description: Where the module can run.
    platforms: linux
    support: full
"""

    # Modules that only look.
    READ = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: Nothing is changed, in check mode or without.
  diff_mode:
    support: N/A
    details: Nothing is changed.
  idempotent:
    support: full
  facts:
    description: Returns C(ansible_facts) that Ansible keeps for the host.
    support: full
"""
