# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of servers, right and wrong, and the real HTTP client against a real socket."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from ansible_collections.ascend.fleet.plugins.module_utils import _openai
from hypothesis import given
from hypothesis import strategies as st

Answer = _openai.Answer


def server(*answers, **more):
    """A server that gives these answers in turn, and what it was asked."""
    asked, left = [], list(answers)

    def opener(url, payload, headers, timeout):
        asked.append((url, payload, headers, timeout))
        return left.pop(0)

    return _openai.Server(opener, more.pop("address", "127.0.0.1"), 8000, **more), asked


def said(text, status=200):
    return Answer(status, json.dumps({"choices": [{"text": text, "message": {"content": text}}]}))


def test_the_key_goes_as_a_bearer_and_the_model_as_asked():
    one, asked = server(said("x"), api_key="k")
    assert one.completion("m", 9).text == "x"
    url, payload, headers, timeout = asked[0]
    assert url == "http://127.0.0.1:8000/v1/completions"
    assert payload["model"] == "m"
    assert payload["temperature"] == 0
    assert headers["Authorization"] == "Bearer k"
    assert timeout == 9


def test_an_ipv6_address_is_bracketed_and_tls_is_https():
    assert server(address="::1", tls=True)[0].url == "https://[::1]:8000"


def test_models_are_the_served_names():
    one, _asked = server(Answer(200, '{"data": [{"id": "a"}, {"id": "b", "x": 1}, {"noid": 1}, 3]}'))
    assert one.models() == (["a", "b"], None)


def test_a_refused_key_says_which_secret_is_meant():
    one, _asked = server(Answer(401, '{"error": "Unauthorized"}'))
    names, error = one.models()
    assert names is None
    assert "401" in error
    assert "VLLM_API_KEY" in error


def test_an_empty_completion_asks_the_chat_interface_too():
    one, asked = server(said("  "), said("Paris"))
    assert one.completion("m", 1) == ("Paris", None)
    assert asked[1][0].endswith("/v1/chat/completions")


def test_two_empty_texts_are_no_answer():
    one, _asked = server(said(""), said(None))
    assert one.completion("m", 1) == (None, "/v1/completions answered with an empty text")


def test_a_server_without_completions_may_still_chat():
    one, _asked = server(Answer(404, '{"detail": "Not Found"}'), said("Paris"))
    assert one.completion("m", 1).text == "Paris"


def test_thinking_counts_as_saying_something():
    body = json.dumps({"choices": [{"message": {"content": None, "reasoning_content": "hm"}}]})
    one, _asked = server(said(""), Answer(200, body))
    assert one.completion("m", 1).text == "hm"


def test_an_engine_that_died_is_not_asked_twice():
    one, asked = server(Answer(500, '{"error": {"message": "EngineCore encountered an issue"}}'))
    assert one.completion("m", 1) == (None, "/v1/completions answered 500: EngineCore encountered an issue")
    assert len(asked) == 1


def test_an_embedding_is_told_by_its_length():
    one, _asked = server(Answer(200, '{"data": [{"embedding": [0.1, 0.2]}]}'))
    assert one.embedding("m", 1).text == "embedding of 2 numbers"


@pytest.mark.parametrize(
    "body", ["", "[]", "null", '{"data": {}}', '{"data": []}', "<html>", '{"choices": [3]}', "[" * 5000]
)
def test_nonsense_is_an_error_and_no_exception(body):
    for ask in ("models", "completion", "embedding"):
        one, _asked = server(Answer(200, body), Answer(200, body))
        answer = one.models() if ask == "models" else getattr(one, ask)("m", 1)
        if body != '{"data": []}' or ask != "models":
            assert answer[0] is None
            assert answer[1]


@given(st.text(), st.integers(min_value=0, max_value=599))
def test_no_body_makes_it_raise(body, status):
    one, _asked = server(*[Answer(status, body)] * 2)
    text, error = one.completion("m", 1)
    assert (text is None) == (error is not None)
    one, _asked = server(Answer(status, body))
    one.models()


# the real client ----------------------------------------------------------------------------------------------------


class Real(BaseHTTPRequestHandler):
    def do_GET(self):
        status = 503 if self.path == "/sick" else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"hello \xff")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Nothing."""


@pytest.fixture
def url():
    http = HTTPServer(("127.0.0.1", 0), Real)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield "http://127.0.0.1:%d" % http.server_port
    http.shutdown()
    thread.join()
    http.server_close()


def test_the_client_reads_and_posts_and_ignores_a_proxy(url, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert _openai.http_open(url + "/", None, {}, 5) == (200, "hello \ufffd")
    assert _openai.http_open(url + "/", {"a": 1}, {}, 5) == (200, '{"a": 1}')
    assert _openai.http_open(url + "/sick", None, {}, 5).status == 503


def test_nobody_there_is_status_0_with_the_reason():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answer = _openai.http_open("http://127.0.0.1:%d/" % port, None, {}, 2)
    assert answer.status == 0
    assert "refused" in answer.body


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_a_server_that_speaks_no_http_or_nothing_is_status_0(greeting):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)

        def answer():
            peer, _address = listener.accept()
            with peer:
                if greeting:
                    peer.sendall(greeting)
                    peer.recv(1024)
                else:
                    peer.recv(1024)
                    done.wait(5)

        done = threading.Event()
        thread = threading.Thread(target=answer)
        thread.start()
        got = _openai.http_open("http://127.0.0.1:%d/" % listener.getsockname()[1], None, {}, 0.5)
        done.set()
        thread.join()
    assert got.status == 0
    assert got.body
