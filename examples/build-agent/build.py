#!/usr/bin/env python3
"""Builds an agent by HTTP: validates a spec, rehearses it, saves it, runs it, and revises it.

    build.py [SPEC]

SPEC is a file with an agent spec, by default tides.yaml beside this program. Needs only the standard library.
PILOTHOUSE_URL names the server; PILOTHOUSE_API_KEY is for a server with a login.
"""

import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

SERVER = os.environ.get("PILOTHOUSE_URL", "http://127.0.0.1:8006")
KEY = os.environ.get("PILOTHOUSE_API_KEY")
# A rehearsal and a wait for a run may take up to a minute.
TIMEOUT_SECONDS = 90


class Refused(Exception):
    """An error response, with its JSON body."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('detail')}")
        self.status, self.body = status, body


def call(method, path, body=None):
    headers = {"content-type": "application/json"}
    if KEY:
        headers["x-api-key"] = KEY
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{SERVER}/api{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, json.load(error)) from None


def check(spec):
    """Prints the problems of a spec; ends the program if it has errors."""
    report = call("POST", "/agents/validate", {"spec": spec})
    for problem in report["errors"] + report["warnings"]:
        print(f"{problem.get('path', 'agent')}: {problem['message']} ({problem['code']})")
    if not report["valid"]:
        raise SystemExit(1)
    print(f"validated: {report['state']}")


def rehearse(agent, inputs):
    report = call("POST", "/agents/rehearse", {**agent, "inputs": inputs, "fail_each": True})
    print(f"rehearsed: {report['state']}, outputs {json.dumps(report['outputs'])}")
    if report["state"] not in ("rehearsed", "verified"):
        raise SystemExit(f"Not ready: {report['unfilled']} got no value, {report['failed']} failed.")


def run(graph_id, inputs):
    execution = call("POST", f"/graphs/{graph_id}/execute", {"inputs": inputs})
    path = f"/graphs/{graph_id}/executions/{execution['id']}/wait?timeout=50"
    ended = call("GET", path)
    print(f"ran: {ended['status']}, outputs {json.dumps(ended['outputs'])}")


def edit(graph_id, base_version, edits):
    """Saves the edits as a new version and returns the answer."""
    body = {"base_version": base_version, "edits": edits}
    edited = call("POST", f"/graphs/{graph_id}/edits", body)
    changed = [change["step"] for change in edited["diff"]["steps"]["changed"]]
    print(f"revised: version {edited['graph']['version']}, changed {', '.join(changed)}")
    return edited


def main():
    default = pathlib.Path(__file__).with_name("tides.yaml")
    spec = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default).read_text()
    inputs = {"height": 4}

    check(spec)
    rehearse({"spec": spec}, inputs)
    agent = call("POST", "/graphs", {"spec": spec})
    graph_id = agent["id"]
    print(f"saved: {agent['name']}, version {agent['version']}")
    run(graph_id, inputs)

    raise_limit = [{"op": "set", "step": "check", "pin": "value2", "value": 5}]
    edited = edit(graph_id, 1, raise_limit)
    run(graph_id, inputs)

    # Another program still edits version 1. It learns what changed and does not overwrite it.
    try:
        edit(graph_id, 1, raise_limit)
    except Refused as refused:
        print(f"refused: {refused.body['code']}, newest version {refused.body['newest_version']}")

    edit(graph_id, 2, edited["undo"])
    run(graph_id, inputs)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        raise SystemExit(str(refused))
