"""The service of the demo's two tools: one responds slowly, one responds 202 and calls back when it is done.

    service.py PORT_FILE    writes its port to that file; CHAT_INTERNAL_API_KEY is the key of the webhook
"""

import json
import os
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_SECONDS = 2.5
CALLBACK_SECONDS = 5.0
CALLBACK_TIMEOUT_SECONDS = 60.0


class ToolHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        arguments = call["arguments"]
        if self.path == "/weigh":
            time.sleep(SLOW_SECONDS)
            self.respond(200, {"cargo": arguments["cargo"], "tonnes": 12})
        elif self.path == "/print":
            # A repeated request has the same key; its work has already started.
            if self.server.start_once(self.headers["idempotency-key"]):
                threading.Thread(target=print_chart, args=(call,), daemon=True).start()
            self.respond(202, {})
        else:
            self.respond(404, {"error": "not found"})

    def respond(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The call was canceled, so the connection is closed.

    def log_message(self, *_):
        pass


class ToolServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ToolHandler)
        self.known, self.lock = set(), threading.Lock()

    def start_once(self, key):
        """Records the key; returns whether it is new."""
        with self.lock:
            new = key not in self.known
            self.known.add(key)
            return new


def print_chart(call):
    time.sleep(CALLBACK_SECONDS)
    result = {"chart": call["arguments"]["chart"], "file": "chart.pdf"}
    report(call["callback_url"], {"success": True, "result": result})


def report(url, completion):
    """Sends the result until the server accepts it; sending it twice is harmless."""
    request = urllib.request.Request(url, json.dumps(completion).encode(), method="POST")
    request.add_header("content-type", "application/json")
    request.add_header("x-api-key", os.environ["CHAT_INTERNAL_API_KEY"])
    deadline = time.monotonic() + CALLBACK_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except OSError:
            time.sleep(1)


if __name__ == "__main__":
    server = ToolServer()
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(server.server_port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()
