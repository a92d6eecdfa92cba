# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what lies below the CANN roots: path -> [mode, owner, group, target or sha256], as JSON to the file named."""

from __future__ import annotations

import hashlib
import json
import os
import sys

picture = {}
for top in ("/usr/local/Ascend", "/etc/Ascend"):
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if os.path.islink(path):
                what = "-> " + os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as handle:
                    what = hashlib.sha256(handle.read()).hexdigest()
            else:
                what = "folder"
            picture[path] = [oct(info.st_mode), info.st_uid, info.st_gid, what]
with open(sys.argv[1], "w", encoding="utf-8") as handle:
    json.dump(picture, handle)
