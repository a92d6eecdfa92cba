# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Log lines in vLLM's shape, on stdout."""

from __future__ import annotations

import time


def log(level: str, where: str, text: str) -> None:
    """One line like: INFO 12-01 05:00:00 [api_server.py:1] text."""
    print(f"{level} {time.strftime('%m-%d %H:%M:%S')} [{where}] {text}", flush=True)
