# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated fleet: its containers, network, keys and inventory, from up to down.

Everything carries a label and a name prefix made of the checkout's path and the group, so that neither another checkout
nor another group of this one is touched, and so that the leavings of a killed run are found.
"""

from __future__ import annotations

import concurrent.futures
import fcntl
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import image
from fleet_engine import CACHE, CHECKOUT_ID, Engine, FleetError
from fleet_spec import Node, inventory

FAKE = Path(__file__).resolve().parent / "fake"
BOOT_SECONDS = 120
LABEL = "ascend.fleet.nodes"
FIRST_ADDRESS = 10  # offset of the first node in the subnet
EMPTY_INVENTORY = "---\n# Empty until fleetnodes.py up writes it.\nall: {}\n"


class Fleet:
    """The nodes of one group of this checkout. ``say`` takes lines of progress."""

    def __init__(self, engine: Engine, group: str, say) -> None:
        self.engine, self.group, self.say = engine, group, say
        self.prefix = f"fleet-{CHECKOUT_ID}-{group}"
        self.label = f"{LABEL}={CHECKOUT_ID}.{group}"
        self.folder = CACHE / group

    def container(self, node: str) -> str:
        return f"{self.prefix}-{node}"

    def names(self) -> list[str]:
        """Nodes that have a container, running or not."""
        return sorted(name[len(self.prefix) + 1 :] for name in self.engine.containers(self.label))

    def existing(self, node: str) -> str:
        """Container of a node; FleetError with the names that there are, if it is not there."""
        names = self.names()
        if node not in names:
            raise FleetError(f"No node {node} in group {self.group}; there are: {', '.join(names) or 'none'}.")
        return self.container(node)

    @contextmanager
    def lock(self):
        """One up, reset or down of a group at a time; a killed one gives the lock back."""
        CACHE.mkdir(parents=True, exist_ok=True)
        with open(CACHE / f".{self.group}.lock", "w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    # keys and addresses ------------------------------------------------------------------------------------------

    def _keys(self) -> None:
        self.folder.mkdir(parents=True, mode=0o700)
        for name in ("id_ed25519", "ssh_host_ed25519_key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self.prefix, "-f", str(self.folder / name)],
                check=True,
                stdin=subprocess.DEVNULL,
            )

    def _seed(self, node: Node) -> None:
        """What boot.py reads in the node: keys and the state of its hardware."""
        seed = self.folder / node.name
        seed.mkdir(parents=True, exist_ok=True)
        for name in ("ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"):
            shutil.copy(self.folder / name, seed / name)
        shutil.copy(self.folder / "id_ed25519.pub", seed / "authorized_keys")
        (seed / "state.json").write_text(json.dumps(node.state, indent=1, sort_keys=True))

    def _connection(self) -> dict:
        known = self.folder / "known_hosts"
        options = f"-o UserKnownHostsFile={known} -o GlobalKnownHostsFile=/dev/null -o IdentitiesOnly=yes"
        return {
            "ansible_user": image.USER,
            "ansible_become": True,
            "ansible_ssh_private_key_file": str(self.folder / "id_ed25519"),
            "ansible_ssh_common_args": f"{options} -o StrictHostKeyChecking=yes",
            "ansible_python_interpreter": "/usr/bin/python3",
        }

    # start and stop ----------------------------------------------------------------------------------------------

    def _run_arguments(self, node: Node, address: str) -> list[str]:
        arguments = [
            "run",
            "-d",
            "--name",
            self.container(node.name),
            "--hostname",
            node.name,
            "--label",
            self.label,
            "--network",
            self.prefix,
            "--ip",
            address,
            "--privileged",
            "--stop-signal",
            "SIGRTMIN+3",
        ]
        if self.engine.podman:
            # A container that a killed `up` was still starting can appear after the left-overs were cleared.
            arguments += ["--systemd=always", "--replace"]
        else:
            arguments += ["--cgroupns=private", "--tmpfs", "/run", "--tmpfs", "/run/lock", "--tmpfs", "/tmp"]
        mounts = [(str(FAKE), image.FAKE_HOME, "ro"), (str(self.folder / node.name), "/etc/fake-npu/seed", "ro")]
        for source, target, mode in [*mounts, *node.mounts]:
            arguments += ["-v", f"{source}:{target}:{mode}"]
        return arguments

    def _wait(self, node: str, address: str) -> None:
        """Until systemd says running and sshd answers; FleetError names the failed units."""
        name, state = self.container(node), ""
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline:
            # rc is not 0 for "degraded" too, so the word counts.
            state = self.engine.call(
                "exec", name, "sh", "-c", "systemctl is-system-running --wait 2>/dev/null || :", check=False
            )
            if state == "running":
                try:
                    socket.create_connection((address, 22), timeout=5).close()
                    return
                except OSError:
                    pass
            elif state == "degraded":
                units = self.engine.call("exec", name, "systemctl", "--failed", "--plain", "--no-legend", check=False)
                failed = [line.split()[0] for line in units.splitlines() if line.split()]
                log = self.engine.call(
                    "exec",
                    name,
                    "journalctl",
                    "-b",
                    "-n",
                    "12",
                    "--no-pager",
                    "-o",
                    "cat",
                    *(f"--unit={unit}" for unit in failed),
                    check=False,
                )
                raise FleetError(f"Node {node} came up with failed units {', '.join(failed)}:\n{log}")
            time.sleep(0.3)
        raise FleetError(f"Node {node} was not up within {BOOT_SECONDS} s (systemd: {state or 'no answer'}).")

    def _start(self, node: Node, address: str, image_name: str) -> float:
        began = time.monotonic()
        self.engine.call(*self._run_arguments(node, address), image_name)
        self._wait(node.name, address)
        return time.monotonic() - began

    def _is_up(self, nodes: list[Node], image_name: str) -> bool:
        """Whether the nodes that run are the ones that are wanted, made from the same image."""
        record = self._record()
        # Through JSON, as the record went: a tuple is a list there.
        wanted = json.loads(json.dumps({node.name: [node.state, node.mounts] for node in nodes}))
        there = {name: [entry["state"], entry["mounts"]] for name, entry in record["nodes"].items()}
        running = {row[0] for row in self.listing() if row[3] == "running"}
        return wanted == there and running == set(wanted) and record.get("image") == image_name

    def up(self, nodes: list[Node], shared: dict, inventory_path: Path, keep: bool = False) -> None:
        """Fresh nodes for the specification; what an earlier run of this group left is removed first.

        With ``keep``, nodes that run already as specified stay as they are; only the inventory is written.
        """
        with self.lock():
            image_name = image.ensure(self.engine, self.say)
            if keep and self._is_up(nodes, image_name):
                record = self._record()["nodes"]
                addresses = {node.name: record[node.name]["address"] for node in nodes}
                self._write_inventory(nodes, shared, addresses, inventory_path)
                self.say(f"{len(nodes)} nodes are up already")
                return
            self._clear()
            self._keys()
            flags = ["--disable-dns"] if self.engine.podman else []
            self.engine.call("network", "create", "--label", self.label, *flags, self.prefix)
            subnet = ipaddress.ip_network(self.engine.subnet(self.prefix))
            addresses = {node.name: str(subnet[FIRST_ADDRESS + number]) for number, node in enumerate(nodes)}
            public = (self.folder / "ssh_host_ed25519_key.pub").read_text().split()[:2]
            lines = [" ".join([address, *public]) for address in addresses.values()]
            (self.folder / "known_hosts").write_text("\n".join(lines) + "\n")
            for node in nodes:
                self._seed(node)
            self._remember(nodes, addresses, image_name, inventory_path)
            # More starters than cores only make every one of them slower.
            with concurrent.futures.ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
                tasks = {pool.submit(self._start, node, addresses[node.name], image_name): node for node in nodes}
                for task in concurrent.futures.as_completed(tasks):
                    node = tasks[task]
                    self.say(f"{node.name}: {addresses[node.name]} up in {task.result():.1f} s ({node.state['board']})")
            self._write_inventory(nodes, shared, addresses, inventory_path)

    def _write_inventory(self, nodes: list[Node], shared: dict, addresses: dict, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(inventory(nodes, {**self._connection(), **shared}, addresses))

    def _remember(self, nodes: list[Node], addresses: dict, image_name: str, inventory_path: Path) -> None:
        record = {
            "image": image_name,
            "inventory": str(inventory_path.resolve()),
            "nodes": {
                node.name: {
                    "address": addresses[node.name],
                    "mounts": node.mounts,
                    "state": node.state,
                }
                for node in nodes
            },
        }
        (self.folder / "fleet.json").write_text(json.dumps(record, indent=1))

    def _record(self) -> dict:
        try:
            return json.loads((self.folder / "fleet.json").read_text())
        except (OSError, ValueError):
            return {"nodes": {}}

    def reset(self, node: str) -> None:
        """The node as it was after ``up``: same name, address and keys, nothing else of its past."""
        with self.lock():
            record = self._record()
            if node not in record["nodes"]:
                raise FleetError(f"No node {node} in group {self.group}; there are: {', '.join(record['nodes'])}.")
            entry = record["nodes"][node]
            self.engine.remove([self.container(node)])
            mounts = [tuple(mount) for mount in entry["mounts"]]
            fresh = Node(node, entry["state"], mounts=mounts)
            seconds = self._start(fresh, entry["address"], record["image"])
            self.say(f"{node}: fresh in {seconds:.1f} s")

    def _clear(self) -> list[str]:
        names = self.engine.containers(self.label)
        self.engine.remove(names)
        for network in self.engine.networks(self.prefix):
            self.engine.call("network", "rm", "-f" if self.engine.podman else network, network, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
        return names

    def down(self) -> list[str]:
        """Remove nodes, network and keys, and empty the inventory; returns the containers that were removed."""
        with self.lock():
            path = self._record().get("inventory")
            names = self._clear()
            if path and Path(path).exists():
                Path(path).write_text(EMPTY_INVENTORY)
            return names

    # use ---------------------------------------------------------------------------------------------------------

    def fault(self, node: str, change: dict) -> None:
        """Merge ``change`` into the state of the node's fake hardware."""
        data = json.dumps(change).encode()
        self.engine.call(
            "exec", "-i", self.existing(node), "/usr/bin/python3", "-ES", f"{image.FAKE_HOME}/fault.py", data=data
        )

    def listing(self) -> list[tuple[str, str, str, str]]:
        """(node, address, board, running or not) of every node."""
        record = self._record()["nodes"]
        running = set(self.engine.call("ps", "--filter", f"label={self.label}", "--format", "{{.Names}}").split())
        return [
            (
                name,
                record.get(name, {}).get("address", "?"),
                record.get(name, {}).get("state", {}).get("board", "?"),
                "running" if self.container(name) in running else "stopped",
            )
            for name in self.names()
        ]


def groups(engine: Engine) -> list[str]:
    """Groups of this checkout that left containers, a network or a folder."""
    found = {path.name for path in CACHE.glob("*") if path.is_dir()} if CACHE.is_dir() else set()
    head = f"fleet-{CHECKOUT_ID}"
    found |= {name[len(head) + 1 :] for name in engine.networks(head) if name != head}
    labels = engine.call("ps", "-a", "--filter", f"label={LABEL}", "--format", f'{{{{index .Labels "{LABEL}"}}}}')
    found |= {label.partition(".")[2] for label in labels.split() if label.startswith(CHECKOUT_ID + ".")}
    return sorted(found)
