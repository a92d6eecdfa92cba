# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The knowledge tables of the collection, as the controller reads them.

``data/<table>.yml`` is for people, ``data/json/<table>.json`` is the same for speed (``make data`` writes it). A site's
own folders (``ascend_data_dirs``) hold YAML files of the same names; they are merged over ours by key, a later folder
over an earlier one, so that a site can add a release without a new collection.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, Optional, Sequence

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data"))
NAME = re.compile(r"[a-z0-9_]+\Z")
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*\Z")


class DataError(Exception):
    """A table cannot be read; the text names the file, the cause and what is wanted."""


def load(table: str, folders: Sequence[str] = (), root: str = ROOT) -> Dict[str, Any]:
    """One table with the site's folders merged over it; a table that only a site has is a table too.

    :raises DataError: no such table, a folder that is not there, a file that is not YAML or not a dictionary.
    """
    if not NAME.match(table):
        raise DataError("%r is not the name of a table: letters, digits and underscores only." % table)
    path = os.path.join(root, "json", table + ".json")
    found = []  # type: List[Dict[str, Any]]
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as handle:
            found.append(json.load(handle))
    for folder in folders:
        if not os.path.isdir(folder):
            raise DataError(
                "The folder %s of ascend_data_dirs is not there on the controller: correct its name." % folder
            )
        extra = os.path.join(folder, table + ".yml")
        if os.path.isfile(extra):
            found.append(read_yaml(extra))
    if not found:
        raise DataError("There is no table %s below %s: run `make data`." % (table, root))
    merged = {}  # type: Dict[str, Any]
    for part in found:
        merged = merge(merged, part)
    return merged


def merge(base: Dict[str, Any], over: Dict[str, Any]) -> Dict[str, Any]:
    """A new dictionary: keys of ``over`` win, dictionaries are merged, lists and values are replaced."""
    result = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


def read_yaml(path: str) -> Dict[str, Any]:
    """A YAML file that holds a dictionary; keys become text, as they are in JSON.

    :raises DataError: unreadable, not YAML, not a dictionary.
    """
    import yaml

    try:
        with open(path, encoding="utf-8") as handle:
            value = yaml.safe_load(handle)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise DataError(
            "%s cannot be read as YAML (%s): repair the file." % (path, " ".join(str(exc).split()))
        ) from exc
    if not isinstance(value, dict):
        raise DataError("%s holds no dictionary: it must look like the file of the same name in data/." % path)
    return _text_keys(value)


def _text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _text_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_text_keys(item) for item in value]
    return value


def options(
    version: Optional[str], folders: Sequence[str] = (), root: str = ROOT
) -> Optional[Dict[str, Dict[str, Any]]]:
    """The option list of one vLLM: {"--name": {nargs, choices}}, or None when there is none for this version.

    :raises DataError: the list is damaged.
    """
    if not version or not VERSION.match(version):
        return None
    found = None
    for folder in [root, *folders]:
        path = os.path.join(folder, "options", "vllm-%s.json" % version)
        if not os.path.isfile(path):
            continue
        try:
            with open(path, encoding="utf-8") as handle:
                found = json.load(handle)["options"]
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise DataError(
                "%s is not an option list (%s): make it again with tools/vllm_options.py." % (path, exc)
            ) from exc
    return found
