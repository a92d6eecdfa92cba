# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Chip families as a node needs them. Made from data/chips.yml by `make data`: change that file, not this one."""
from __future__ import annotations

VENDOR = "19e5"

FAMILIES = [
    {
        "family": "310",
        "pci": ["d100"],
        "names": [
            {"match": "310"},
            {"match": "MiniD"},
        ],
        "kernel_dirs": ["ascend310"],
        "packages": [],
    },
    {
        "family": "310b",
        "pci": ["d105", "d107"],
        "names": [
            {"match": "310B[0-9]?"},
        ],
        "kernel_dirs": ["ascend310b"],
        "packages": ["Ascend-cann-kernels-310b"],
    },
    {
        "family": "310p",
        "pci": ["d500"],
        "names": [
            {"match": "310P[0-9]?"},
        ],
        "kernel_dirs": ["ascend310p"],
        "packages": ["Ascend-cann-310p-ops", "Ascend-cann-kernels-310p"],
    },
    {
        "family": "910",
        "pci": ["d801"],
        "names": [
            {"match": "910A"},
            {"match": "910Pro[AB]"},
            {"match": "910Premium[AB]"},
            {"match": "910B", "ddr": True, "hbm_mb": 32768},
        ],
        "kernel_dirs": ["ascend910"],
        "packages": ["Ascend-cann-910-ops", "Ascend-cann-kernels-910"],
    },
    {
        "family": "910b",
        "pci": ["d802"],
        "names": [
            {"match": "910B[1-9]C?(-[0-9])?"},
        ],
        "kernel_dirs": ["ascend910b"],
        "packages": ["Ascend-cann-910b-ops", "Ascend-cann-kernels-910b"],
    },
    {
        "family": "a3",
        "pci": ["d803"],
        "names": [
            {"match": "Ascend910", "phy_id": True},
        ],
        "kernel_dirs": ["ascend910_93"],
        "packages": ["Ascend-cann-A3-ops", "Atlas-A3-cann-kernels"],
    },
    {
        "family": "950",
        "pci": ["d806"],
        "names": [
            {"match": "Ascend950(PR|DT)?"},
        ],
        "kernel_dirs": ["ascend950"],
        "packages": ["Ascend-cann-950-ops"],
    },
]
