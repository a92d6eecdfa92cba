# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Stand-in for vllm-ascend: the platform plugin, its version rule and its check of the chip."""


def register() -> str:
    """Called by vLLM for the entry point: where the platform class is."""
    return "vllm_ascend.platform.NPUPlatform"
