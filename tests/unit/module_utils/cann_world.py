# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node in a folder, with CANN trees and packages that behave as the vendor's do, for the CANN tests."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from ansible_collections.ascend.fleet.plugins.module_utils import _script_env
from ansible_collections.ascend.fleet.plugins.module_utils._run_checks import Settings
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

ROOT = "/usr/local/Ascend"
RECORD = "/etc/Ascend/ascend_cann_install.info"

# What an installer does besides its own files: it moves every default of the host to what it installs.
DEFAULTS_MOVED = """
mkdir -p "$N{root}/ascend-toolkit" "$N/etc/Ascend"
ln -sfn cann-{version} "$N{root}/cann"
rm -rf "$N{root}/ascend-toolkit/latest"; ln -s ../cann-{version} "$N{root}/ascend-toolkit/latest"
echo "export ASCEND_HOME_PATH={root}/cann" > "$N{root}/ascend-toolkit/set_env.sh"
echo "Toolkit_InstallPath={root}/cann-{version}" > "$N/etc/Ascend/ascend_cann_install.info"
"""
TOOLKIT = (
    """
mkdir -p "$N{root}/cann-{version}/x86_64-linux" "$N{root}/cann-{version}/opp"
echo ": set" > "$N{root}/cann-{version}/set_env.sh"
printf 'package_name=Ascend-cann-toolkit\\nversion={version}\\narch=x86_64\\n' \\
  > "$N{root}/cann-{version}/x86_64-linux/ascend_toolkit_install.info"
"""
    + DEFAULTS_MOVED
)
LEGACY_TOOLKIT = """
mkdir -p "$N{root}/ascend-toolkit/{version}/x86_64-linux" "$N{root}/ascend-toolkit/latest/var" "$N/etc/Ascend"
printf 'version={version}\\narch=x86_64\\n' \\
  > "$N{root}/ascend-toolkit/{version}/x86_64-linux/ascend_toolkit_install.info"
ln -sfn ./{version} "$N{root}/ascend-toolkit/8.3"
ln -sfn ../{version}/x86_64-linux "$N{root}/ascend-toolkit/latest/x86_64-linux"
ln -sfn ../{version}/compiler "$N{root}/ascend-toolkit/latest/compiler"
echo "{version}" > "$N{root}/ascend-toolkit/latest/version.cfg"
echo "export ASCEND_HOME_PATH={root}/ascend-toolkit/latest" > "$N{root}/ascend-toolkit/set_env.sh"
echo "Toolkit_InstallPath={root}/ascend-toolkit/{version}" > "$N/etc/Ascend/ascend_cann_install.info"
"""
OPS = (
    """
printf 'package_name=Ascend-cann-910b-ops\\nversion={version}\\n' \\
  > "$N{root}/cann-{version}/x86_64-linux/ascend_ops_install.info"
"""
    + DEFAULTS_MOVED
)
NNAL = """
mkdir -p "$N{root}/nnal/atb/{version}/atb/cxx_abi_1"
echo ": set" > "$N{root}/nnal/atb/{version}/atb/set_env.sh"
echo "    Ascend-cann-atb : {version}" > "$N{root}/nnal/atb/{version}/version.info"
ln -sfn {version} "$N{root}/nnal/atb/latest"
echo "# of {version}" > "$N{root}/nnal/atb/set_env.sh"
"""
SUCCESS = 'echo "[INFO] {package} install success" >> "$LOG"\n'


class World:
    """A node below a folder. Commands run for real; paths of the node in them are turned into those of the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = []  # type: list
        folder.mkdir(parents=True, exist_ok=True)
        for path in ("/", "/usr", "/usr/local", "/var", "/etc", "/pkg", "/var/tmp", "/tmp", "/var/log/ascend_seclog"):
            (folder / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for path in ("", "usr", "usr/local", "var", "etc"):
            (folder / path).chmod(0o755)
        self.runner = Runner(self.run_command, str(folder))
        self.env = {"ASCEND_HOME_PATH": ROOT + "/cann"}  # what sourcing any script gives here

    def run_command(self, argv, *, cwd=None, umask=None, **_more):
        self.calls.append(argv)
        if "--noprofile" in argv:
            before = _script_env.MARK + "\0PATH=/bin\0"
            after = before + "".join("%s=%s\0" % pair for pair in self.env.items())
            return 0, before + after, ""
        words = [self.real(word) if word.startswith("/pkg/") else word for word in argv]
        umask_set = (lambda: os.umask(umask)) if umask else None
        done = subprocess.run(
            words,
            cwd=cwd,
            stdin=subprocess.PIPE,
            capture_output=True,
            check=False,
            preexec_fn=umask_set,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    def real(self, path):
        return str(self.folder) + path

    def installs(self):
        """How often an installer was started to install."""
        return sum("--install" in argv for argv in self.calls)

    def package(self, body, package="toolkit", version="9.1.0", after=SUCCESS, status=0):
        """Write a package; returns (path on the node, sha256). The body sees $N (the node's root) and $LOG."""
        text = "#!/bin/bash\n"
        text += 'N=%s; LOG="$N/var/log/ascend_seclog/ascend_%s_install.log"\n' % (self.folder, package)
        text += 'case " $* " in *" --check "*) echo "SHA256 checksums are OK. All good."; exit 0;; esac\n'
        text += (body + after).replace("{root}", ROOT).replace("{version}", version).replace("{package}", package)
        text += "exit %d\n" % status
        path = "/pkg/%s_%s.run" % (package, version)
        Path(self.real(path)).write_text(text, encoding="utf-8")
        return path, hashlib.sha256(text.encode()).hexdigest()

    def settings(self, source, package="toolkit", version="9.1.0", **more):
        """Settings for a package as package() returned it."""
        values = {
            "src": source[0],
            "sha256": source[1],
            "package": package,
            "version": version,
            "toolkit_version": version,
            "arch": "x86_64",
            "family": "910b" if package == "ops" else "",
            "install_path": ROOT,
            "source_scripts": [],
            "make_default": "auto",
            "accept_eula": True,
            "tmp_dir": "",
            "timeout": 60,
            "disk_mb": 0,
            "tmp_mb": 0,
        }
        values.update(more)
        return Settings(**values)

    def write(self, path, text="", mode=0o644):
        target = Path(self.real(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def link(self, path, target):
        place = Path(self.real(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def read(self, path):
        return Path(self.real(path)).read_text(encoding="utf-8")

    def by_hand(self, version="8.5.0"):
        """A newer-layout CANN that somebody installed: tree, links, scripts, record, NNAL."""
        self.write(
            "%s/cann-%s/x86_64-linux/ascend_toolkit_install.info" % (ROOT, version),
            "package_name=Ascend-cann-toolkit\nversion=%s\narch=x86_64\n" % version,
        )
        self.write("%s/cann-%s/set_env.sh" % (ROOT, version), ": mine\n", 0o555)
        self.link(ROOT + "/cann", "cann-" + version)
        self.link(ROOT + "/ascend-toolkit/latest", "../cann-" + version)
        self.write(ROOT + "/ascend-toolkit/set_env.sh", "source my own\n", 0o640)
        self.write(RECORD, "Toolkit_InstallPath=%s/cann-%s\n" % (ROOT, version), 0o600)

    def legacy_by_hand(self, version="8.1.RC1"):
        """A legacy CANN that somebody installed: latest is a folder of links and small files."""
        base = ROOT + "/ascend-toolkit"
        self.write(
            "%s/%s/x86_64-linux/ascend_toolkit_install.info" % (base, version), "version=%s\narch=x86_64\n" % version
        )
        self.link(base + "/8.1", "./" + version)
        for name in ("compiler", "opp", "x86_64-linux"):
            self.link("%s/latest/%s" % (base, name), "../%s/%s" % (version, name))
        self.write(base + "/latest/version.cfg", "runtime=[%s]\n" % version, 0o444)
        self.write(base + "/latest/var/manager/install.sh", "echo %s\n" % version, 0o550)
        self.write(base + "/set_env.sh", "export ASCEND_TOOLKIT_HOME=%s/latest\n" % base, 0o555)
        self.write(RECORD, "Toolkit_InstallPath=%s/%s\n" % (base, version))

    def picture(self):
        """Everything below the install root and the record: path -> (kind, mode, owner, target or content)."""
        seen = {}
        for top in (ROOT, "/etc/Ascend"):
            for folder, folders, files in os.walk(self.real(top)):
                for name in folders + files:
                    path = os.path.join(folder, name)
                    info = os.lstat(path)
                    if os.path.islink(path):
                        what = "-> " + os.readlink(path)
                    else:
                        what = Path(path).read_text(encoding="utf-8") if os.path.isfile(path) else "folder"
                    mode = None if os.path.islink(path) else info.st_mode
                    seen[path[len(str(self.folder)) :]] = (mode, info.st_uid, info.st_gid, what)
        return seen
