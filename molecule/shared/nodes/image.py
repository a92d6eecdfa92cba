# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a simulated node: a minimal system from the machine's own apt sources, systemd, sshd, user ops.

No registry is asked. The image's tag is a hash of everything that goes into it, so a second call finds it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from fleet_engine import APT_LINE, Engine, FleetError

REPOSITORY = "localhost/ascend-fleet-node"
USER = "ops"
PACKAGES = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "openssh-server",
    "sudo",
    "python3",
    "python3-apt",
    "ca-certificates",
    "procps",
    "iproute2",
    "curl",
    "tar",
    "gzip",
    "bzip2",
    "xz-utils",
    "libnuma1",
)
FAKE_HOME = "/usr/local/lib/fake-npu"
UNIT = f"""\
[Unit]
Description=Simulated Ascend hardware and driver of this test node
DefaultDependencies=no
After=local-fs.target systemd-sysusers.service
Before=ssh.service sysinit.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/python3 {FAKE_HOME}/boot.py

[Install]
WantedBy=sysinit.target
"""
# Units that only make noise or cost seconds in a container, and apt's timers, which would take its lock from tests.
MASKED = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "systemd-resolved.service",
    "systemd-networkd.service",
    "systemd-udevd.service",
    "systemd-udevd-kernel.socket",
    "systemd-udevd-control.socket",
    "getty.target",
    "console-getty.service",
    "systemd-logind.service",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    # In a privileged container these would reach the machine's own kernel.
    "systemd-sysctl.service",
    "systemd-modules-load.service",
    "systemd-binfmt.service",
    "systemd-remount-fs.service",
)
CONTAINERFILE = f"""\
FROM scratch
ADD base.tar /
ENV container=oci
STOPSIGNAL SIGRTMIN+3
CMD ["/lib/systemd/systemd"]
LABEL ascend.fleet.image=node
# base of user {USER}
"""
TARGETS = "$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)"
SETTINGS = re.compile(r'^(Acquire::(?:https?|ftp)::\S+) "(.+)";$')


def _output(*argv: str) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    except FileNotFoundError:
        raise FleetError(f"{argv[0]} is missing: the node image is made on a Debian or Ubuntu machine.") from None
    except subprocess.CalledProcessError as error:
        raise FleetError(f"{' '.join(argv[:3])} failed: {error.stderr.strip()[-300:]}") from None


def _sources() -> list[str]:
    """``deb`` lines of the distribution's own repositories as this machine has them; third parties are left out."""
    lines = []
    listing = _output("apt-get", "indextargets", "--format", TARGETS, "Created-By: Packages")
    for origin, uri, codename, component in (line.split("|") for line in listing.splitlines() if line.count("|") == 3):
        if origin in ("Debian", "Ubuntu") and component in ("main", "universe"):
            lines.append(f"deb {uri} {codename} {component}")
    if not lines:
        raise FleetError("apt knows no Debian or Ubuntu repository here. Next: apt-get update, then again.")
    return sorted(set(lines), key=lambda line: (line.split()[2].count("-"), line))


def _apt_settings() -> list[str]:
    """Proxy and certificate settings of this machine's apt, as ``Name "value";`` lines."""
    found = []
    for line in _output("apt-config", "dump").splitlines():
        match = SETTINGS.match(line)
        if match and "CAInfo" not in match.group(1):
            found.append(line)
    return found


def _authorities() -> list[Path]:
    """Certificate authorities that were added to this machine: behind an inspecting proxy the node needs them too."""
    return sorted(Path("/usr/local/share/ca-certificates").glob("**/*.crt"))


def wanted() -> str:
    """Name and tag of the image as it should be now."""
    given = os.environ.get("FLEET_NODES_IMAGE")
    if given:
        return given
    digest = hashlib.sha256()
    for part in (*_sources(), *PACKAGES, *_options(), CONTAINERFILE, repr(sorted(_files().items()))):
        digest.update(part.encode() + b"\0")
    return f"{REPOSITORY}:{digest.hexdigest()[:12]}"


def _files() -> dict[str, tuple[str, int]]:
    """Files that go into the new system before it is packed: path below its root -> (text, mode)."""
    settings = "\n".join(_apt_settings())
    files = {
        "etc/systemd/system/fake-npu.service": (UNIT, 0o644),
        f"etc/sudoers.d/{USER}": (f"{USER} ALL=(ALL) NOPASSWD: ALL\n", 0o440),
        "etc/ssh/sshd_config.d/node.conf": (
            "UseDNS no\nPasswordAuthentication no\nMaxStartups 100\nMaxSessions 100\n",
            0o644,
        ),
        "etc/apt/apt.conf.d/99node": (f'{settings}\nAPT::Install-Recommends "false";\n', 0o644),
    }
    for number, path in enumerate(_authorities()):
        files[f"usr/local/share/ca-certificates/machine-{number}.crt"] = (path.read_text(), 0o644)
    return files


def _hook() -> str:
    """Commands run by mmdebstrap at the end, ``$1`` is the new system's root."""
    masked = " ".join(MASKED)
    return (
        'set -e; cp -a "$FLEET_NODE_FILES"/. "$1"/; '
        f'chroot "$1" useradd -u 2000 -m -s /bin/bash {USER}; '
        f'chroot "$1" systemctl mask {masked}; '
        'chroot "$1" systemctl enable fake-npu.service ssh.service; '
        'chroot "$1" update-ca-certificates >/dev/null; '
        f'mkdir -p "$1{FAKE_HOME}" "$1/etc/fake-npu/seed" "$1/srv"; '
        'rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id "$1"/etc/resolv.conf; : >"$1"/etc/machine-id'
    )


def _options() -> list[str]:
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    settings = [f"--aptopt={line}" for line in _apt_settings()]
    return ["--variant=minbase", "--skip=check/empty", *settings, *excluded, f"--customize-hook={_hook()}"]


def _base(folder: Path) -> None:
    """Writes base.tar, the new system, to ``folder``."""
    if not shutil.which("mmdebstrap"):
        raise FleetError(f"mmdebstrap is not installed, and the node image is built with it. Next: {APT_LINE}")
    files = folder / "files"
    for path, (text, mode) in _files().items():
        target = files / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)
    sources = _sources()
    argv = ["mmdebstrap", "--quiet", f"--include={','.join(PACKAGES)}", *_options()]
    argv += [sources[0].split()[2], str(folder / "base.tar"), *sources]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env=dict(os.environ, FLEET_NODE_FILES=str(files)),
    )
    if done.returncode:
        raise FleetError(f"mmdebstrap failed: {' '.join(done.stderr.strip().splitlines()[-3:])[-600:]}")


def ensure(engine: Engine, say) -> str:
    """The image's name, built when it is not there (about a minute). ``say`` takes one line of progress."""
    image = wanted()
    if engine.has_image(image):
        return image
    if os.environ.get("FLEET_NODES_IMAGE"):
        raise FleetError(f"Image {image} (FLEET_NODES_IMAGE) is not there. Next: {engine.name} pull {image}")
    lock_path = Path(tempfile.gettempdir()) / f"ascend-fleet-image-{os.getuid()}.lock"
    with open(lock_path, "w") as lock:
        # Two checkouts on one machine want the same image: one builds, the other waits and finds it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if engine.has_image(image):
            return image
        say(f"building node image {image} (about a minute, once)")
        with tempfile.TemporaryDirectory(prefix="ascend-fleet-image-") as name:
            folder = Path(name)
            _base(folder)
            (folder / "Containerfile").write_text(CONTAINERFILE)
            shutil.rmtree(folder / "files")
            flags = ["--isolation", "chroot"] if engine.podman else []
            engine.call("build", *flags, "-q", "-f", f"{folder}/Containerfile", "-t", image, name, timeout=900)
    return image


def remove(engine: Engine) -> list[str]:
    """Delete the node images of this collection that no container uses; returns their names."""
    listing = engine.call("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    gone = []
    for name in listing:
        # Without force: a node of another checkout keeps its image.
        if name.startswith(REPOSITORY + ":") and engine.call("rmi", name, check=False):
            gone.append(name)
    return gone
