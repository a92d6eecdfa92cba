# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/vllm_options.py: what it takes for a dump of a parser, and that the committed lists are such."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import vllm_options

PORT = {"--port": {"nargs": None, "choices": None}}
LISTS = sorted((ROOT / "data" / "options").glob("vllm-*.json"))


def test_normalise_cuts_the_local_version_and_sorts():
    raw = {"vllm": "0.23.0+cpu", "options": {**PORT, "--dtype": {"nargs": None, "choices": ["half", "auto"]}}}
    listing = vllm_options.normalise(raw, "x")
    assert listing["vllm"] == "0.23.0"
    assert list(listing["options"]) == ["--dtype", "--port"]
    assert listing["options"]["--dtype"] == {"nargs": None, "choices": ["auto", "half"]}
    assert json.loads(vllm_options.render(listing)) == listing


@pytest.mark.parametrize(
    "raw",
    [
        None, [], "x", {}, {"vllm": "0.23.0"}, {"vllm": 1, "options": PORT}, {"vllm": "0.23.0", "options": []},
        {"vllm": "0.23.0", "options": {}}, {"vllm": "dev", "options": PORT}, {"vllm": "0.1.dev1+g1", "options": PORT},
        {"vllm": "../../x", "options": PORT}, {"vllm": "0.23.0", "options": {**PORT, "port": {}}},
        {"vllm": "0.23.0", "options": {**PORT, "--x": None}},
        {"vllm": "0.23.0", "options": {**PORT, "--x": {"nargs": 3}}},
    ],
)  # fmt: skip
def test_anything_but_a_dump_is_refused(raw):
    with pytest.raises(vllm_options.OptionsError):
        vllm_options.normalise(raw, "origin of it")


def test_folder_without_or_with_cut_dumps_is_refused(tmp_path, capsys):
    assert vllm_options.main(["--from-dumps", str(tmp_path)]) == 2
    (tmp_path / "flags-0.1.0.json").write_text('{"vllm": "0.1.0", "opt')
    assert vllm_options.main(["--from-dumps", str(tmp_path)]) == 2
    assert "flags-0.1.0.json" in capsys.readouterr().err


def test_python_without_vllm_is_refused_with_its_own_words(capsys):
    assert vllm_options.main(["--python", sys.executable]) == 2
    assert "ModuleNotFoundError" in capsys.readouterr().err


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_committed_list_is_as_the_tool_writes_it(path):
    text = path.read_text(encoding="utf-8")
    listing = json.loads(text)
    assert path.name == f"vllm-{listing['vllm']}.json"
    assert vllm_options.render({**listing, "options": vllm_options.normalise(listing, "x")["options"]}) == text


@pytest.mark.parametrize(
    ("version", "option", "known"),
    [
        ("0.18.0", "--disable-log-requests", False), ("0.23.0", "--swap-space", False), ("0.23.0", "--task", False),
        ("0.23.0", "--calculate-kv-scales", True), ("0.32.0", "--calculate-kv-scales", False),
        ("0.13.0", "--additional-config", True), ("0.32.0", "--served-model-name", True),
    ],
)  # fmt: skip
def test_lists_say_what_was_seen_on_the_real_parsers(version, option, known):
    listing = json.loads((ROOT / "data" / "options" / f"vllm-{version}.json").read_text(encoding="utf-8"))
    assert (option in listing["options"]) is known
