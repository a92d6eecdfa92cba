"""A digest is right after every change of the file, and computed once without one."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from pathlib import Path

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import hashes


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    real = hashes.sha256_now

    def count(path: str) -> str:
        calls.append(path)
        return real(path)

    monkeypatch.setattr(hashes, "sha256_now", count)
    return calls


def test_computed_once_and_again_after_a_change(tmp_path: Path, counted: list[str]) -> None:
    file = tmp_path / "a.run"
    file.write_bytes(b"one")
    cache = str(tmp_path / "cache")
    assert (
        hashes.sha256_of(str(file), cache) == hashes.sha256_of(str(file), cache) == hashlib.sha256(b"one").hexdigest()
    )
    assert len(counted) == 1
    stamp = file.stat()
    file.write_bytes(b"two")  # same size; times put back as rsync and tar do
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert hashes.sha256_of(str(file), cache) == hashlib.sha256(b"two").hexdigest()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"stamp": 5}', '{"sha256": "x"}'])
def test_a_damaged_note_is_no_answer(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "a.run"
    file.write_bytes(b"one")
    hashes.sha256_of(str(file), str(tmp_path / "cache"))
    (note,) = (tmp_path / "cache" / "sha256").iterdir()
    note.write_text(damage)
    assert hashes.sha256_of(str(file), str(tmp_path / "cache")) == hashlib.sha256(b"one").hexdigest()


def test_a_cache_that_cannot_be_made_costs_only_time(tmp_path: Path) -> None:
    file = tmp_path / "a.run"
    file.write_bytes(b"one")
    assert hashes.sha256_of(str(file), str(file)) == hashlib.sha256(b"one").hexdigest()


def test_an_absent_file_is_the_caller_s_error_and_leaves_no_note(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hashes.sha256_of(str(tmp_path / "gone"), str(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def _ask(file: str, cache: str, results: multiprocessing.Queue[str]) -> None:
    results.put(hashes.sha256_of(file, cache))


def test_many_processes_agree(tmp_path: Path) -> None:
    file = tmp_path / "a.run"
    file.write_bytes(os.urandom(1 << 20))
    results: multiprocessing.Queue[str] = multiprocessing.Queue()
    words = (str(file), str(tmp_path / "cache"), results)
    workers = [multiprocessing.Process(target=_ask, args=words) for number in range(8)]
    for worker in workers:
        worker.start()
    answers = {results.get(timeout=30) for worker in workers}
    for worker in workers:
        worker.join()
    assert answers == {hashlib.sha256(file.read_bytes()).hexdigest()}
