# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One order for the versions of HDK, firmware, CANN and Python distributions."""

from __future__ import annotations

import itertools

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _version
from hypothesis import given
from hypothesis import strategies as st

compare, in_ranges = _version.compare, _version.in_ranges

# Each line from oldest to newest.
ORDERED = [
    ["23.0.rc3", "23.0.0", "23.0.7", "24.1.rc1", "24.1.0", "24.1.0.3", "25.0.rc1", "25.2.0", "25.5.1", "26.0.rc1"],
    ["24.1.t52.b060", "24.1.rc3", "24.1.rc3.7", "24.1.0", "24.1.0.3"],
    ["25.0.RC1", "25.0.RC1.1", "25.0.RC2", "25.0"],
    ["20.2.2", "20.2.2.spc001", "20.2.3"],
    ["23.0.rc1", "23.0.rc1.b060", "23.0.rc1.b061", "23.0.rc2"],
    ["7.0.T10", "7.0.0", "8.0.RC3", "8.0.0", "8.2.RC1", "8.3.RC1", "8.3.RC2", "8.5.0.alpha001", "8.5.0", "8.5.1"],
    ["8.5.0.alpha001", "8.5.0.alpha002", "9.0.0-beta.1", "9.0.0-beta.2", "9.0.0", "9.1.0-beta.1", "9.1.0"],
    ["7.1.0.4.218", "7.1.0.11.220", "7.5.0.5.220", "7.7.0.1.231", "9.0.0.0.205"],
    ["2.10.0.dev20260322", "2.10.0rc1", "2.10.0", "2.10.0+cpu", "2.10.0.post4"],
    ["2.9.0", "2.9.0.post1.dev20251124", "2.9.0.post1", "2.9.0.post1+git4c901a4", "2.9.0.post2", "2.10.0"],
    ["0.23.0a1", "0.23.0b1", "0.23.0rc1", "0.23.0", "0.23.0.post1"],
    ["3.9", "3.10", "3.11", "3.12"],
]
UNKNOWN = ["", "x.x.x", "NA", "25.2.X", "latest", "1!2.0", "v", "9.1.0-", "-1", ".5", "8.5.0 (x86)", "1" * 101, None, 9]


@pytest.mark.parametrize("line", ORDERED, ids=lambda line: line[-1])
def test_known_orders(line):
    for (i, left), (j, right) in itertools.product(enumerate(line), repeat=2):
        assert compare(left, right) == (i > j) - (i < j), (left, right)


@pytest.mark.parametrize(
    ("one", "other"),
    [("8.2.RC1", "8.2.rc1"), ("23.0", "23.0.0"), ("v0.23.0", "0.23.0"), ("9.1.0-beta.1", "9.1.0.beta1"), (" 1.0", "1")],
)
def test_spellings_of_one_version(one, other):
    assert compare(one, other) == 0


@pytest.mark.parametrize("text", UNKNOWN, ids=repr)
def test_what_has_no_form_has_no_order(text):
    assert compare(text, "1.0") is None
    assert compare("1.0", text) is None
    assert in_ranges(text, [["0", None]]) is None
    assert _version.is_prerelease(text) is None


def test_local_parts_do_not_make_another_version():
    assert _version.same("2.10.0+cpu", "2.10.0") is True
    assert _version.same("2.9.0.post1+git4c901a4", "2.9.0.post1") is True
    assert _version.same("2.10.0.post4", "2.10.0") is False
    assert _version.same("2.10.0", "xxx") is None


@pytest.mark.parametrize(
    ("version", "ranges", "inside"),
    [
        ("25.5.1", [["25.2.0", None]], True),
        ("25.2.0", [["25.2.0", None]], True),
        ("25.2.rc1", [["25.2.0", None]], False),
        ("3.12.4", [["3.10", "3.13"]], True),
        ("3.13.0", [["3.10", "3.13"]], False),
        ("26.0.rc1", [["25.0", "26.0"]], False),  # a candidate of the open end
        ("26.0.rc1", [["25.0", "26.0.rc2"]], True),
        ("24.1.0", [["23.0", "23.1"], ["24.0", "24.2"]], True),
        ("24.1.0", [], False),
        ("24.1.0", None, None),
        ("24.1.0", "24.1.0", None),
        ("24.1.0", [["x", None]], None),
        ("24.1.0", [["25.0", "x"]], None),
        ("24.1.0", [["24.0"]], None),
        ("24.1.0", [["x", None], ["24.0", None]], True),
        ("24.1.0", [["x", None], ["25.0", None]], None),
    ],
)
def test_ranges(version, ranges, inside):
    assert in_ranges(version, ranges) is inside


@pytest.mark.parametrize(
    ("version", "early"),
    [("25.0.rc1", True), ("7.0.T10", True), ("2.9.0.dev1", True), ("2.9.0.post1.dev3", True), ("2.9.0.post1", False)],
)
def test_prereleases(version, early):
    assert _version.is_prerelease(version) is early


number = st.integers(0, 40)
versions = st.builds(
    lambda release, tail, local: ".".join(map(str, release)) + tail + local,
    st.lists(number, min_size=1, max_size=5),
    st.one_of(
        st.just(""),
        st.builds("{}{}".format, st.sampled_from([".rc", "rc", "-beta.", ".alpha0", ".T", ".post", ".dev"]), number),
        st.builds(".spc00{}".format, number),
        st.builds(".rc{}.{}".format, number, number),
        st.builds(".b0{}{}".format, st.integers(0, 9), st.integers(0, 9)),
    ),
    st.sampled_from(["", "", "+cpu", "+git4c901a4"]),
)


@given(versions, versions, versions)
def test_it_is_a_total_order(one, other, third):
    assert compare(one, one) == 0
    there, back = (compare(*pair) for pair in ((one, other), (other, one)))
    assert there == -back
    if there <= 0 and compare(other, third) <= 0:
        assert compare(one, third) <= 0


@given(versions, versions)
def test_a_range_holds_its_low_end_and_not_its_high_end(low, high):
    assert in_ranges(low, [[low, None]]) is True
    assert in_ranges(high, [[low, high]]) is False


@given(st.text(max_size=30))
def test_any_text_is_answered(text):
    assert compare(text, text) in (0, None)
    assert in_ranges(text, [[text, text]]) in (False, None)
