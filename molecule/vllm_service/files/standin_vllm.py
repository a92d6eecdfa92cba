# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for `vllm serve MODEL --config FILE`: the options, answers and exit statuses of vLLM that a service sees.

STANDIN_FAULT in the environment makes it crash (at start), exit (0 by itself), silent (never ready), wrong-model or
mute (empty answers); STANDIN_SECONDS is how long it loads.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KNOWN = {
    "port": int,
    "host": str,
    "served-model-name": list,
    "max-model-len": int,
    "tensor-parallel-size": int,
    "no-enable-prefix-caching": bool,
    "additional-config": json.loads,
}


def value_of(text):
    text = text.strip()
    if text.startswith("["):
        return [value_of(part) for part in text[1:-1].split(",")]
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    return {"true": True, "false": False}.get(text, text)


def options_of(path):
    options = {}
    with open(path, encoding="utf-8") as handle:
        for line in handle:
            match = re.match(r"([a-z-]+): (.*)$", line)
            if not match:
                continue
            name, value = match.group(1), value_of(match.group(2))
            if name not in KNOWN:
                print("vllm: error: unrecognized arguments: --%s %s" % (name, value), file=sys.stderr)
                raise SystemExit(2)
            options[name] = value if KNOWN[name] in (list, bool) else KNOWN[name](value)
    return options


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    names = ()
    key = os.environ.get("VLLM_API_KEY")
    fault = os.environ.get("STANDIN_FAULT")

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def allowed(self):
        if self.key and self.path.startswith("/v1") and self.headers.get("Authorization") != "Bearer " + self.key:
            self.reply(401, {"error": "Unauthorized"})
            return False
        return True

    def do_GET(self):
        if not self.allowed():
            return
        if self.path == "/health":
            self.reply(200, {})
        elif self.path == "/v1/models":
            names = ["another-model"] if self.fault == "wrong-model" else self.names
            self.reply(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
        else:
            self.reply(404, {"detail": "Not Found"})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        text = "" if self.fault == "mute" else " devices " + os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "not set")
        if asked.get("model") not in self.names:
            self.reply(404, {"error": {"message": "The model `%s` does not exist." % asked.get("model")}})
        elif self.path == "/v1/completions":
            self.reply(200, {"choices": [{"index": 0, "text": text}]})
        elif self.path == "/v1/chat/completions":
            self.reply(200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})
        else:
            self.reply(404, {"detail": "Not Found"})

    def log_message(self, *args):
        """One line for each request would hide what the tests look for in the journal."""


def main(words):
    model, path = words[1], words[words.index("--config") + 1]
    options = options_of(path)
    fault = os.environ.get("STANDIN_FAULT")
    if not os.path.isfile(os.path.join(model, "config.json")):
        print("OSError: %s does not appear to have a file named config.json." % model, file=sys.stderr)
        return 1
    if fault in ("crash", "exit"):
        print("RuntimeError: NPU out of memory. Tried to allocate 20.00 GiB", file=sys.stderr)
        return 1 if fault == "crash" else 0
    time.sleep(float(os.environ.get("STANDIN_SECONDS", "1")))
    while fault == "silent":
        time.sleep(1)
    # Held open as CANN does: the tool then lists this process on its cards.
    chosen = os.environ["ASCEND_RT_VISIBLE_DEVICES"].split(",")
    cards = [os.open("/dev/davinci" + number, os.O_RDONLY) for number in chosen]
    print("%d cards are open" % len(cards), flush=True)
    Api.names = tuple(options.get("served-model-name") or [model])
    ThreadingHTTPServer((options.get("host", ""), options.get("port", 8000)), Api).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
