# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Which file is meant by "cann-toolkit 9.1.0 for aarch64", and where it lies.

``ascend_artifacts`` names the sources: one dict or a list of ``{dir: controller folder}``, ``{node_dir: folder on the
node}``, ``{url: mirror}``, each with a manifest.yml (docs/contracts.md, Artifact). The first source that has it wins.
"""

from __future__ import annotations

import os
import posixpath
import re
import urllib.parse
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

import yaml
from ansible_collections.ascend.fleet.plugins.plugin_utils import hashes, mirror

MANIFEST = "manifest.yml"
SCHEMA = 1
KINDS = {"dir": "controller", "node_dir": "node", "url": "url"}

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SHA256 = re.compile(r"^[0-9a-f]{64}$")
_MINOR = re.compile(r"^cp3(\d+)$")
_ABI3 = re.compile(r"^cp3(\d+)-abi3$")


class ArtifactError(Exception):
    """An artifact that cannot be used, in the words of a finding.

    :param id: what kind: ``missing`` (no source has it), ``unreadable`` (listed, but the file cannot be read),
        ``sha256`` (the content is another), ``manifest`` (a source or its manifest cannot be used).
        A finding's id is ``<layer>.artifact.<id>``.
    """

    def __init__(self, id: str, have: str, want: str, remedy: str) -> None:
        super().__init__("Found: %s. Wanted: %s. %s" % (have.rstrip("."), want.rstrip("."), remedy))
        self.id, self.have, self.want, self.remedy = id, have, want, remedy


class Source(NamedTuple):
    """One place of artifacts: where is controller, node or url; base is its folder or address, no slash at the end."""

    where: str
    base: str

    @property
    def manifest(self) -> str:
        return self.locate(MANIFEST)

    def locate(self, file: str) -> str:
        """Path on the controller, path on the node, or address, of a file named as the manifest names it."""
        if self.where == "url":
            return self.base + "/" + urllib.parse.quote(file)
        return os.path.join(self.base, file) if self.where == "controller" else posixpath.join(self.base, file)


def sources_of(value: Any) -> List[Source]:
    """The sources that ``ascend_artifacts`` names, in order; none for an unset value. ArtifactError(manifest) else."""
    found = []
    for entry in value if isinstance(value, list) else [value] if value else []:
        kind = next(iter(entry)) if isinstance(entry, Mapping) and len(entry) == 1 else None
        place = entry[kind] if kind in KINDS else None
        if not isinstance(place, str) or not place.strip():
            raise ArtifactError(
                "manifest",
                "ascend_artifacts holds %r" % (entry,),
                "{dir: folder on the controller}, {node_dir: folder on the node} or {url: mirror}, or a list of them",
                "Correct ascend_artifacts.",
            )
        found.append(Source(KINDS[kind], _base(kind, place.strip())))
    return found


def _base(kind: str, place: str) -> str:
    if kind == "dir":
        return os.path.abspath(os.path.expanduser(place))
    if kind == "node_dir" and not place.startswith("/"):
        raise ArtifactError("manifest", "node_dir %s" % place, "an absolute path", "Correct ascend_artifacts.")
    if kind == "url" and urllib.parse.urlsplit(place).scheme not in ("http", "https"):
        raise ArtifactError("manifest", "url %s" % place, "an http or https address", "Correct ascend_artifacts.")
    return place.rstrip("/") or "/"


def node_manifests(value: Any) -> List[str]:
    """Paths on the node that must be read before node_dir sources can be resolved: what the probe is asked for."""
    return [source.manifest for source in sources_of(value) if source.where == "node"]


def parse(text: str, origin: str) -> List[Dict[str, Any]]:
    """The artifacts of a manifest; ArtifactError(manifest) when it is not one.

    :param origin: path or address of the manifest, for the message.
    """
    try:
        manifest = yaml.load(text, Loader=_LOADER)  # a safe loader, the C one where there is one
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        mark = getattr(exc, "problem_mark", None)
        raise _bad(origin, "not YAML%s" % (" (line %d)" % (mark.line + 1) if mark else "")) from exc
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise _bad(origin, "no mapping with schema: %d" % SCHEMA)
    entries = manifest.get("artifacts")
    if not isinstance(entries, list):
        raise _bad(origin, "artifacts is not a list")
    for number, entry in enumerate(entries, 1):
        fault = _fault(entry)
        if fault:
            raise _bad(origin, "artifact %d: %s" % (number, fault))
    return entries


def _fault(entry: Any) -> Optional[str]:
    if not isinstance(entry, dict):
        return "not a mapping"
    for key in ("name", "version", "file", "sha256"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            return "%s is not a text" % key
    if not _SHA256.match(entry["sha256"]):
        return "sha256 is not 64 lower-case hex digits"
    file = entry["file"]
    if file.startswith("/") or ".." in file.split("/") or "\0" in file or "\n" in file:
        return "file %r is not a path below the manifest's folder" % file
    if not isinstance(entry.get("platform", {}), dict):
        return "platform is not a mapping"
    return None


def _bad(origin: str, what: str) -> ArtifactError:
    return ArtifactError(
        "manifest",
        "%s: %s" % (origin, what),
        "a manifest with schema %d" % SCHEMA,
        "Write it anew with: ansible-playbook ascend.fleet.bundle -e bundle_dir=FOLDER",
    )


def fits(have: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether an artifact with platform ``have`` can be used on ``wanted``; a key absent on either side is any."""
    for key, value in have.items():
        want = wanted.get(key)
        if value is None or want is None:
            continue
        if key == "python":
            if not _python_fits(str(value), str(want)):
                return False
        elif key == "glibc":
            if _numbers(value) > _numbers(want):
                return False
        elif str(value).lower() != str(want).lower():
            return False
    return True


def _python_fits(have: str, want: str) -> bool:
    """``py3`` is any Python 3, ``cp39-abi3`` CPython 3.9 and newer, else the tags are equal."""
    abi3, minor = _ABI3.match(have), _MINOR.match(want)
    if abi3 and minor:
        return int(minor.group(1)) >= int(abi3.group(1))
    return have in ("py3", want)


def _numbers(version: Any) -> List[int]:
    return [int(part) for part in re.findall(r"\d+", str(version))]


def resolve(
    sources: Any,
    name: str,
    version: Optional[str],
    platform: Optional[Mapping[str, Any]],
    reads: Mapping[str, Optional[str]],
    *,
    fetch: Callable[[str], str] = mirror.text_of,
) -> Dict[str, Any]:
    """The artifact that is meant: its manifest entry with ``where`` (controller, node, url) and ``path`` (or address).

    Nothing is hashed here; ``check`` does that for files on the controller.

    :param sources: the value of ascend_artifacts.
    :param version: None or "" takes the first in the manifest that fits; letter case does not matter.
    :param platform: what it is for: {arch, family, python, ...}.
    :param reads: text by path as the probe's ascend_reads gives it, for node_dir sources.
    :param fetch: text of an address, OSError else.
    """
    platform = platform or {}
    troubles = []  # type: List[ArtifactError]
    seen = []  # type: List[Dict[str, Any]]
    places = sources_of(sources)
    for source in places:
        try:
            entries = entries_of(source, reads, fetch)
        except ArtifactError as exc:
            troubles.append(exc)
            continue
        for entry in entries:
            if entry["name"] != name:
                continue
            seen.append(entry)
            same = not version or entry["version"].lower() == str(version).lower()
            if same and fits(entry.get("platform") or {}, platform):
                return placed(source, entry)
    if troubles:
        raise troubles[0]
    raise _missing(places, describe(name, version, platform), seen)


def wheels(
    sources: Any,
    platform: Mapping[str, Any],
    reads: Mapping[str, Optional[str]],
    *,
    fetch: Callable[[str], str] = mirror.text_of,
) -> List[Dict[str, Any]]:
    """Every wheel for a platform, all from the first source that has any; none is an answer, not an error."""
    trouble = None
    for source in sources_of(sources):
        try:
            entries = entries_of(source, reads, fetch)
        except ArtifactError as exc:
            trouble = trouble or exc
            continue
        found = [e for e in entries if e["file"].endswith(".whl") and fits(e.get("platform") or {}, platform)]
        if found:
            return [placed(source, entry) for entry in found]
    if trouble:
        raise trouble
    return []


def entries_of(source: Source, reads: Mapping[str, Optional[str]], fetch: Callable[[str], str]) -> List[Dict[str, Any]]:
    """All artifacts of one source; ArtifactError(manifest) when its manifest is not there or not one."""
    origin = source.manifest
    why = "cannot be read"
    text = None  # type: Optional[str]
    try:
        if source.where == "node":
            text = reads.get(origin)
        elif source.where == "url":
            text = fetch(origin)
        else:
            with open(origin, encoding="utf-8", errors="replace") as handle:
                text = handle.read()
    except OSError as exc:
        why = exc.strerror or str(exc)
    if text is None:
        place = {"controller": "on the controller", "node": "on the node", "url": ""}[source.where]
        raise ArtifactError(
            "manifest",
            ("%s %s" % (origin, place)).strip() + ": " + why,
            "a manifest of the artifacts in %s" % source.base,
            "Write it with 'ansible-playbook ascend.fleet.bundle -e bundle_dir=FOLDER' or correct ascend_artifacts.",
        )
    return parse(text, origin)


def placed(source: Source, entry: Mapping[str, Any]) -> Dict[str, Any]:
    """A manifest entry with where and path of its file."""
    return dict(entry, platform=entry.get("platform") or {}, where=source.where, path=source.locate(entry["file"]))


def check(artifact: Mapping[str, Any]) -> None:
    """Compare the SHA-256 of a file on the controller, ArtifactError when it differs; a file elsewhere is not read."""
    if artifact["where"] != "controller":
        return
    path = artifact["path"]
    try:
        have = hashes.sha256_of(path)
    except OSError as exc:
        raise ArtifactError(
            "unreadable",
            "%s: %s" % (path, exc.strerror or exc),
            "%s %s, listed in the manifest beside it" % (artifact["name"], artifact["version"]),
            "Put the file there, or write the manifest anew with: ansible-playbook ascend.fleet.bundle",
        ) from exc
    if have != artifact["sha256"]:
        raise mismatch(path, have, artifact["sha256"])


def mismatch(path: str, have: str, want: str) -> ArtifactError:
    """The failure of a file whose content is another, with both hashes."""
    return ArtifactError(
        "sha256",
        "%s with sha256 %s" % (path, have),
        "sha256 %s as its manifest says" % want,
        "Fetch the file again; only if the new content is meant, write the manifest anew: ansible-playbook "
        "ascend.fleet.bundle",
    )


def describe(name: str, version: Optional[str], platform: Mapping[str, Any]) -> str:
    """An artifact in words: "cann-ops 9.1.0 (910b, aarch64)"."""
    words = [name] + ([str(version)] if version else [])
    kind = ", ".join(str(platform[key]) for key in sorted(platform, reverse=True) if platform[key])
    return " ".join(words) + (" (%s)" % kind if kind else "")


def _missing(places: List[Source], want: str, seen: List[Dict[str, Any]]) -> ArtifactError:
    if not places:
        have, remedy = "ascend_artifacts is not set", "Set ascend_artifacts to the folder or mirror that has the files."
    else:
        near = sorted({describe(e["name"], e["version"], e.get("platform") or {}) for e in seen})
        have = "only " + "; ".join(near[:6]) if near else "none of that name"
        have += " in " + ", ".join(source.base for source in places)
        remedy = "Put the file there and write the manifest anew: ansible-playbook ascend.fleet.bundle"
    return ArtifactError("missing", have, want, remedy)
