# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This module is private to ascend.fleet: it may change in any release.
"""Asks a vLLM server the way its users do: health, model list, one short answer.

Everything goes through an ``Opener``, so that tests need no server and callers choose time limits.
"""

from __future__ import annotations

import json
import socket
import ssl
import urllib.error
import urllib.request
from typing import Any, Callable, Dict, List, NamedTuple, Optional

LIMIT = 1 << 20  # bytes of an answer that are read; a model list or a short completion is far smaller
PROMPT = "The capital of France is"


class Answer(NamedTuple):
    """HTTP status and body; status 0 when there was no HTTP answer, the body then says why."""

    status: int
    body: str


Opener = Callable[[str, Optional[Dict[str, Any]], Dict[str, str], float], Answer]


def http_open(url: str, payload: Optional[Dict[str, Any]], headers: Dict[str, str], timeout: float) -> Answer:
    """GET url, or POST payload as JSON. Never raises for what a server or a network may do.

    Proxies of the environment are not used: the server is on this node. Its certificate is not checked: it names the
    public host, not the address that we use.
    """
    data = None if payload is None else json.dumps(payload).encode("utf-8")
    request = urllib.request.Request(url, data=data, headers=headers)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=timeout) as response:
            return Answer(response.status, response.read(LIMIT).decode("utf-8", "replace"))
    except urllib.error.HTTPError as exc:
        with exc:
            try:
                body = exc.read(LIMIT).decode("utf-8", "replace")
            except (OSError, ValueError):
                body = ""
        return Answer(exc.code, body)
    except socket.timeout:
        return Answer(0, "no answer within %g s" % timeout)
    except (OSError, ValueError) as exc:
        return Answer(0, str(getattr(exc, "reason", exc)))
    except Exception as exc:  # http.client raises its own family for a server that speaks no HTTP
        return Answer(0, "%s: %s" % (type(exc).__name__, exc))


class Server:
    """One vLLM server.

    :param address: host or IP as a client on the node names it (not 0.0.0.0).
    :param api_key: bearer token, or None.
    """

    def __init__(
        self, opener: Opener, address: str, port: int, tls: bool = False, api_key: Optional[str] = None
    ) -> None:
        host = "[%s]" % address if ":" in address else address
        self.url = "%s://%s:%d" % ("https" if tls else "http", host, port)
        self._opener = opener
        self._headers = {"Accept": "application/json"}
        if api_key:
            self._headers["Authorization"] = "Bearer " + api_key

    def _ask(self, path: str, payload: Optional[Dict[str, Any]], timeout: float) -> Answer:
        headers = dict(self._headers)
        if payload is not None:
            headers["Content-Type"] = "application/json"
        return self._opener(self.url + path, payload, headers, timeout)

    def health(self, timeout: float = 5) -> Answer:
        """Status 200 when the engine is up, 503 when it died, 0 while nothing listens."""
        return self._ask("/health", None, timeout)

    def models(self, timeout: float = 10) -> Models:
        answer = self._ask("/v1/models", None, timeout)
        if answer.status != 200:
            return Models(None, refusal("/v1/models", answer))
        found = _parsed(answer.body).get("data")
        if not isinstance(found, list):
            return Models(None, "/v1/models answered something that is no model list: %s" % short(answer.body))
        return Models([str(item["id"]) for item in found if isinstance(item, dict) and "id" in item], None)

    def completion(self, model: str, timeout: float) -> Said:
        """A short answer of the model; an empty text counts as none (vLLM's documents call it a failure).

        Some chat models say nothing to a bare prompt, so the chat interface is asked too before that is believed.
        """
        bare = self._ask(
            "/v1/completions", {"model": model, "prompt": PROMPT, "max_tokens": 16, "temperature": 0}, timeout
        )
        said = _text(bare, "/v1/completions", lambda choice: choice.get("text"))
        if said.text or bare.status not in (200, 404, 405):
            return said
        message = {"role": "user", "content": "Answer in one word: " + PROMPT}
        chat = self._ask(
            "/v1/chat/completions",
            {"model": model, "messages": [message], "max_tokens": 32, "temperature": 0},
            timeout,
        )
        again = _text(chat, "/v1/chat/completions", _chat_text)
        return again if again.text else said

    def embedding(self, model: str, timeout: float) -> Said:
        """For pooling models, which write no text: the length of one embedding in words."""
        answer = self._ask("/v1/embeddings", {"model": model, "input": PROMPT}, timeout)
        if answer.status != 200:
            return Said(None, refusal("/v1/embeddings", answer))
        found = _parsed(answer.body).get("data")
        vector = found[0].get("embedding") if isinstance(found, list) and found and isinstance(found[0], dict) else None
        if not isinstance(vector, list) or not vector:
            return Said(None, "/v1/embeddings answered without an embedding: %s" % short(answer.body))
        return Said("embedding of %d numbers" % len(vector), None)


class Models(NamedTuple):
    """Served names, or None and why not."""

    names: Optional[List[str]]
    error: Optional[str]


class Said(NamedTuple):
    """What the model said, or None and why not."""

    text: Optional[str]
    error: Optional[str]


def refusal(path: str, answer: Answer) -> str:
    if answer.status == 401:
        return "%s answered 401: the server asks for an API key, and VLLM_API_KEY of its secrets is not it" % path
    if answer.status == 0:
        return "%s: %s" % (path, answer.body)
    return "%s answered %d: %s" % (path, answer.status, short(_message(answer.body)))


def short(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _parsed(body: str) -> Dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _message(body: str) -> str:
    """The sentence in an error body of the OpenAI shape ({"error": {"message"}}), or the body."""
    value = _parsed(body)
    error = value.get("error", value)
    if isinstance(error, dict):
        error = error.get("message", body)
    return error if isinstance(error, str) else body


def _chat_text(choice: Dict[str, Any]) -> Any:
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    return message.get("content") or message.get("reasoning_content") or message.get("reasoning")


def _text(answer: Answer, path: str, pick: Callable[[Dict[str, Any]], Any]) -> Said:
    if answer.status != 200:
        return Said(None, refusal(path, answer))
    choices = _parsed(answer.body).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Said(None, "%s answered without a choice: %s" % (path, short(answer.body)))
    text = pick(choices[0])
    if not isinstance(text, str) or not text.strip():
        return Said(None, "%s answered with an empty text" % path)
    return Said(short(text.strip()), None)
