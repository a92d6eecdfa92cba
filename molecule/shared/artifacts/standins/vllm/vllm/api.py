# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The OpenAI API, as far as checks, probes and a person with curl use it. Answers are the same each time."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from http.server import BaseHTTPRequestHandler

from vllm.engine import fault

SEEN = {
    "/health": "health",
    "/ping": "health",
    "/version": "version",
    "/metrics": "metrics",
    "/v1/models": "models",
}
METRICS = (
    ("vllm:num_requests_running", "gauge", None),
    ("vllm:num_requests_waiting", "gauge", None),
    ("vllm:kv_cache_usage_perc", "gauge", None),
    ("vllm:prompt_tokens_total", "counter", "prompt_tokens"),
    ("vllm:generation_tokens_total", "counter", "generation_tokens"),
    ("vllm:request_success_total", "counter", "requests"),
)


def answer_text(server) -> str:
    """Deterministic completion: which model answers from which devices."""
    return f" {server.names[0]} answers from {server.devices}."


class Handler(BaseHTTPRequestHandler):
    """One request. The server carries names, devices, keys and counters."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self._allowed():
            return
        action = SEEN.get(self._path())
        if action is None:
            self._json(404, {"detail": "Not Found"})
        else:
            getattr(self, f"_{action}")()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self._allowed():
            return
        chat = self._path() == "/v1/chat/completions"
        if not chat and self._path() != "/v1/completions":
            return self._json(404, {"detail": "Not Found"})
        try:
            request = json.loads(body)
            name = request.get("model") or self.server.names[0]
            prompt = json.dumps(request["messages"]) if chat else str(request["prompt"])
        except (ValueError, KeyError, AttributeError) as err:
            return self._error(400, "BadRequestError", f"{type(err).__name__}: {err}")
        if name not in self.server.names:
            return self._error(404, "NotFoundError", f"The model `{name}` does not exist.", "model")
        self._complete(request, name, prompt, chat)
        return None

    def _complete(self, request: dict, name: str, prompt: str, chat: bool) -> None:
        if fault() == "hang":
            time.sleep(3600)
        if fault() == "crash-on-request":
            self.server.engine.crash()
            return self._error(
                500, "InternalServerError", "EngineCore encountered an issue. See stack trace for the root cause."
            )
        words = answer_text(self.server).split(" ")
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 16
        text, cut = " ".join(words[: limit + 1]), limit + 1 < len(words)
        used = {"prompt_tokens": len(prompt.split()), "completion_tokens": min(limit, len(words) - 1)}
        self.server.counters["requests"] += 1
        self.server.counters["prompt_tokens"] += used["prompt_tokens"]
        self.server.counters["generation_tokens"] += used["completion_tokens"]
        choice = {"index": 0, "finish_reason": "length" if cut else "stop", "logprobs": None}
        key = "delta" if request.get("stream") else "message"
        choice.update({key: {"role": "assistant", "content": text.strip()}} if chat else {"text": text})
        kind = "chat.completion" if chat else "text_completion"
        head = {
            "id": "cmpl-" + hashlib.sha256(prompt.encode()).hexdigest()[:16],
            "created": int(time.time()),
            "model": name,
        }
        if request.get("stream"):
            chunk = {**head, "object": kind + (".chunk" if chat else ""), "choices": [choice]}
            return self._send(200, "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
        used["total_tokens"] = used["prompt_tokens"] + used["completion_tokens"]
        return self._json(200, {**head, "object": kind, "choices": [choice], "usage": used})

    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _allowed(self) -> bool:
        """True unless a key is set, the path is guarded and no right bearer token came; then 401 is sent."""
        keys = self.server.keys
        if not keys or not self._path().startswith(self.server.guarded):
            return True
        scheme, _blank, token = (self.headers.get("Authorization") or "").partition(" ")
        if scheme.lower() == "bearer" and any(hmac.compare_digest(token.encode(), key.encode()) for key in keys):
            return True
        self._json(401, {"error": "Unauthorized"})
        return False

    def _health(self) -> None:
        self._send(200, "text/plain", "")

    def _version(self) -> None:
        self._json(200, {"version": self.server.version})

    def _models(self) -> None:
        server = self.server
        rows = [
            {
                "id": name,
                "object": "model",
                "created": server.started,
                "owned_by": "vllm",
                "root": server.root,
                "parent": None,
                "max_model_len": server.max_model_len,
            }
            for name in server.names
        ]
        self._json(200, {"object": "list", "data": rows})

    def _metrics(self) -> None:
        label = f'{{engine="0",model_name="{self.server.names[0]}"}}'
        lines = []
        for name, kind, counter in METRICS:
            value = float(self.server.counters[counter]) if counter else 0.0
            lines += [f"# HELP {name} Stand-in.", f"# TYPE {name} {kind}", f"{name}{label} {value}"]
        self._send(200, "text/plain; version=0.0.4; charset=utf-8", "\n".join(lines) + "\n")

    def _error(self, status: int, kind: str, message: str, param: str | None = None) -> None:
        self._json(status, {"error": {"message": message, "type": kind, "param": param, "code": status}})

    def _json(self, status: int, value: dict) -> None:
        self._send(status, "application/json", json.dumps(value))

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        print(f'INFO:     {self.client_address[0]}:{self.client_address[1]} - "{self.requestline}" {code}', flush=True)
