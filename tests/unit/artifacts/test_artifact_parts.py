# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wheels, conda packages, the model and the stamps: right by their formats, the same bytes each time."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import struct
import tarfile
import zipfile

import common
import condapkg
import model
import pytest
import wheels


def test_wheel_keeps_what_its_record_promises(tmp_path):
    path = wheels.write_wheel(tmp_path, "torch-npu", "2.10.0.post4", "cp312", ["torch==2.10.0@CPU@"])
    with zipfile.ZipFile(path) as archive:
        info = "torch_npu-2.10.0.post4.dist-info"
        rows = [row.split(",") for row in archive.read(f"{info}/RECORD").decode().splitlines()]
        assert {row[0] for row in rows} == set(archive.namelist())
        for name, digest, size in rows:
            content = archive.read(name)
            if digest:
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={wanted}", str(len(content)))
        assert f"Requires-Dist: torch==2.10.0{wheels.CPU_LABEL}\n" in archive.read(f"{info}/METADATA").decode()
        assert "torch_npu = torch_npu:_autoload" in archive.read(f"{info}/entry_points.txt").decode()
        assert b"@" not in archive.read("torch_npu/version.py")


def test_wheel_is_the_same_bytes_each_time(tmp_path):
    pair = [tmp_path / name for name in ("a", "b")]
    for folder in pair:
        folder.mkdir()
    first, second = (wheels.write_wheel(folder, "numpy", "2.2.6", "cp311", []) for folder in pair)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "version", "tag", "wanted"),
    [
        ("transformers", "5.5.4", "py3", "transformers-5.5.4-py3-none-any.whl"),
        ("torch-npu", "2.9.0.post1+git4c901a4", "cp310", "torch_npu-2.9.0.post1+git4c901a4-cp310-cp310-{}.whl"),
    ],
)
def test_wheel_names(name, version, tag, wanted):
    assert wheels.wheel_name(name, version, tag) == wanted.format(wheels.PLATFORM)


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "tree"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "tool").write_text("#!/old/prefix/bin/python\n")
    (root / "bin" / "binary").write_bytes(b"\0/old/prefix\0")
    (root / "bin" / "link").symlink_to("tool")
    return condapkg.Package("python", "3.12.1", root, "0_cpython", placeholder="/old/prefix")


def test_conda_package_marks_text_files_for_rewriting_and_leaves_binaries(package, tmp_path):
    path = condapkg.write(package, tmp_path / "channel", shutil.copy)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("metadata.json")) == {"conda_pkg_format_version": 2}
        with tarfile.open(fileobj=io.BytesIO(archive.read(f"info-{package.dist}.tar.zst"))) as tar:
            info = {name: tar.extractfile(name).read().decode() for name in tar.getnames()}
        with tarfile.open(fileobj=io.BytesIO(archive.read(f"pkg-{package.dist}.tar.zst"))) as tar:
            assert tar.getnames() == ["bin/binary", "bin/link", "bin/tool"]
            assert {(member.uid, member.mtime) for member in tar.getmembers()} == {(0, common.EPOCH)}
    assert info["info/has_prefix"] == "/old/prefix text bin/tool\n"
    kinds = {entry["_path"]: entry["path_type"] for entry in json.loads(info["info/paths.json"])["paths"]}
    assert kinds == {"bin/binary": "hardlink", "bin/link": "softlink", "bin/tool": "hardlink"}


def test_repodata_has_both_subfolders_and_true_hashes(package, tmp_path):
    channel = tmp_path / "channel"
    path = condapkg.write(package, channel, shutil.copy)
    condapkg.write_repodata(channel, [package])
    row = json.loads((channel / condapkg.SUBDIR / "repodata.json").read_text())["packages.conda"][path.name]
    assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert row["size"] == path.stat().st_size
    assert json.loads((channel / "noarch" / "repodata.json").read_text())["packages.conda"] == {}


def test_model_weights_follow_the_safetensors_format():
    content = model.safetensors({"a": [4], "b": [2]})
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    assert length % 8 == 0
    assert header["b"]["data_offsets"] == [8, 12]
    assert len(data) == 12


@pytest.fixture
def stamp(tmp_path):
    (tmp_path / "file").write_text("one")
    stamp = common.Stamp(tmp_path, "part")
    stamp.write("inputs", [tmp_path / "file"])
    return stamp


def test_stamp_is_current_only_for_the_same_inputs_and_untouched_files(stamp, tmp_path):
    assert stamp.current("inputs")
    assert not stamp.current("other inputs")
    (tmp_path / "file").write_text("two")
    os.utime(tmp_path / "file", (1, 1))
    assert not stamp.current("inputs")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"files": {}}', "null"])
def test_damaged_stamp_means_build_again(stamp, damage):
    stamp.path.write_text(damage)
    assert not stamp.current("inputs")


def test_missing_file_means_build_again(stamp, tmp_path):
    (tmp_path / "file").unlink()
    assert not stamp.current("inputs")


def test_digest_sees_a_changed_file_and_a_changed_value(tmp_path):
    (tmp_path / "a").write_text("one")
    first = common.digest_of(tmp_path, {"x": 1})
    assert first == common.digest_of(tmp_path, {"x": 1})
    assert first != common.digest_of(tmp_path, {"x": 2})
    (tmp_path / "a").write_text("two")
    assert first != common.digest_of(tmp_path, {"x": 1})
