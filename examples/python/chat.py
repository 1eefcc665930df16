#!/usr/bin/env python3
"""Sends a message to Pilothouse and prints the response as it arrives.

    chat.py [--session ID] MESSAGE

A lost connection is resumed after the last event received, so nothing is missed or printed twice. Needs only the
standard library. PILOTHOUSE_URL names the server; PILOTHOUSE_API_KEY is for a server with a login.
"""

import argparse
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

SERVER = os.environ.get("PILOTHOUSE_URL", "http://127.0.0.1:8006")
KEY = os.environ.get("PILOTHOUSE_API_KEY")
# A heartbeat comes every ten seconds. A connection that is silent for longer is lost.
SILENCE_SECONDS = 30
ATTEMPTS = 10


def request(method, path, body=None, headers=None):
    headers = dict(headers or {})
    if KEY:
        headers["x-api-key"] = KEY
    if body is not None:
        headers["content-type"] = "application/json"
        body = json.dumps(body).encode()
    url = f"{SERVER}/api/chat/sessions{path}"
    return urllib.request.urlopen(
        urllib.request.Request(url, body, headers, method=method), timeout=SILENCE_SECONDS
    )


def events(response):
    """Yields (id, data) of each server-sent event. Comments, such as heartbeats, are left out."""
    event = {}
    for line in response:
        line = line.decode().rstrip("\n")
        if line == "":
            if "data" in event:
                yield event.get("id"), event["data"]
            event = {}
        else:
            field, _, value = line.partition(": ")
            event[field] = value


def chunks(session, message):
    """Yields the chunks of the turn that answers the message, whatever happens to the connection."""
    # Sending the same id again joins the turn it has started, so a request without an answer can be repeated.
    body = {"message": message, "message_id": str(uuid.uuid4())}
    last, failures = None, 0
    while True:
        try:
            if last is None:
                response = request("POST", f"/{session}/stream", body)
            else:
                response = request("GET", f"/{session}/stream", headers={"last-event-id": last})
            if response.status == 204:
                raise SystemExit("The turn ended long ago; its text is in the history of the session.")
            for id, data in events(response):
                if data == "[DONE]":
                    return
                last, failures = id or last, 0
                yield json.loads(data)
            # The stream ended without [DONE]: it was cut.
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{error.code}: {error.read().decode()}")
        except (OSError, http.client.HTTPException):
            pass
        failures += 1
        if failures > ATTEMPTS:
            raise SystemExit(f"No connection to {SERVER}.")
        print("(connection lost, resuming)", file=sys.stderr)
        time.sleep(min(0.25 * 2**failures, 5))


def main():
    parser = argparse.ArgumentParser(description="Sends a message to Pilothouse and prints the response.")
    parser.add_argument("--session", help="continue this session instead of creating one")
    parser.add_argument("message")
    arguments = parser.parse_args()

    session = arguments.session
    if not session:
        with request("POST", "", {}) as response:
            session = json.load(response)["id"]
    print(f"session {session}", file=sys.stderr)

    for chunk in chunks(session, arguments.message):
        if chunk["type"] == "text-delta":
            print(chunk["delta"], end="", flush=True)
        elif chunk["type"] == "text-end":
            print()
        elif chunk["type"] == "tool-input-available":
            print(f"[{chunk['toolName']} {json.dumps(chunk['input'])}]", file=sys.stderr)
        elif chunk["type"] == "data-attempt":
            print("\n(the server was restarted; the turn runs again from its last completed step)", file=sys.stderr)
        elif chunk["type"] == "error":
            raise SystemExit(chunk["errorText"])


if __name__ == "__main__":
    main()
