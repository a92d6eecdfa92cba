# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the build of vLLM imports from here: no other vendor's toolkit is installed."""

CUDA_HOME = None
ROCM_HOME = None
