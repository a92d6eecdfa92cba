# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container engine as the simulated fleet needs it: found, tuned to the machine, called without a shell."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
CACHE = CHECKOUT / ".cache" / "nodes"
CHECKOUT_ID = hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:6]
APT_LINE = (
    "apt-get install --no-install-recommends podman runc buildah mmdebstrap netavark aardvark-dns iptables uidmap"
    " fuse-overlayfs openssh-client makeself"
)
CAP_SYS_RESOURCE = 24
LIMIT = 20000


class FleetError(Exception):
    """Something a person must repair; the text is the whole message."""


def _may_raise_limits() -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> CAP_SYS_RESOURCE & 1)
    return False


def _containers_conf() -> str:
    """The containers.conf that this machine needs; empty sections where the defaults work."""
    lines = []
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists() and shutil.which("runc", path=_path()):
        # crun refuses hybrid and v1 hierarchies for systemd containers, runc does not.
        lines += ["[engine]", 'runtime = "runc"']
    if not _may_raise_limits():
        limits = []
        for name, kind in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
            hard = resource.getrlimit(kind)[1]
            # podman lowers its own limits before it starts the runtime, so the hard limit itself is refused.
            value = LIMIT if hard == resource.RLIM_INFINITY else min(hard, LIMIT)
            limits.append(f'"{name}={value}:{value}"')
        lines += ["[containers]", f"default_ulimits = [{', '.join(limits)}]"]
    return "\n".join(lines) + "\n"


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


class Engine:
    """podman, or what FLEET_NODES_ENGINE names.

    Every call raises FleetError with the engine's own last words unless ``check`` is false.
    """

    def __init__(self) -> None:
        self.name = os.environ.get("FLEET_NODES_ENGINE", "podman")
        self.binary = shutil.which(self.name)
        if not self.binary:
            raise FleetError(f"{self.name} is not installed, and the simulated nodes run in it. Next: {APT_LINE}")
        self.podman = "podman" in Path(self.binary).name
        self.env = dict(os.environ, PATH=_path())
        if self.podman and "CONTAINERS_CONF" not in os.environ:
            CACHE.mkdir(parents=True, exist_ok=True)
            conf = CACHE / "containers.conf"
            text = _containers_conf()
            if not conf.exists() or conf.read_text() != text:
                conf.write_text(text)
            self.env["CONTAINERS_CONF"] = str(conf)

    def call(self, *argv: str, data: bytes | None = None, check: bool = True, timeout: int = 300) -> str:
        """Standard output of ``podman argv``, stripped; "" for a failure with ``check=False``."""
        try:
            done = subprocess.run(
                [self.binary, *argv],
                input=data,
                stdin=None if data else subprocess.DEVNULL,
                capture_output=True,
                env=self.env,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FleetError(f"{self.name} {' '.join(argv[:3])} did not end in {timeout} s.") from None
        if done.returncode and check:
            words = done.stderr.decode(errors="replace").strip().splitlines()
            raise FleetError(f"{self.name} {' '.join(argv[:3])} failed: {' '.join(words[-2:]) or done.returncode}")
        return "" if done.returncode else done.stdout.decode(errors="replace").strip()

    def has_image(self, image: str) -> bool:
        return bool(self.call("image", "inspect", "--format", "{{.Id}}", image, check=False))

    def containers(self, label: str) -> list[str]:
        """Names of all containers, running or not, that carry ``label``."""
        return self.call("ps", "-a", "--filter", f"label={label}", "--format", "{{.Names}}").split()

    def remove(self, names: list[str]) -> None:
        if names:
            # -v takes anonymous volumes along; these containers hold nothing worth a clean stop.
            flags = ["-f", "-v"] + (["-t", "0"] if self.podman else [])
            self.call("rm", *flags, *names, check=False)
            left = set(names) & set(self.call("ps", "-a", "--format", "{{.Names}}").split())
            if left:
                raise FleetError(f"Could not remove {', '.join(sorted(left))}; try: {self.name} rm -f {' '.join(left)}")

    def networks(self, prefix: str) -> list[str]:
        names = self.call("network", "ls", "--format", "{{.Name}}").split()
        return [name for name in names if name == prefix or name.startswith(prefix + "-")]

    def subnet(self, network: str) -> str:
        """IPv4 subnet of a network in CIDR form."""
        data = json.loads(self.call("network", "inspect", network))[0]
        subnets = data.get("subnets") or data.get("IPAM", {}).get("Config") or []
        for entry in subnets:
            value = entry.get("subnet") or entry.get("Subnet") or ""
            if "." in value:
                return value
        raise FleetError(f"Network {network} has no IPv4 subnet.")

    def replace(self, *argv: str) -> None:
        """Become ``podman argv``; does not return."""
        os.execve(self.binary, [self.binary, *argv], self.env)
