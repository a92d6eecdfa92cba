# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _vendor_log as vendor_log
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def node(tmp_path):
    (tmp_path / "var/log/ascend_seclog").mkdir(parents=True)
    (tmp_path / "var/log/cann_atb_log").mkdir()
    return Runner(lambda *_args, **_kw: (0, "", ""), str(tmp_path))


def put(node, path, text, mode="a"):
    with open(node.real(path), mode, encoding="utf-8") as handle:
        handle.write(text)


def test_only_news_is_read(node):
    log = "/var/log/ascend_seclog/ascend_toolkit_install.log"
    put(node, log, "old success\n")
    put(node, "/var/log/ascend_seclog/operation.log", "old\n")
    put(node, "/var/log/ascend_seclog/notes.txt", "no log\n")
    before = vendor_log.marks(node)
    assert vendor_log.fresh(node, before) == {}
    put(node, log, "new\n")
    assert vendor_log.fresh(node, before) == {log: "new\n"}


def test_a_rotated_log_is_read_whole(node):
    log = "/var/log/ascend_seclog/ascend_install.log"
    put(node, log, "a long old text\n")
    before = vendor_log.marks(node)
    put(node, log, "short\n", "w")
    assert vendor_log.fresh(node, before) == {log: "short\n"}


def test_of_a_long_log_the_end_is_read(node):
    log = "/var/log/ascend_seclog/ascend_install.log"
    put(node, log, "x" * (vendor_log.LIMIT + 100) + "end")
    text = vendor_log.fresh(node, {})[log]
    assert len(text) == vendor_log.LIMIT
    assert text.endswith("end")


@pytest.mark.parametrize(
    "package, want",
    [
        ("toolkit", "/l/ascend_toolkit_install.log"),
        ("ops", "/l/ascend_kernels_910b_install.log"),
        ("nnal", "/l/cann_atb_install.log"),
    ],
)
def test_the_log_of_the_package_is_chosen(package, want):
    texts = dict.fromkeys(
        [
            "/l/ascend_install.log",
            "/l/ascend_toolkit_install.log",
            "/l/ascend_kernels_910b_install.log",
            "/l/cann_atb_install.log",
        ],
        "x",
    )
    assert vendor_log.choose(texts, package) == (want, "x")


def test_without_a_log_of_its_own_the_longest_news():
    assert vendor_log.choose({"/l/a.log": "x", "/l/b.log": "xxx"}, "nnal") == ("/l/b.log", "xxx")
    assert vendor_log.choose({}, "nnal") == (None, "")


@pytest.mark.parametrize(
    "text, want",
    [
        ("[INFO] Ascend-cann-toolkit_9.1.0_linux-aarch64 install success, installed in /usr/local/Ascend.", True),
        ("[WARNING] x\n[Toolkit] [INFO] x upgrade success", True),
        ("[INFO] Ascend-cann-atb install success!", True),
        ("[ERROR] a tool is missing\n[INFO] x install success", True),
        ("[INFO] x install success\n[ERROR] y install failed", False),
        ("Install failed, pkg arch aarch64 is not consistent", False),
        ("[INFO] start", None),
        ("[INFO] y uninstall success", None),
        ("", None),
    ],
)
def test_the_last_word_counts(text, want):
    assert vendor_log.verdict(text) is want


@given(st.text(max_size=300))
def test_hostile_text(text):
    assert vendor_log.verdict(text) in (True, False, None)
    assert all(len(line) <= 300 and line.strip() for line in vendor_log.tail(text))


def test_tail_drops_empty_lines_and_the_beginning():
    assert vendor_log.tail("a\n\nb\n \nc\n", 2) == ["b", "c"]
