# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`vllm serve`: binds the port first, loads the engine, then speaks the OpenAI API.

As in the real one: the port is bound with SO_REUSEPORT before the engine loads and listens only when it is ready, so
two instances of one user on one port both start; SIGTERM during loading is ignored; afterwards it ends with status 0.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from http.server import ThreadingHTTPServer

import vllm
from vllm.api import Handler
from vllm.arguments import TRAITS
from vllm.engine import Engine, fault
from vllm.log import log
from vllm.model import load_config, served_names


class Server(ThreadingHTTPServer):
    """HTTP server with what the handlers answer from."""

    daemon_threads = True

    def __init__(self, args, platform) -> None:
        super().__init__((args.host or "", args.port or 8000), Handler, bind_and_activate=False)
        if ":" in (args.host or ""):
            self.address_family = socket.AF_INET6
            self.socket.close()
            self.socket = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = args.host or "0.0.0.0", self.server_address[1]
        self.names = ["another-model"] if fault() == "wrong-model" else served_names(args)
        self.root = args.model_tag or args.model
        self.max_model_len = args.max_model_len or 4096
        self.version = vllm.__version__
        self.devices = platform.describe()
        self.guarded = tuple(TRAITS["guarded"])
        self.keys = [key for key in (args.api_key or [os.environ.get("VLLM_API_KEY", "")]) if key]
        self.started = int(time.time())
        self.counters = {"requests": 0, "prompt_tokens": 0, "generation_tokens": 0}
        self.engine: Engine | None = None


def serve(args, platform) -> int:
    """Run until SIGTERM or SIGINT (0) or until the engine is gone (1). What is wrong before is a traceback."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    model = args.model_tag or args.model
    log("INFO", "api_server.py:1351", f"vLLM API server version {vllm.__version__}, model {model}")
    config = load_config(model)
    platform.check_device_type()
    server = Server(args, platform)
    server.engine = Engine(args, config, platform)
    if not server.engine.wait_ready():
        raise RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {}")
    server.server_activate()
    log("INFO", "launcher.py:38", f"Starting vLLM server on http://{server.server_name}:{server.server_port}")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("INFO:     Application startup complete.", flush=True)
    while not ended.wait(0.2):
        if not server.engine.alive():
            log("ERROR", "core_client.py:600", "Engine core proc EngineCore died unexpectedly, shutting down client.")
            return 1
    print("INFO:     Shutting down", flush=True)
    server.shutdown()
    server.engine.stop()
    print("INFO:     Application shutdown complete.", flush=True)
    return 0
