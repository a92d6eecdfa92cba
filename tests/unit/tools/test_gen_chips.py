# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The chip table on its way to the nodes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture
def maker():
    spec = importlib.util.spec_from_file_location("gen_chips", CHECKOUT / "tools/gen_chips.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_committed_is_what_the_table_makes(maker):
    for path, text in maker.generate(CHECKOUT).items():
        assert (CHECKOUT / path).read_text(encoding="utf-8") == text, "%s is stale: run make data" % path


def test_every_row_has_its_fields_and_a_source():
    table = yaml.safe_load((CHECKOUT / "data/chips.yml").read_text(encoding="utf-8"))
    for row in table["families"]:
        assert set(row) == {
            "family", "generation", "pci", "names", "kernel_dirs", "soc_version", "ops", "bf16", "chips_per_npu",
            "source",
        }, row["family"]  # fmt: skip
        assert row["source"]
        assert row["bf16"] in (True, False, None)


@pytest.mark.parametrize(("field", "value"), [("pci", "d802"), ("names", None), ("family", 910)])
def test_a_row_of_the_wrong_kind_is_named(maker, tmp_path, field, value):
    row = {"family": "910b", "pci": ["d802"], "names": [], "kernel_dirs": [], "ops": []}
    (tmp_path / "data").mkdir()
    table = {"vendor": "19e5", "families": [dict(row, **{field: value})]}
    (tmp_path / "data/chips.yml").write_text(yaml.safe_dump(table), encoding="utf-8")
    with pytest.raises(ValueError, match=field):
        maker.generate(tmp_path)
