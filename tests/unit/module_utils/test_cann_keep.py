# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import shutil

import cann_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _cann_keep as keep

ROOT = world.ROOT


@pytest.fixture
def node(tmp_path):
    return world.World(tmp_path / "node")


def test_nothing_changed_is_nothing_touched(node):
    node.legacy_by_hand()
    kept = keep.snapshot(node.runner, ROOT)
    before = node.picture()
    assert keep.changes(node.runner, ROOT, kept) == []
    assert keep.restore(node.runner, ROOT, kept) == []
    assert node.picture() == before


def test_a_folder_of_links_that_became_a_link_is_made_again_and_the_tree_behind_it_stays(node):
    node.legacy_by_hand()
    before = node.picture()
    kept = keep.snapshot(node.runner, ROOT)
    latest = node.real(ROOT + "/ascend-toolkit/latest")
    shutil.rmtree(latest)
    node.write(ROOT + "/cann-9.1.0/var/manager/install.sh", "of the new tree")
    node.write(ROOT + "/cann-9.1.0/version.cfg", "of the new tree")
    os.symlink("../cann-9.1.0", latest)
    keep.restore(node.runner, ROOT, kept)
    after = node.picture()
    assert {path: after.get(path) for path in before} == before
    assert node.read(ROOT + "/cann-9.1.0/var/manager/install.sh") == "of the new tree"
    assert node.read(ROOT + "/cann-9.1.0/version.cfg") == "of the new tree"


def test_modes_owners_targets_and_contents_come_back_and_additions_go(node):
    node.legacy_by_hand()
    before = node.picture()
    kept = keep.snapshot(node.runner, ROOT)
    base = node.real(ROOT + "/ascend-toolkit")
    os.chmod(base + "/latest/version.cfg", 0o777)
    os.remove(base + "/latest/compiler")
    os.symlink("../8.3.RC2/compiler", base + "/latest/compiler")
    os.symlink("../8.3.RC2/new", base + "/latest/new")
    os.makedirs(base + "/latest/var/more/deep")
    os.remove(base + "/set_env.sh")
    os.makedirs(base + "/set_env.sh")
    touched = keep.restore(node.runner, ROOT, kept)
    assert node.picture() == before
    assert ROOT + "/ascend-toolkit/latest/compiler" in touched


def test_bytes_that_are_no_text_come_back(node):
    path = ROOT + "/ascend-toolkit/latest/blob"
    node.write(path, "")
    raw = bytes(range(256))
    with open(node.real(path), "wb") as handle:
        handle.write(raw)
    kept = keep.snapshot(node.runner, ROOT)
    node.write(path, "other")
    keep.restore(node.runner, ROOT, kept)
    with open(node.real(path), "rb") as handle:
        assert handle.read() == raw


def test_what_cannot_be_saved_is_said_before_anything_happens(node):
    os.makedirs(node.real(ROOT + "/ascend-toolkit/latest"))
    os.mkfifo(node.real(ROOT + "/ascend-toolkit/latest/pipe"))
    with pytest.raises(keep.KeepError, match="cannot be put back"):
        keep.snapshot(node.runner, ROOT)


def test_a_huge_latest_is_not_swallowed(node, monkeypatch):
    monkeypatch.setattr(keep, "TOTAL_LIMIT", 10)
    node.write(ROOT + "/ascend-toolkit/latest/a", "x" * 20)
    with pytest.raises(keep.KeepError, match="more than links and scripts"):
        keep.snapshot(node.runner, ROOT)


def test_the_shield_shows_the_same_and_is_undone(node):
    node.by_hand()
    before = node.picture()
    kept = keep.snapshot(node.runner, ROOT)
    keep.shield(node.runner, ROOT)
    latest = ROOT + "/ascend-toolkit/latest"
    assert not node.runner.is_link(latest)
    assert node.runner.readlink(latest + "/set_env.sh") == ROOT + "/cann-8.5.0/set_env.sh"
    keep.restore(node.runner, ROOT, kept)
    assert node.picture() == before


def test_the_shield_leaves_a_legacy_host_alone(node):
    node.legacy_by_hand()
    before = node.picture()
    keep.shield(node.runner, ROOT)
    assert node.picture() == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"default": true}'])
def test_a_damaged_note_is_no_note(node, text):
    node.write(keep.FOLDER + "/toolkit-1.json", text)
    assert keep.stored(node.runner, "toolkit-1") is None


def test_a_note_is_closed_to_others_and_comes_back(node):
    keep.store(node.runner, "toolkit-1", True, {"folders": [], "entries": []})
    assert os.stat(node.real(keep.FOLDER + "/toolkit-1.json")).st_mode & 0o777 == 0o600
    assert keep.stored(node.runner, "toolkit-1") == {"default": True, "kept": {"folders": [], "entries": []}}
    assert keep.stored_keys(node.runner) == ["toolkit-1"]
    keep.forget(node.runner, "toolkit-1")
    assert keep.stored_keys(node.runner) == []
