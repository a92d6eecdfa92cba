# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""This machine's makeself header, changed to take arguments as the header of the vendor's packages does.

Nothing of makeself is kept in this project: the changes are applied to the installed header when packages are built.
What the vendor's header does differently: options that it does not know go to the packed script without ``--``;
``--check`` verifies and then runs the script with ``--check``; ``--extract=DIR``; the script is called with the name of
the .run file and the folder it was called from as two leading words; a log is written below $HOME.
"""

from __future__ import annotations

import re
from pathlib import Path

from fleet_engine import APT_LINE, FleetError

SYSTEM = Path("/usr/share/makeself/makeself-header.sh")
# (what it is about, pattern that must occur once, text in its place); the header is a here-document, hence \$.
CHANGES = (
    (
        "options that are not known",
        r"    -\*\)\n\techo Unrecognized flag[^\n]*\n\tMS_Help\n\texit 1\n\t;;\n",
        '    --extract=*)\n\tkeep=y\n\ttargetdir="\\${1#--extract=}"\n\tshift\n\t;;\n'
        "    -*)\n\tpassed=\"\\$passed '\\$1'\"\n\tshift\n\t;;\n",
    ),
    (
        "--check",
        r"    --check\)\n\tMS_Check \"\\\$0\" y\n\texit 0\n\t;;\n",
        '    --check)\n\tmkdir -p "\\$HOME/log/makeself" && echo check >>"\\$HOME/log/makeself/makeself.log"\n'
        "\techo Makeself logfile: ~/log/makeself/makeself.log\n"
        '\tMS_Check "\\$0" y\n\tpassed="\\$passed --check"\n\tshift\n\t;;\n',
    ),
    (
        "the script's arguments",
        r"if test x\"\\\$quiet\" = xy -a x\"\\\$verbose\" = xy; then\n",
        'test x"\\$quiet" = xy && passed="--quiet \\$passed"\n'
        "scriptargs=\"'--\\$0' '--\\$USER_PWD' \\$passed\"\n"
        'if test x"\\$quiet" = xy -a x"\\$verbose" = xy; then\n',
    ),
    ("the start of the options", r"initargs=\"\\\$@\"\n", 'initargs="\\$@"\npassed=\n'),
)


def vendor_like() -> str:
    """Text of the changed header; FleetError when makeself is missing or its header is of another line."""
    try:
        text = SYSTEM.read_text()
    except OSError:
        raise FleetError(f"makeself is missing, and the .run packages are made with it. Next: {APT_LINE}") from None
    for subject, pattern, replacement in CHANGES:
        text, count = re.subn(pattern, lambda _match, new=replacement: new, text)
        if count != 1:
            raise FleetError(f"{SYSTEM} handles {subject} in another way than makeself 2.4.5: install that version.")
    return text
