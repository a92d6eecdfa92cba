# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that stands for a node, and conda, pip and vllm as the code of envs and runtimes meets them."""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import zipfile

from ansible_collections.ascend.fleet.plugins.module_utils import _state
from ansible_collections.ascend.fleet.plugins.module_utils._runner import Runner

BASE = "/opt/ascend-fleet/conda"
ROOT = "/opt/ascend-fleet/envs"
CANN_ENV = "/etc/ascend-fleet/cann-9.1.0.env"


class Node:
    """Runs no command: rules answer, the newest rule that fits first; what they leave lies below a folder."""

    def __init__(self, root):
        self.root = str(root)
        self.calls = []
        self.environments = []
        self.rules = []
        self.runner = Runner(self._run, self.root)

    def _run(self, words, environ_update=None, **unused):
        argv = words[4:] if words[0] == "timeout" else words
        self.calls.append(argv)
        self.environments.append(environ_update)
        line = " ".join(argv)
        for needle, answer in reversed(self.rules):
            if re.search(needle, line):
                return answer(argv) if callable(answer) else answer
        raise AssertionError("nobody answers: %s" % line)

    def on(self, needle, answer=(0, "", "")):
        self.rules.append((needle, answer))

    def called(self, needle):
        return [argv for argv in self.calls if re.search(needle, " ".join(argv))]

    def path(self, path):
        return self.root + path

    def file(self, path, text="", mode=0o644):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w") as handle:
            handle.write(text)
        os.chmod(self.path(path), mode)

    def dist(self, prefix, name, version, python="3.12"):
        for entry in self.runner.names("%s/lib/python%s/site-packages" % (prefix, python)):
            if entry.startswith(name.replace("-", "_") + "-"):
                self.undist(prefix, name, python)
        folder = "%s-%s.dist-info" % (name.replace("-", "_"), version)
        text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n\nwords" % (name, version)
        self.file("%s/lib/python%s/site-packages/%s/METADATA" % (prefix, python, folder), text)

    def undist(self, prefix, name, python="3.12"):
        site = "%s/lib/python%s/site-packages" % (prefix, python)
        for entry in self.runner.names(site):
            if entry.startswith(name.replace("-", "_") + "-"):
                os.unlink(self.path("%s/%s/METADATA" % (site, entry)))
                os.rmdir(self.path("%s/%s" % (site, entry)))

    def env(self, prefix, python="3.12.4", packages=()):
        line = ".".join(python.split(".")[:2])
        self.file(prefix + "/bin/python", mode=0o755)
        self.file("%s/conda-meta/python-%s-h1_0.json" % (prefix, python), "{}")
        self.dist(prefix, "pip", "25.0", line)
        for name, version in packages:
            self.dist(prefix, name, version, line)

    def state(self, layer, key, have, status="complete", **more):
        state = _state.new(layer, key, "test", have)
        state.update(more)
        return _state.save(self.runner, state, status)

    def conda(self, python="3.12.4"):
        """An installer, a conda and a pip that do what they are asked."""
        self.on(r"^bash \S+ -b -p", lambda argv: self._install_conda(argv[-1]))
        self.on(r"/bin/conda --version$", (0, "conda 24.7.1\n", ""))
        self.on(r"/bin/conda create ", lambda argv: self._create(argv, python))
        self.on(r"-m pip install ", self._pip_install)
        self.on(r"-m pip uninstall ", self._pip_uninstall)
        self.on(r"^\S+/python -c ", lambda argv: self._python(argv, python))

    def _install_conda(self, prefix):
        if os.path.exists(self.path(prefix)):
            return 1, "", "ERROR: File or directory already exists: '%s'" % prefix
        self.file(prefix + "/bin/conda", mode=0o755)
        return 0, "installation finished.", ""

    def _create(self, argv, python):
        self.env(argv[argv.index("--prefix") + 1], python)
        return 0, "", ""

    def _pip_install(self, argv):
        prefix = argv[0][: -len("/bin/python")]
        for word in argv[4:]:
            match = re.match(r"^([A-Za-z0-9._-]+)==(\S+)$", word)
            if word.endswith(".whl"):
                name, version = os.path.basename(word).split("-")[:2]
                self.dist(prefix, name.replace("_", "-"), version)
                if name == "vllm":
                    self.file(prefix + "/bin/vllm", mode=0o755)
            elif match:
                self.dist(prefix, match.group(1), match.group(2))
        return 0, "", ""

    def _pip_uninstall(self, argv):
        for name in argv[5:]:
            self.undist(argv[0][: -len("/bin/python")], name)
        return 0, "", ""

    def _python(self, argv, python):
        said = {"python": python}
        site = argv[0].replace("/bin/python", "/lib/python%s/site-packages" % ".".join(python.split(".")[:2]))
        for name in self.runner.names(site):
            if name.startswith("torch-"):
                said["torch"] = name[len("torch-") : -len(".dist-info")]
        return 0, "a warning of some library\nascend-fleet %s\n" % json.dumps(said), ""


def sdist(path, name, version, *, pkg_info=True, pyproject="", members=()):
    """A source archive with one folder at its top; members are further (TarInfo, bytes)."""
    top = "%s-%s" % (name.replace("-", "_"), version)
    files = {"setup.py": "import setuptools\n"}
    if pkg_info:
        files["PKG-INFO"] = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
    if pyproject:
        files["pyproject.toml"] = pyproject
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for file_name, text in sorted(files.items()):
            info = tarfile.TarInfo("%s/%s" % (top, file_name))
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
        for info, content in members:
            tar.addfile(info, io.BytesIO(content) if content is not None else None)


def wheel(path, name, version, requires=()):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lines = ["Metadata-Version: 2.1", "Name: " + name, "Version: " + version]
    lines += ["Requires-Dist: " + line for line in requires]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("%s-%s.dist-info/METADATA" % (name, version), "\n".join(lines) + "\n\nwords\n")
