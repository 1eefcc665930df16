"""Reads an event stream and prints its main events, one per line."""

import json
import sys
import time

WIDTH = 110
# Fields of a tool result that are printed.
FIELDS = ("status", "background_id", "task_id", "sub_autopilot_session_link", "output")

began = time.monotonic()
words = []


def say(what, text):
    text = " ".join(text.split())
    text = text if len(text) <= WIDTH else text[:WIDTH] + "…"
    print(f"{time.monotonic() - began:5.1f} s  {what:<9} {text}", flush=True)


def result(output):
    if not isinstance(output, dict) or "type" not in output:
        return json.dumps(output)
    seen = {name: output[name] for name in FIELDS if name in output}
    return f"{output['type']} {json.dumps(seen)}"


for line in sys.stdin:
    if not line.startswith("data: {"):
        continue
    chunk = json.loads(line[len("data: "):])
    kind = chunk["type"]
    if kind == "tool-input-available":
        say("calls", f"{chunk['toolName']} {json.dumps(chunk['input'])}")
    elif kind == "tool-output-available":
        say("so far" if chunk.get("preliminary") else "result", result(chunk["output"]))
    elif kind == "data-background":
        data = chunk["data"]
        say("later", f"{data['toolName']} {data['status']} {json.dumps(data.get('output', {}).get('output'))}")
    elif kind == "text-delta":
        words.append(chunk["delta"])
    elif kind == "text-end":
        say("says", "".join(words))
        words.clear()
    elif kind == "error":
        say("error", chunk["errorText"])
    elif kind in ("finish", "abort"):
        say("ends", kind)
