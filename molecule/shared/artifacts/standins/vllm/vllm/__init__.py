# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in for vLLM: its command line, its start and its OpenAI server, without a model behind them."""

from __future__ import annotations

from vllm.version import __version__  # noqa: F401  isort: skip

import torch  # noqa: F401  as in the real one: where torch does not import, vllm does not either
