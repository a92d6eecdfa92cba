# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations


class ModuleDocFragment:
    """What each module says about itself; fact modules add the part named facts."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and tell what would change, without changing it.
  diff_mode:
    description: Shows in C(diff_mode) what has changed, or would change in C(check_mode).
  idempotent:
    description: Run a second time, in the same condition of the host, it reports no change.
  platform:
    description: Operating systems that it works on.
    support: full
"""

    FACTS = r"""
options: {}
attributes:
  facts:
    description: Returns C(ansible_facts) and changes nothing.
    support: full
  check_mode:
    support: full
    details: It only reads, so it does the same in check mode.
  diff_mode:
    support: N/A
    details: It changes nothing.
  idempotent:
    support: full
  platform:
    platforms: linux
"""

    # Modules that change a host.
    CHANGE = r"""
options: {}
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
  platform:
    platforms: linux
"""
