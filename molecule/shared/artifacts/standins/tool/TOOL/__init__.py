# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in for a package that others name as a requirement. It knows its version and nothing else."""

from __future__ import annotations

__version__ = "@VERSION@"


def main() -> int:
    """Command line tool of the same name: says its version."""
    print(f"@NAME@ version {__version__}")
    return 0
