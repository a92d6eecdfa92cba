# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Version by the file that the build wrote; a checkout that was never built says dev."""

try:
    from vllm._version import __version__
except ImportError:
    __version__ = "dev"
