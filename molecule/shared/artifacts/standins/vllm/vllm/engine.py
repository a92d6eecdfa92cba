# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The engine process: checks model and devices, holds the device nodes open, "loads", and then waits for its end.

Faults for tests, by FAKE_VLLM_FAULT: crash-at-start (dies while loading), never-ready (loads for ever), wrong-model
(serves another name), crash-on-request (ready, the first completion kills it), hang (completions never answer).
FAKE_VLLM_START_SECONDS is the time that loading takes, 1 by default.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback

from vllm.log import log
from vllm.model import check_parallel, check_weights

READY, CRASH = b"r", b"c"


def fault() -> str:
    return os.environ.get("FAKE_VLLM_FAULT", "")


def start_seconds() -> float:
    return float(os.environ.get("FAKE_VLLM_START_SECONDS", "1"))


class Engine:
    """Handle of the engine process in the process that serves: its pid, a pipe to it and one from it."""

    def __init__(self, args, config: dict, platform) -> None:
        from_engine, self._to_server = os.pipe()
        self._from_server, self._orders = os.pipe()
        self._answers = from_engine
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(from_engine)
            os.close(self._orders)
            os._exit(_engine(args, config, platform, self._to_server, self._from_server))
        os.close(self._to_server)
        os.close(self._from_server)

    def wait_ready(self) -> bool:
        """Block until the engine says that it is ready; False when it ended instead."""
        return os.read(self._answers, 1) == READY

    def alive(self) -> bool:
        return os.waitpid(self.pid, os.WNOHANG)[0] == 0

    def crash(self) -> None:
        """Tell the engine to die, as a faulty first request does."""
        os.write(self._orders, CRASH)

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)


def _engine(args, config: dict, platform, answers: int, orders: int) -> int:
    """Body of the engine process; its exit status."""
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8") as stream:
        stream.write("VLLM::EngineCor")
    try:
        size = (args.tensor_parallel_size or 1) * (args.pipeline_parallel_size or 1)
        check_parallel(config, args.tensor_parallel_size or 1)
        handles = platform.take_devices(size, _dtype(args, config))
        check_weights(args.model_tag or args.model)
        _load()
    except Exception:
        log("ERROR", "core.py:1031", "EngineCore failed to start.")
        traceback.print_exc()
        return 1
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.write(answers, READY)
    order = os.read(orders, 1)  # also returns, empty, when the serving process is gone
    for handle in handles:
        os.close(handle)
    return 1 if order == CRASH else 0


def _dtype(args, config: dict) -> str:
    """The type that is computed in: auto means the model's own."""
    asked = args.dtype or "auto"
    return str(config.get("torch_dtype") or "float16") if asked == "auto" else {"half": "float16"}.get(asked, asked)


def _load() -> None:
    if fault() == "never-ready":
        while True:
            time.sleep(3600)
    log("INFO", "gpu_model_runner.py:4321", "Starting to load model...")
    time.sleep(start_seconds())
    if fault() == "crash-at-start":
        raise RuntimeError("NPU out of memory. Tried to allocate 2.00 GiB (fault asked for by the test)")
    log("INFO", "kv_cache_utils.py:1307", "GPU KV cache size: 65,536 tokens")
