"""The knowledge tables: merged with a site's folders, checked, and the generated files current."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import data

ROOT = Path(__file__).resolve().parents[3]


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_data", ROOT / "tools" / "make_data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_generated_is_current() -> None:
    tool = maker()
    assert tool.stale(str(ROOT), tool.generate(str(ROOT))) == {}


def test_a_stale_missing_and_left_over_file_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "json"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("old")
    (folder / "b.json").write_text("{}")
    wanted = {"data/json/a.json": "new", "data/json/c.json": "new"}
    found = {"data/json/a.json": "stale", "data/json/b.json": "left over", "data/json/c.json": "missing"}
    assert maker().stale(str(tmp_path), wanted) == found


def test_defaults_come_from_the_role_and_kinds_from_its_spec(tmp_path: Path) -> None:
    role = tmp_path / "roles" / "cann"
    (role / "meta").mkdir(parents=True)
    (role / "defaults").mkdir()
    (role / "meta" / "argument_specs.yml").write_text(
        "argument_specs: {main: {options: {cann_timeout: {type: int, default: 1}, cann_release: {}, __x: {}}}}"
    )
    (role / "defaults" / "main.yml").write_text("cann_release: \"{{ ascend_release | default('') }}\"")
    assert maker().variables(str(tmp_path)) == {
        "cann_timeout": {"role": "cann", "type": "int", "default": 1},
        "cann_release": {"role": "cann", "type": "str", "default": "{{ ascend_release | default('') }}"},
    }


def test_every_finding_has_a_severity_and_a_sentence() -> None:
    for name, entry in data.load("findings")["findings"].items():
        assert entry["severity"] in ("error", "warning", "info"), name
        assert set(entry.get("may_be") or []) <= {"error", "warning", "info"}, name
        assert entry["text"].endswith("."), name
        assert name.count(".") == 2, name


def test_a_sites_folder_wins_by_key_and_a_later_folder_wins_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, text in ((one, "releases: {'0.23.0': {cann: 9.1.1, hdk: [[a, b]]}, 9.9: {}}"), (two, "default: 9.9")):
        folder.mkdir()
        (folder / "releases.yml").write_text(text)
    merged = data.load("releases", [str(one), str(two)])
    assert merged["default"] == 9.9
    assert merged["releases"]["9.9"] == {}
    assert merged["releases"]["0.23.0"]["cann"] == "9.1.1"
    assert merged["releases"]["0.23.0"]["hdk"] == [["a", "b"]]
    assert merged["releases"]["0.23.0"]["torch"] == "2.10.0"
    assert data.load("releases")["releases"]["0.23.0"]["cann"] == "9.1.0"


def test_a_folder_without_the_table_changes_nothing(tmp_path: Path) -> None:
    assert data.load("os", [str(tmp_path)]) == data.load("os")


@pytest.mark.parametrize("text", ["- a\n", "a: [", "\x00", "a: !!python/object:os.system {}", ""])
def test_a_damaged_table_of_a_site_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "releases.yml").write_text(text)
    with pytest.raises(data.DataError, match=r"releases\.yml"):
        data.load("releases", [str(tmp_path)])


@pytest.mark.parametrize("name", ["../releases", "Releases", "", "nothing"])
def test_a_table_that_does_not_exist_is_told(name: str) -> None:
    with pytest.raises(data.DataError):
        data.load(name)


def test_a_folder_that_is_not_there_is_told() -> None:
    with pytest.raises(data.DataError, match="/nowhere of ascend_data_dirs"):
        data.load("releases", ["/nowhere"])


def test_option_lists(tmp_path: Path) -> None:
    assert data.options("0.23.0")["--tensor-parallel-size"]["choices"] is None
    for name in (None, "", "0.0.1", "../../x"):
        assert data.options(name) is None
    folder = tmp_path / "options"
    folder.mkdir()
    (folder / "vllm-0.0.1.json").write_text(json.dumps({"options": {"--a": {"nargs": 0, "choices": None}}}))
    assert data.options("0.0.1", [str(tmp_path)]) == {"--a": {"nargs": 0, "choices": None}}
    (folder / "vllm-0.0.2.json").write_text("[]")
    with pytest.raises(data.DataError, match="option list"):
        data.options("0.0.2", [str(tmp_path)])
