"""The text of a mirror is fetched once for a run and anew for the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import mirror


class Mirror(BaseHTTPRequestHandler):
    body = b"one"
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(200 if self.path == "/manifest.yml" else 404)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *args: object) -> None:
        """Nothing: the test's output is for the test."""


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Mirror)
    Mirror.body, Mirror.asked = b"one", 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield "http://127.0.0.1:%d" % server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def test_once_for_a_run_and_anew_for_the_next(address: str, tmp_path: Path) -> None:
    where = address + "/manifest.yml"
    assert mirror.text_of(where, str(tmp_path), "run 1") == "one"
    Mirror.body = b"two"
    assert mirror.text_of(where, str(tmp_path), "run 1") == "one"
    assert Mirror.asked == 1
    assert mirror.text_of(where, str(tmp_path), "run 2") == "two"


def test_failures_are_os_errors_and_not_kept(address: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^HTTP status 404$"):
        mirror.text_of(address + "/gone", str(tmp_path), "run 1")
    with pytest.raises(OSError, match=r"^Connection refused$"):
        mirror.text_of("http://127.0.0.1:1/manifest.yml", str(tmp_path), "run 1")
    assert mirror.text_of(address + "/manifest.yml", str(tmp_path), "run 1") == "one"


def test_without_a_cache_folder_it_is_fetched(address: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert mirror.text_of(address + "/manifest.yml", str(tmp_path / "file"), "run 1") == "one"


def test_too_large_is_refused(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "LIMIT", 2)
    with pytest.raises(OSError, match="larger"):
        mirror.text_of(address + "/manifest.yml", str(tmp_path), "run 1")


def test_the_mark_of_a_run_is_that_of_the_parent() -> None:
    assert mirror.this_run() == mirror.this_run()
    assert mirror.this_run().count("-") == 1 and not mirror.this_run().endswith("-")
