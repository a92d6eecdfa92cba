"""What a node's shell is asked about artifacts, and the archive that carries wheels."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import staging
from ansible_collections.ascend.fleet.plugins.plugin_utils.artifacts import ArtifactError


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    path = folder / name
    path.write_bytes(content)
    return {
        "name": name.split("-", maxsplit=1)[0],
        "version": "1",
        "file": "w/" + name,
        "path": str(path),
        "sha256": sha(content),
        "where": "controller",
    }


def ask(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


def test_hashes_are_read_back_by_path_and_absent_files_are_left_out(tmp_path: Path) -> None:
    odd = tmp_path / "with space; $(touch evil).run"
    odd.write_bytes(b"x")
    done = ask(staging.hash_command([str(odd), str(tmp_path / "gone")]))
    assert done.returncode == 0
    assert staging.parse_hashes(done.stdout) == {str(odd): sha(b"x")}


def test_the_folder_is_made_and_an_existing_one_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert ask("umask 077; " + staging.hash_command(["/gone"], str(target))).returncode == 0
    assert target.stat().st_mode & 0o777 == target.parent.stat().st_mode & 0o777 == 0o755
    target.chmod(0o700)
    ask(staging.hash_command(["/gone"], str(target)))
    assert target.stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    assert ask(staging.hash_command(["/gone"], str(tmp_path / "file" / "x"))).returncode != 0


def test_other_lines_are_not_taken_for_hashes() -> None:
    noise = "motd\n%s  relative\n%s  /x\r\n" % (sha(b""), sha(b"x"))
    assert staging.parse_hashes(noise) == {"/x": sha(b"x")}


def test_the_first_difference_is_named(tmp_path: Path) -> None:
    item = wheel(tmp_path, "a-1-py3-none-any.whl", b"a")
    staging.first_difference([item], {item["path"]: item["sha256"]})
    with pytest.raises(ArtifactError) as caught:
        staging.first_difference([item], {})
    assert caught.value.id == "unreadable" and item["path"] in caught.value.have
    with pytest.raises(ArtifactError) as caught:
        staging.first_difference([item], {item["path"]: sha(b"b")})
    assert caught.value.id == "sha256" and sha(b"b") in caught.value.have and item["sha256"] in caught.value.want


def test_the_other_hash_of_a_failed_download() -> None:
    want, have = sha(b"want"), sha(b"have")
    text = "The checksum for /x did not match %s; it was %s." % (want, have)
    assert staging.other_hash(text, want) == have
    assert staging.other_hash("timed out", want) is None


@pytest.mark.parametrize(
    ("given", "tag"), [("3.12", "cp312"), ("3.9.18", "cp39"), ("cp311", "cp311"), (None, None), ("py3", "py3")]
)
def test_python_tags(given: Any, tag: Any) -> None:
    assert staging.python_tag(given) == tag


def test_the_archive_is_flat_readable_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheels = [wheel(tmp_path, "a-1-py3-none-any.whl", b"a"), wheel(tmp_path, "b-1-py3-none-any.whl", b"bb")]
    path = staging.archive(wheels)
    with tarfile.open(path) as tar:
        assert {member.name: (member.mode, member.uid, member.size) for member in tar} == {
            "a-1-py3-none-any.whl": (0o644, 0, 1),
            "b-1-py3-none-any.whl": (0o644, 0, 2),
        }
    inode = os.stat(path).st_ino
    assert staging.archive(list(reversed(wheels))) == path
    assert os.stat(path).st_ino == inode


def test_a_wrong_wheel_is_never_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    item = dict(wheel(tmp_path, "a-1-py3-none-any.whl", b"a"), sha256=sha(b"other"))
    with pytest.raises(ArtifactError) as caught:
        staging.archive([item])
    assert caught.value.id == "sha256"
    assert not list((tmp_path / "cache").rglob("*.tar*"))


def test_old_archives_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = []
    for number in range(staging.KEPT_ARCHIVES + 2):
        made.append(staging.archive([wheel(tmp_path, "a%d-1-py3-none-any.whl" % number, b"%d" % number)]))
        os.utime(made[-1], (number, number))
    kept = {str(path) for path in (tmp_path / "cache").rglob("*.tar")}
    assert kept == set(made[-staging.KEPT_ARCHIVES :])
