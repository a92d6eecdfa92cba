# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins against what is known of the real parts: devices, environment, command line, server."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
import wheels
from hypothesis import given
from hypothesis import strategies as st

RELEASES = ("0.13.0", "0.18.0", "0.23.0")


def python(tree, env, *words, **options):
    """Run the stand-ins' Python with nothing in its environment but ENV."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", **env}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=env, check=False, **options)


def vllm(tree, env, *words):
    return python(tree, env, "-m", "vllm.entrypoints.cli.main", *map(str, words), timeout=60)


@pytest.fixture(scope="module")
def visible_ids():
    sys.path.insert(0, str(wheels.STANDINS / "torch_npu" / "torch_npu"))
    try:
        import _devices
    finally:
        sys.path.pop(0)
    return _devices.visible_ids


@pytest.mark.parametrize(
    ("setting", "count", "wanted"),
    [
        (None, 3, [0, 1, 2]), ("0,1", 8, [0, 1]), ("1, 2,3", 8, [1]), ("1,3,8", 8, [1, 3]), ("2,1", 8, [2]),
        ("1,1", 8, [1]), ("", 8, []), ("x", 8, []), ("-1", 8, []), ("0", 0, []), ("7", 8, [7]),
    ],
)  # fmt: skip
def test_visible_devices_are_cut_at_the_first_thing_that_cann_does_not_take(visible_ids, setting, count, wanted):
    assert visible_ids(setting, count) == wanted


@given(st.text(alphabet="0123456789, -x", max_size=12), st.integers(0, 9))
def test_visible_devices_are_always_ascending_and_there(visible_ids, setting, count):
    ids = visible_ids(setting, count)
    assert ids == sorted(set(ids))
    assert all(0 <= number < count for number in ids)


def test_torch_does_not_import_without_cann_unless_told_not_to_load_backends(trees):
    tree = trees["0.23.0"]
    failed = python(tree, {}, "-c", "import torch")
    assert failed.returncode == 1
    assert "ImportError: libhccl.so: cannot open shared object file" in failed.stderr
    assert "Failed to load the backend extension: torch_npu. You can disable extension auto-loading" in failed.stderr
    quiet = python(
        tree, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, "-c", "import torch; print(torch.compiled_with_cxx11_abi())"
    )
    assert quiet.stdout == "True\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ASCEND_OPP_PATH": ""}, "ASCEND_OPP_PATH environment variable is not set"),
        ({"ASCEND_OPP_PATH": "/nonexistent"}, "ASCEND_OPP_PATH : /nonexistent does not exist"),
        ({"ASCEND_HOME_PATH": "/nonexistent"}, "ASCEND_RUNTIME_PATH : /nonexistent/runtime does not exist"),
    ],
)
def test_torch_npu_names_what_is_missing_in_the_environment(trees, cann, change, words):
    assert words in python(trees["0.23.0"], {**cann, **change}, "-c", "import torch_npu").stderr


CONFIG = """
port: 18001
served_model_name: [tiny, other]
trust-remote-code: true
enable-prefix-caching: false
max-model-len: 2k
compilation-config.level: 3
compilation-config.extra.a: x
"""


@pytest.mark.parametrize("release", RELEASES)
def test_config_file_becomes_words_behind_the_model(trees, cann, tmp_path, release):
    (tmp_path / "c.yaml").write_text(CONFIG)
    code = "import sys; from vllm import arguments; print(arguments.expand(sys.argv[1:]))"
    words = ["serve", "M", "--config", str(tmp_path / "c.yaml"), "--port", "18002"]
    shown = python(trees[release], cann, "-c", code, *words)
    assert shown.stdout.strip() == str([
        "serve", "M", "--port", "18001", "--served-model-name", "tiny", "other", "--trust-remote-code",
        "--max-model-len", "2k", "--port", "18002", "--compilation-config", '{"level": 3, "extra": {"a": "x"}}',
    ])  # fmt: skip


@pytest.mark.parametrize(("release", "status"), [("0.13.0", 2), ("0.18.0", 1), ("0.23.0", 1)])
def test_mapping_in_a_config_file_is_refused_by_the_oldest_only(trees, cann, tmp_path, release, status):
    """Status 1 is the later refusal of the model that is not there."""
    (tmp_path / "c.yaml").write_text("additional-config: {a: 1}\n")
    done = vllm(trees[release], cann, "serve", "/nonexistent", "--config", tmp_path / "c.yaml")
    assert done.returncode == status
    assert ("cannot be converted" in done.stderr) == (status == 2)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--swap-space", "4"], "vllm: error: unrecognized arguments: --swap-space 4"),
        (["--dtype", "float64"], "argument --dtype: invalid choice: 'float64'"),
        (["--port", "80"], "Port must be between 1024 and 65535"),
        (["--additional-config", "{'a': 1}"], "cannot be converted"),
    ],
)
def test_wrong_options_end_with_2_and_argparse_words(trees, cann, words, text):
    done = vllm(trees["0.23.0"], cann, "serve", "/nonexistent", *words)
    assert done.returncode == 2
    assert text in done.stderr


def test_plugin_for_another_vllm_ends_the_start(trees, cann, tmp_path):
    (tmp_path / "vllm_ascend").symlink_to(trees["0.18.0"] / "vllm_ascend")
    done = vllm(f"{tmp_path}:{trees['0.23.0']}", cann, "--version")
    assert done.returncode == 1
    assert "get_physical_gpu_ids_for_local_dp_rank" in done.stderr
    assert vllm(trees["0.23.0"], {**cann, "VLLM_VERSION": "0.23.0+empty"}, "--version").returncode == 1
    assert vllm(trees["0.23.0"], cann, "--version").stdout.endswith("0.23.0+empty\n")


@pytest.mark.parametrize(
    "case",
    [
        ({}, ["--tensor-parallel-size", "16"], "must be less than or equal to the number of visible devices (8)"),
        ({}, ["-tp", "3"], "attention heads (16) must be divisible by tensor parallel size (3)"),
        ({"FAKE_NPU_NAME": "310P3"}, [], "Current device type: AscendDeviceType._310P does not match"),
        ({"FAKE_VLLM_FAULT": "crash-at-start"}, [], "Engine core initialization failed"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "9"}, [], "number of visible devices (0)"),
    ],
)
def test_start_is_refused_with_the_real_words(trees, cann, tiny, case):
    env, words, text = case
    env = {**cann, "FAKE_VLLM_START_SECONDS": "0", **env}
    done = vllm(trees["0.23.0"], env, "serve", tiny, "--port", free_port(), *words)
    assert done.returncode == 1
    assert text in done.stdout + done.stderr


def test_incomplete_model_is_refused(trees, cann, tiny):
    (tiny / "model.safetensors").rename(tiny / "other.safetensors")
    done = vllm(trees["0.23.0"], cann, "serve", tiny, "--port", free_port())
    assert "weights were not initialized" in done.stderr
    (tiny / "other.safetensors").unlink()
    assert "Cannot find any model weights" in vllm(trees["0.23.0"], cann, "serve", tiny, "--port", free_port()).stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(tree, env, folder, port, *words):
    """A running server, ended at the latest with the test."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), **env}
    argv = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(folder), "--port", str(port), *words]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(port, path, body=None, key=None):
    """(status, text) of a request; (0, "") while nothing listens."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode() if body else None)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as err:
        return err.code, err.read().decode()
    except urllib.error.URLError:
        return 0, ""


def wait_healthy(port):
    end = time.monotonic() + 60
    while ask(port, "/health")[0] != 200:
        assert time.monotonic() < end, "not healthy within a minute"
        time.sleep(0.1)


def test_server_answers_guards_and_ends_as_the_real_one(trees, cann, tiny):
    port, env = free_port(), {**cann, "ASCEND_RT_VISIBLE_DEVICES": "2,3", "VLLM_API_KEY": "secret"}
    words = ("--served-model-name", "tiny", "-tp", "2")
    with serving(trees["0.23.0"], env, tiny, port, *words) as process:
        wait_healthy(port)
        assert ask(port, "/v1/models") == (401, '{"error": "Unauthorized"}')
        assert ask(port, "/v1/models", key="wrong")[0] == 401
        assert json.loads(ask(port, "/v1/models", key="secret")[1])["data"][0]["id"] == "tiny"
        assert ask(port, "/metrics")[0] == ask(port, "/version")[0] == 200
        request = {"model": "tiny", "prompt": "hi", "max_tokens": 16}
        status, text = ask(port, "/v1/completions", request, "secret")
        assert status == 200
        assert json.loads(text)["choices"][0]["text"] == " tiny answers from devices 2,3 of Ascend910B4."
        assert ask(port, "/v1/completions", {**request, "model": "no"}, "secret")[0] == 404
        assert ask(port, "/v1/chat/completions", {"messages": []}, "secret")[0] == 200
        assert ask(port, "/v1/chat/completions", {"model": "tiny"}, "secret")[0] == 400
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_sigterm_is_ignored_while_loading(trees, cann, tiny):
    port, env = free_port(), {**cann, "FAKE_VLLM_START_SECONDS": "2"}
    with serving(trees["0.23.0"], env, tiny, port) as process:
        for line in process.stdout:
            if "Starting to load model" in line:
                break
        process.send_signal(signal.SIGTERM)
        wait_healthy(port)
        assert process.poll() is None


def test_port_of_another_program_is_refused(trees, cann, tiny):
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        done = vllm(trees["0.23.0"], cann, "serve", tiny, "--port", other.getsockname()[1])
    assert done.returncode == 1
    assert "OSError: [Errno 98] Address already in use" in done.stderr
