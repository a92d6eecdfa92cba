# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The compiled part of torch, as far as anybody asks it for its ABI."""

_GLIBCXX_USE_CXX11_ABI = True
