# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""The only door to the node: commands and files, as the pure code of this collection sees them.

A ``Runner`` is handed to every function that needs the node. Tests hand in one with another root folder and canned
commands. Nothing here raises for what a node may lack: a missing file is ``None``, a missing command has rc 127.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

TIMED_OUT = 124  # what coreutils' timeout returns
NOT_FOUND = 127
SBIN = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class Result(NamedTuple):
    """What a command left: exit status and both outputs as text (UTF-8, undecodable bytes replaced)."""

    rc: int
    out: str
    err: str

    @property
    def timed_out(self) -> bool:
        return self.rc in (TIMED_OUT, 137)


class Runner:
    """Commands through ``run_command`` (that of AnsibleModule), files below ``root``.

    :param run_command: callable(argv, environ_update=dict, cwd=str, data=str, umask=int) -> (rc, out, err)
    :param root: folder that stands for /; only tests set it.
    """

    def __init__(self, run_command: Callable[..., Tuple[int, str, str]], root: str = "/") -> None:
        self._run_command = run_command
        self._root = root.rstrip("/")

    def real(self, path: str) -> str:
        """The path on this machine for a path on the node."""
        return self._root + path if self._root else path

    # commands ---------------------------------------------------------------------------------------------------

    def run(
        self,
        argv: Sequence[str],
        timeout: Optional[int] = 60,
        *,
        env: Optional[Dict[str, str]] = None,
        cwd: Optional[str] = None,
        data: Optional[str] = None,
        umask: Optional[int] = None,
    ) -> Result:
        """Run argv with the C locale; rc 124 when it took longer than timeout seconds, 127 when it is not there.

        Standard input is empty unless data is given: no command of ours may wait for a person.
        """
        words = list(argv)
        if not data:
            self._empty_stdin()
        if timeout:
            words = ["timeout", "-k", "10", str(int(timeout)), *words]
        environ = {"LC_ALL": "C", "LANG": "C"}
        environ.update(env or {})
        try:
            rc, out, err = self._run_command(
                words, environ_update=environ, cwd=cwd, data=data, umask=umask, handle_exceptions=False
            )
        except OSError as exc:
            return Result(NOT_FOUND if exc.errno == errno.ENOENT else 126, "", str(exc))
        return Result(rc, out, err)

    @staticmethod
    def _empty_stdin() -> None:
        """run_command lets a command inherit our standard input where it has nothing to send."""
        handle = os.open(os.devnull, os.O_RDONLY)
        try:
            os.dup2(handle, 0)
        finally:
            os.close(handle)

    def which(self, name: str, extra: Sequence[str] = ()) -> Optional[str]:
        """Path of an executable: an absolute name itself, else extra folders, then PATH, then the usual ones."""
        if name.startswith("/"):
            return name if self.is_executable(name) else None
        folders = list(extra) + os.environ.get("PATH", "").split(":") + list(SBIN)
        for folder in folders:
            if folder and self.is_executable(folder.rstrip("/") + "/" + name):
                return folder.rstrip("/") + "/" + name
        return None

    def is_executable(self, path: str) -> bool:
        return os.path.isfile(self.real(path)) and os.access(self.real(path), os.X_OK)

    # files ------------------------------------------------------------------------------------------------------

    def read_bytes(self, path: str, limit: int = 1 << 20) -> Optional[bytes]:
        try:
            with open(self.real(path), "rb") as handle:
                return handle.read(limit)
        except OSError:
            return None

    def read(self, path: str, limit: int = 1 << 20) -> Optional[str]:
        """Text of a file, at most limit bytes, or None when it cannot be read."""
        raw = self.read_bytes(path, limit)
        return None if raw is None else raw.decode("utf-8", "replace")

    def names(self, path: str) -> List[str]:
        """Sorted names in a folder; empty when it is absent or closed to us."""
        try:
            return sorted(os.listdir(self.real(path)))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        return os.path.exists(self.real(path))

    def lexists(self, path: str) -> bool:
        return os.path.lexists(self.real(path))

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(self.real(path))

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.real(path))

    def is_link(self, path: str) -> bool:
        return os.path.islink(self.real(path))

    def is_char_device(self, path: str) -> bool:
        try:
            return stat.S_ISCHR(os.stat(self.real(path)).st_mode)
        except OSError:
            return False

    def readlink(self, path: str) -> Optional[str]:
        try:
            return os.readlink(self.real(path))
        except OSError:
            return None

    def stat(self, path: str) -> Optional[os.stat_result]:
        """lstat of a path, or None."""
        try:
            return os.lstat(self.real(path))
        except OSError:
            return None

    def space(self, path: str) -> Dict[str, Any]:
        """Room at the nearest existing parent: {path, free_mb, total_mb, noexec}; numbers null when unknown."""
        parent = path
        while parent not in ("", "/") and not self.exists(parent):
            parent = os.path.dirname(parent)
        parent = parent or "/"
        try:
            info = os.statvfs(self.real(parent))
        except OSError:
            return {"path": parent, "free_mb": None, "total_mb": None, "noexec": None}
        return {
            "path": parent,
            "free_mb": info.f_bavail * info.f_frsize >> 20,
            "total_mb": info.f_blocks * info.f_frsize >> 20,
            "noexec": bool(info.f_flag & os.ST_NOEXEC),
        }

    # changes ----------------------------------------------------------------------------------------------------

    def make_folder(self, path: str, mode: int = 0o755) -> List[str]:
        """Create a folder and its missing parents with this mode; returns what was made, outermost first."""
        made = []  # type: List[str]
        missing = []  # type: List[str]
        current = path.rstrip("/")
        while current and not self.exists(current):
            missing.append(current)
            current = os.path.dirname(current)
        for folder in reversed(missing):
            try:
                os.mkdir(self.real(folder), mode)
            except FileExistsError:
                continue
            os.chmod(self.real(folder), mode)
            made.append(folder)
        return made

    def write_atomic(self, path: str, content: str, mode: int = 0o644, uid: int = -1, gid: int = -1) -> None:
        """Replace a file so that a reader sees the old or the new content, also after a power cut."""
        folder = os.path.dirname(self.real(path)) or "/"
        handle, temporary = tempfile.mkstemp(prefix="." + os.path.basename(path) + ".", dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content.encode("utf-8", "surrogateescape"))
                os.fchmod(stream.fileno(), mode)
                if uid != -1 or gid != -1:
                    os.fchown(stream.fileno(), uid, gid)
                stream.flush()
                os.fsync(stream.fileno())
            os.rename(temporary, self.real(path))
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise
        self.sync_folder(os.path.dirname(path) or "/")

    def sync_folder(self, path: str) -> None:
        handle = os.open(self.real(path), os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def remove(self, path: str) -> bool:
        """Remove a file or link; False when there was none."""
        try:
            os.unlink(self.real(path))
        except FileNotFoundError:
            return False
        return True
