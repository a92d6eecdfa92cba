# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Order of the versions of this field: Ascend HDK and firmware, CANN, Python distributions.

One order for all of them, because a release row mixes them. It is the order of PEP 440 with what Huawei adds:

* ``24.1.rc3.7`` is the seventh patch of a candidate: after 24.1.rc3, before 24.1.0;
* ``7.0.T10`` and ``24.1.t52`` are trial builds: before every alpha of the same release;
* ``.b060`` is a build of a version, ``.spc001`` and ``.sph001`` are service packs: both after it;
* ``8.5.0.alpha001`` and ``9.1.0-beta.1`` spell alpha and beta in full; letters count in any case.

What has another form has no order: None, never a guess.
"""

from __future__ import annotations

import re
from typing import Any, Optional, Tuple

_LONGEST = 100  # characters; nothing real is longer
_FORM = re.compile(
    r"""
    v?(?P<release>\d+(?:\.\d+)*)
    (?:[._-]?(?P<pre>t|alpha|a|beta|b(?=\d{1,2}(?!\d))|rc|c|preview|pre)[._-]?(?P<pre_n>\d*(?:\.\d+)*))?
    (?:[._-]?(?P<post>post|rev|r|spc|sph)[._-]?(?P<post_n>\d*))?
    (?:[._-]?(?P<dev>dev)[._-]?(?P<dev_n>\d*))?
    (?:\.b(?P<build>\d{3,}))?
    (?:\+(?P<local>[a-z0-9]+(?:[._-][a-z0-9]+)*))?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PRE_RANK = {"t": 1, "a": 2, "alpha": 2, "b": 3, "beta": 3, "c": 4, "rc": 4, "pre": 4, "preview": 4}
_BEFORE_PRE, _FINAL = 0, 9

Key = Tuple[Any, ...]


def key(version: Any) -> Optional[Key]:
    """Sort key of a version, or None for what has no known form."""
    if not isinstance(version, str) or len(version) > _LONGEST:
        return None
    match = _FORM.fullmatch(version.strip())
    if match is None:
        return None
    part = match.groupdict()
    if part["pre"]:
        pre = (_PRE_RANK[part["pre"].lower()], _numbers(part["pre_n"]))
    elif part["dev"] and not part["post"]:
        pre = (_BEFORE_PRE, ())
    else:
        pre = (_FINAL, ())
    post = int(part["post_n"] or 0) if part["post"] else -1
    dev = (0, int(part["dev_n"] or 0)) if part["dev"] else (1, 0)
    build = int(part["build"]) if part["build"] else -1
    return (_numbers(part["release"]), pre, post, dev, build, _local(part["local"]))


def _numbers(text: str) -> Tuple[int, ...]:
    """Dotted numbers without closing zeros, so that 23.0 and 23.0.0 are one release."""
    numbers = [int(word) for word in text.split(".") if word]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _local(text: Optional[str]) -> Tuple[Tuple[int, int, str], ...]:
    """Local part: absent first, then words, then numbers, as PEP 440 orders them."""
    words = re.split(r"[._-]", text.lower()) if text else []
    return tuple((1, int(word), "") if word.isdigit() else (0, 0, word) for word in words)


def compare(a: Any, b: Any) -> Optional[int]:
    """-1, 0 or 1 as a is older than, equal to or newer than b; None when one of them has no known form."""
    left, right = key(a), key(b)
    if left is None or right is None:
        return None
    return (left > right) - (left < right)


def same(a: Any, b: Any) -> Optional[bool]:
    """Whether two versions are one, a local part (+cpu, +git…) aside; None when one has no known form."""
    left, right = key(a), key(b)
    return None if left is None or right is None else left[:-1] == right[:-1]


def is_prerelease(version: Any) -> Optional[bool]:
    """Whether a version precedes its release (rc, alpha, beta, trial, dev); None when it has no known form."""
    found = key(version)
    return None if found is None else found[1][0] != _FINAL or found[3][0] == 0


def in_ranges(version: Any, ranges: Any) -> Optional[bool]:
    """Whether a version lies in one of [[low, high or None], …], each closed below and open above.

    A final high also shuts out its own candidates, as in PEP 440: 26.0.rc1 is not in [25.0, 26.0).
    None when the version or a bound that matters has no known form, or when ranges is no list.
    """
    have = key(version)
    if have is None or not isinstance(ranges, (list, tuple)):
        return None
    unknown = False
    for entry in ranges:
        inside = _within(have, entry)
        if inside:
            return True
        unknown = unknown or inside is None
    return None if unknown else False


def _within(have: Key, entry: Any) -> Optional[bool]:
    if not isinstance(entry, (list, tuple)) or len(entry) != 2:
        return None
    low, high = key(entry[0]), key(entry[1])
    if low is None or (high is None and entry[1] is not None):
        return None
    if high is None:
        return have >= low
    candidate_of_high = have[0] == high[0] and high[1][0] == _FINAL and high[3][0] == 1
    return low <= have < high and not candidate_of_high
