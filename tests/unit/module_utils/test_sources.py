# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import subprocess
import sys
import tarfile

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _sources
from ansible_collections.ascend.fleet.plugins.module_utils._work import Failed, Work
from env_world import Node, sdist

SRC = "/srv/ascend/sources/vllm-0.23.0.tar.gz"


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def source(src=SRC, version="0.23.0", **more):
    return dict({"name": "vllm", "version": version, "src": src}, **more)


def unpacked(node, asked):
    """(files at the top of the copy, version it was accepted as) within the life of the private place."""
    with Work(node.runner, "x", 60) as work:
        return node.runner.names(_sources.unpack(work, asked))


def test_a_source_distribution_says_its_version(node):
    sdist(node.path(SRC), "vllm", "0.23.0")
    assert unpacked(node, source()) == ["PKG-INFO", "setup.py"]


def test_an_archive_without_metadata_is_known_by_its_folder(node):
    sdist(node.path(SRC), "vllm", "0.23.0", pkg_info=False)
    assert unpacked(node, source()) == ["setup.py"]


def test_an_archive_of_another_version_is_refused(node):
    sdist(node.path(SRC), "vllm", "0.23.1.dev4")
    with pytest.raises(Failed, match=r"is 0\.23\.1\.dev4, wanted is vllm 0\.23\.0"):
        unpacked(node, source())


def test_a_folder_is_copied_and_stays_clean(node):
    node.file("/srv/vllm/PKG-INFO", "Name: vllm\nVersion: 0.23.0\n")
    before = _sources.identity(node.runner, "/srv/vllm")
    assert unpacked(node, source("/srv/vllm")) == ["PKG-INFO"]
    assert _sources.identity(node.runner, "/srv/vllm") == before


def test_a_folder_that_tells_no_version_is_refused(node):
    node.file("/srv/vllm/setup.py", "x")
    with pytest.raises(Failed, match="of no version that it tells"):
        unpacked(node, source("/srv/vllm"))


@pytest.mark.parametrize(
    ("status", "tags", "words"),
    [
        (" M setup.py\n", "v0.23.0\n", "local changes"),
        ("", "", "at no tag"),
        ("", "v0.22.0\nnightly\n", "at v0.22.0 nightly"),
    ],
)
def test_a_checkout_must_be_clean_and_at_its_tag(node, status, tags, words):
    node.file("/srv/vllm/.git/HEAD", "x")
    node.on("status --porcelain", (0, status, ""))
    node.on("tag --points-at", (0, tags, ""))
    with pytest.raises(Failed, match=words):
        unpacked(node, source("/srv/vllm"))


def test_a_clean_checkout_at_its_tag_is_taken(node):
    node.file("/srv/vllm/.git/HEAD", "x")
    node.on("status --porcelain")
    node.on("tag --points-at", (0, "stable\nv0.23.0\n", ""))
    assert ".git" in unpacked(node, source("/srv/vllm"))


def test_git_may_read_a_checkout_of_another_user(node):
    node.file("/srv/vllm/.git/HEAD", "x")
    node.on("status --porcelain")
    node.on("tag --points-at", (0, "v0.23.0", ""))
    unpacked(node, source("/srv/vllm"))
    assert node.calls[0][:5] == ["git", "-c", "safe.directory=/srv/vllm", "-C", "/srv/vllm"]


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, None


@pytest.mark.parametrize(
    "evil",
    [
        member("../escaped"),
        member("/etc/escaped"),
        member("vllm-0.23.0/../../escaped"),
        member("vllm-0.23.0/link", tarfile.SYMTYPE, "/etc/passwd"),
        member("vllm-0.23.0/link", tarfile.SYMTYPE, "../../up"),
        member("vllm-0.23.0/hard", tarfile.LNKTYPE, "../up"),
        member("vllm-0.23.0/device", tarfile.CHRTYPE),
        member("vllm-0.23.0/pipe", tarfile.FIFOTYPE),
    ],
)
def test_an_archive_that_reaches_out_is_refused(node, evil):
    sdist(node.path(SRC), "vllm", "0.23.0", members=[evil])
    with pytest.raises(Failed, match="Do not use this archive"):
        unpacked(node, source())


def test_links_inside_an_archive_are_kept(node):
    sdist(node.path(SRC), "vllm", "0.23.0", members=[member("vllm-0.23.0/link", tarfile.SYMTYPE, "setup.py")])
    assert "link" in unpacked(node, source())


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\x1f\x8b\x08\x00cut"])
def test_a_broken_archive_is_refused(node, content):
    node.file(SRC)
    with open(node.path(SRC), "wb") as handle:
        handle.write(content)
    with pytest.raises(Failed, match=r"cannot be unpacked|no source archive"):
        unpacked(node, source())


def test_a_cut_archive_is_refused(node):
    sdist(node.path(SRC), "vllm", "0.23.0")
    with open(node.path(SRC), "r+b") as handle:
        handle.truncate(os.path.getsize(node.path(SRC)) // 2)
    with pytest.raises(Failed, match="cannot be unpacked"):
        unpacked(node, source())


def test_the_hash_of_an_archive_is_compared(node):
    sdist(node.path(SRC), "vllm", "0.23.0")
    have = _sources.identity(node.runner, SRC)
    assert _sources.check(node.runner, source(sha256=have.upper())) is None
    assert have in _sources.check(node.runner, source(sha256="b" * 64))
    assert "is not at /nowhere" in _sources.check(node.runner, source("/nowhere"))


def test_a_folder_is_known_by_its_files_and_not_by_its_history(node):
    node.file("/srv/vllm/a/x", "1")
    node.file("/srv/vllm/.git/index", "1")
    before = _sources.identity(node.runner, "/srv/vllm")
    node.file("/srv/vllm/.git/index", "2")
    assert _sources.identity(node.runner, "/srv/vllm") == before
    node.file("/srv/vllm/a/x", "2")
    assert _sources.identity(node.runner, "/srv/vllm") != before
    node.file("/srv/vllm/a/x", "1")
    os.rename(node.path("/srv/vllm/a/x"), node.path("/srv/vllm/a/y"))
    assert _sources.identity(node.runner, "/srv/vllm") != before


def test_build_requirements_are_read_by_the_envs_python(node):
    node.file("/tree/pyproject.toml", "")
    node.on("^/e/bin/python -c", (0, "setuptools>=77\n\ntorch == 2.11.0\n", ""))
    with Work(node.runner, "x", 60) as work:
        assert _sources.build_requirements(work, "/e/bin/python", "/tree") == ["setuptools>=77", "torch == 2.11.0"]
        assert _sources.build_requirements(work, "/e/bin/python", "/other") == ["setuptools", "wheel"]


def test_the_reader_of_build_requirements_works(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text('[build-system]\nrequires = ["a>=1", "b; python_version<\'3\'"]\n')
    answer = subprocess.run([sys.executable, "-c", _sources._READ_TOML, str(path)], stdout=subprocess.PIPE, check=True)
    assert answer.stdout.decode().splitlines() == ["a>=1", "b; python_version<'3'"]
