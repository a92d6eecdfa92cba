"""What is read of a host's judgement on the terminal and in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import preflight


def finding(severity: str, **more: Any) -> dict[str, Any]:
    known = {"id": "cann.tree.incomplete", "severity": severity, "layer": "cann", "have": "a", "want": "b"}
    return {**known, "evidence": None, "remedy": "c", "source": "d", "instance": None, **more}


@pytest.mark.parametrize(
    ("severities", "text"),
    [
        ([], "nothing"),
        (["info", "info"], "2 info"),
        (["warning", "error", "warning"], "1 error, 2 warnings"),
    ],
)
def test_counts(severities: list[str], text: str) -> None:
    assert preflight.counts([finding(severity) for severity in severities]) == text


def test_the_table_counts_all_and_shows_what_is_asked() -> None:
    lines = preflight.table(
        "a2-1", [finding("error"), finding("warning", instance="chat", evidence="/x\ny"), finding("info")], ["warning"]
    )
    assert lines == [
        "a2-1: 1 error, 1 warning, 1 info",
        "  warning  cann.tree.incomplete (chat)",
        "           found     a",
        "           shown by  /x y",
        "           wanted    b",
        "           next      c",
    ]
    assert preflight.table("a2-1", [], ["error"]) == []


def test_long_sentences_are_folded_under_their_column() -> None:
    lines = preflight.table("h", [finding("error", have="word " * 60)], ["error"])
    assert max(map(len, lines)) <= preflight.WIDTH
    assert lines[3].startswith(" " * 21 + "word")


def test_the_report_of_a_host(tmp_path: Path) -> None:
    judged = {
        "row": {"release": "0.23.0"},
        "family": "910b",
        "arch": "aarch64",
        "runtime_id": "0.23.0-aaaaaaaa",
        "findings": [finding("error")],
        "worst": "error",
        "steps": {"cann": [{"do": "install the toolkit", "kind": "package"}]},
    }
    content = preflight.document("a2-1", judged, "error", True, "2026-12-01T00:00:00Z")
    path = preflight.write(str(tmp_path / "new" / "folder"), "a2-1", content)
    assert path == str(tmp_path / "new" / "folder" / "a2-1.json")
    read = json.loads(Path(path).read_text())
    assert read["release"] == "0.23.0" and read["refused"] is True
    assert read["steps"] == {"cann": ["install the toolkit"]}
    assert read["findings"][0]["id"] == "cann.tree.incomplete"
    assert [item.name for item in Path(path).parent.iterdir()] == ["a2-1.json"]


@pytest.mark.parametrize("host", ["../../etc/x", "a/b", ".hidden", "[2001:db8::1]:22"])
def test_a_host_name_cannot_leave_the_folder(tmp_path: Path, host: str) -> None:
    path = Path(preflight.write(str(tmp_path), host, {}))
    assert path.parent == tmp_path and not path.name.startswith(".")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        preflight.write(str(tmp_path), "a2-1", {"bad": object()})
    assert list(tmp_path.iterdir()) == []


def test_an_empty_judgement_is_a_report_too() -> None:
    content = preflight.document("a2-1", {}, "none", False, "now")
    assert content["findings"] == [] and content["steps"] == {} and content["release"] is None
