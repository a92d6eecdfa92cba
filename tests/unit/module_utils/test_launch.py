# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids of people become ids of CANN, or the start is refused with the reason."""

from __future__ import annotations

import os

import instance_world as world
import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _launch, _lock

Refused = _launch.Refused


@pytest.fixture
def node(tmp_path):
    return world.World(tmp_path)


class Time:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now, self.naps = 0.0, []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds


def start(node, **more):
    time, said = Time(), []
    taken = _launch.wait_for_devices(node.runner, world.description(**more), said.append, time.clock, time.sleep)
    return _launch.visible(taken), said, time


def test_ids_are_sorted_and_joined_without_blanks(node):
    assert start(node, devices=["2", "0:0", "1"])[0] == "0,1,2"


def test_an_npu_stands_for_all_its_chips_and_overlaps_count_once(node):
    node.mapping = world.PAIRED
    for number in (8, 9, 12, 13):
        node.write("/dev/davinci%d" % number, "")
    assert start(node, devices=["6", "6:1"])[0] == "2,3"
    assert start(node, devices=["4:1"])[0] == "1"


def test_no_devices_means_all_chips_but_no_controllers(node):
    assert start(node, devices=[])[0] == "0,1,2"


@pytest.mark.parametrize("word", ["", "a", "1:", ":1", "1:0:0", "-1", "0,1", "1 ", "½"])
def test_a_malformed_id_is_refused_at_once(node, word):
    with pytest.raises(Refused, match="is no NPU id") as caught:
        start(node, devices=[word])
    assert not caught.value.later


def test_a_missing_device_is_refused_with_the_table_after_the_grace(node):
    time = Time()
    with pytest.raises(Refused) as caught:
        _launch.wait_for_devices(
            node.runner, world.description(devices=["7"]), lambda text: None, time.clock, time.sleep
        )
    assert "device 7 is not there" in str(caught.value)
    assert "2:0" in str(caught.value)
    assert time.now == pytest.approx(_launch.GRACE, abs=_launch.PAUSE)


def test_after_boot_it_waits_for_the_driver_and_says_so_once(node):
    node.write("/proc/uptime", "60.0 1.0\n")
    os.unlink(node.root + "/dev/davinci_manager")
    time, said = Time(), []

    def sleep(seconds):
        time.sleep(seconds)
        if time.now > 300:
            node.write("/dev/davinci_manager", "")

    taken = _launch.wait_for_devices(node.runner, world.description(), said.append, time.clock, sleep)
    assert _launch.visible(taken) == "0"
    assert len(said) == 1
    assert said[0].startswith("waiting for at most 840 s: the driver has not made /dev/davinci_manager")


def test_the_wait_after_boot_ends(node):
    node.write("/proc/uptime", "60.0 1.0\n")
    node.mapping = "dcmi module initialize failed. ret is -8005\n"
    time = Time()
    with pytest.raises(Refused, match="-8005"):
        _launch.wait_for_devices(node.runner, world.description(), lambda text: None, time.clock, time.sleep)
    assert 840 <= time.now <= 840 + _launch.PAUSE


def test_a_device_node_is_named_by_physical_id(node):
    node.mapping = world.PAIRED
    with pytest.raises(Refused, match=r"has not made /dev/davinci12, /dev/davinci13"):
        start(node, devices=["6"])


def test_a_foreign_process_on_the_device_refuses(node):
    node.table = world.table((0, 4711, "python3"))
    node.process(4711, "other.service")
    with pytest.raises(Refused, match=r"NPU 0 chip 0 is held by process 4711 \(python3\)"):
        start(node)


def test_a_process_on_another_device_does_not(node):
    node.table = world.table((1, 4711, "python3"))
    assert start(node, devices=["0", "2"])[0] == "0,2"


def test_our_own_process_does_not(node):
    node.table = world.table((0, 4711, "python3"))
    node.process(4711, "ascend-vllm-chat.service")
    assert start(node)[0] == "0"


def test_a_unit_whose_name_begins_like_ours_is_not_ours(node):
    node.table = world.table((0, 4711, "python3"))
    node.process(4711, "ascend-vllm-chat.service-old.service")
    with pytest.raises(Refused, match="held"):
        start(node)


def test_a_process_that_leaves_is_waited_for(node):
    node.table = world.table((0, 4711, "python3"))
    time = Time()

    def sleep(seconds):
        time.sleep(seconds)
        node.table = world.table()

    taken = _launch.wait_for_devices(node.runner, world.description(), lambda text: None, time.clock, sleep)
    assert _launch.visible(taken) == "0"
    assert time.now == _launch.PAUSE


def test_without_a_process_table_nobody_is_accused(node):
    node.table = "+---+\n| npu-smi 20.2 Version: 20.2 |\n+---+\n"
    assert start(node)[0] == "0"


def test_without_npu_smi_the_driver_comes_first(node):
    os.unlink(node.root + "/usr/local/sbin/npu-smi")
    with pytest.raises(Refused, match="driver comes first"):
        _launch.look(node.runner)


def test_calls_are_one_after_the_other_under_the_lock(node):
    _launch.look(node.runner)
    assert [words[1:] for words in node.calls] == [["info", "-m"], ["info"]]
    assert node.exists(_lock.NPU_SMI)
    assert os.stat(node.root + _lock.NPU_SMI).st_mode & 0o777 == 0o666


def test_a_busy_lock_is_no_answer(node):
    with _lock.held(node.runner, _lock.NPU_SMI, 0, "somebody", mode=0o666), pytest.raises(Refused) as caught:
        _launch.look(node.runner, timeout=0)
    assert caught.value.later
    assert node.calls == []


def test_prepare_makes_the_lock_for_everybody_and_leaves_a_held_one(node):
    _launch.prepare(node.runner)
    assert os.stat(node.root + _lock.NPU_SMI).st_mode & 0o777 == 0o666
    with _lock.held(node.runner, _lock.NPU_SMI, 0, "somebody", mode=0o666):
        _launch.prepare(node.runner)


@pytest.mark.parametrize("text", ["", "x", "\x00", None])
def test_a_node_that_does_not_tell_its_uptime_is_long_up(node, text):
    if text is None:
        os.unlink(node.root + "/proc/uptime")
    else:
        node.write("/proc/uptime", text)
    assert _launch.uptime(node.runner) == float("inf")


def test_old_logs_are_those_of_the_folder_that_nobody_wrote_to(node):
    for name, days in (("debug/plog/plog-1.log", 20), ("debug/plog/plog-2.log", 13), ("run/old", 15)):
        node.write("/log/" + name, "x")
        os.utime(node.root + "/log/" + name, (0, 1000000 - days * 86400))
    node.write("/elsewhere/old", "x")
    os.utime(node.root + "/elsewhere/old", (0, 0))
    os.symlink(node.root + "/elsewhere", node.root + "/log/link")
    assert _launch.old_logs(node.runner, "/log", 1000000) == ["/log/debug/plog/plog-1.log", "/log/run/old"]
    assert _launch.old_logs(node.runner, "/nothing", 1000000) == []


def test_the_copied_files_are_those_that_import_each_other_and_name_their_folder():
    sources = {
        "_launch": "from . import _lock, _npu_smi\nfrom ._runner import Runner\n",
        "_lock": "from ._runner import Runner\n",
        "_npu_smi": "import re\n# from ._state import nothing\n",
        "_runner": "",
    }
    name, files = _launch.copied(sources.__getitem__, "entry")
    assert sorted(files) == [
        "fleet/__init__.py",
        "fleet/_launch.py",
        "fleet/_lock.py",
        "fleet/_npu_smi.py",
        "fleet/_runner.py",
        "launch.py",
    ]
    assert len(name) == 8
    assert name != _launch.copied(sources.__getitem__, "other entry")[0]
    assert name != _launch.copied(dict(sources, _runner="#").__getitem__, "entry")[0]


def test_every_sibling_that_the_launcher_imports_is_copied():
    """The copy has to run without Ansible: no import may lead out of it."""
    folder = os.path.dirname(_launch.__file__)

    def source(name):
        with open(os.path.join(folder, name + ".py"), encoding="utf-8") as handle:
            return handle.read()

    _name, files = _launch.copied(source, "")
    for path, text in files.items():
        assert "ansible" not in "".join(
            line for line in text.splitlines() if line.lstrip().startswith(("import", "from"))
        )
        assert "\nfrom .. " not in text, path
