"""A service behind two tools of the demo: one is slow to answer, one says 202 and calls back when it is done.

    service.py PORT_FILE    writes the port it has taken into that file; CHAT_INTERNAL_API_KEY opens the webhook
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
PATIENCE_SECONDS = 60.0


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        arguments = call["arguments"]
        if self.path == "/weigh":
            time.sleep(SLOW_SECONDS)
            self.answer(200, {"cargo": arguments["cargo"], "tonnes": 12})
        elif self.path == "/print":
            # A request that is repeated with the same key is work that is known already.
            if self.server.begin(self.headers["idempotency-key"]):
                threading.Thread(target=print_chart, args=(call,), daemon=True).start()
            self.answer(202, {})
        else:
            self.answer(404, {"error": "there is no such work here"})

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The caller was cancelled and does not want to know any more.

    def log_message(self, *_):
        pass


class Desk(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Service)
        self.known, self.lock = set(), threading.Lock()

    def begin(self, key):
        """Whether this is new."""
        with self.lock:
            new = key not in self.known
            self.known.add(key)
            return new


def print_chart(call):
    time.sleep(CALLBACK_SECONDS)
    result = {"chart": call["arguments"]["chart"], "file": "chart.pdf"}
    report(call["callback_url"], {"success": True, "result": result})


def report(url, completion):
    """Says it until it is heard: saying it twice does no harm."""
    request = urllib.request.Request(url, json.dumps(completion).encode(), method="POST")
    request.add_header("content-type", "application/json")
    request.add_header("x-api-key", os.environ["CHAT_INTERNAL_API_KEY"])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except OSError:
            time.sleep(1)


if __name__ == "__main__":
    desk = Desk()
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(desk.server_port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    desk.serve_forever()
