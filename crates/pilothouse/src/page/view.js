// Draws messages and chunks. Everything goes in as text, never as HTML.

export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function drawMessage(message, results) {
  switch (message.role) {
    case "user":
      return element("div", "user", message.content);
    case "system": {
      const bad = message.metadata?.kind === "error";
      return element("div", bad ? "notice-row error" : "notice-row", message.content);
    }
    case "assistant": {
      const answer = new Answer();
      if (message.reasoning) answer.part("reasoning", message.id).append(message.reasoning);
      if (message.content) answer.part("text", message.id).append(message.content);
      for (const call of message.tool_calls ?? []) {
        const card = answer.tool(call.id, call.function.name);
        card.input(pretty(call.function.arguments));
        const result = results.get(call.id);
        if (result) card.output(pretty(result.content), result.outcome === "ok" ? "done" : "failed", result.outcome);
      }
      return answer.node;
    }
    default:
      return null;
  }
}

// One answer of the assistant, built chunk by chunk. `start` empties it: a replay is the whole answer again.
export class Answer {
  constructor() {
    this.node = element("div", "answer");
    this.reset();
  }

  reset() {
    this.node.replaceChildren();
    this.parts = new Map();
    this.tools = new Map();
    this.status = null;
  }

  take(chunk) {
    if (this.status && chunk.type !== "data-status") {
      this.status.remove();
      this.status = null;
    }
    switch (chunk.type) {
      case "start": return this.reset();
      case "text-start": return void this.part("text", chunk.id);
      case "text-delta": return this.part("text", chunk.id).append(chunk.delta);
      case "reasoning-start": return void this.part("reasoning", chunk.id);
      case "reasoning-delta": return this.part("reasoning", chunk.id).append(chunk.delta);
      case "text-end": case "reasoning-end": return void this.parts.delete(chunk.id);
      case "tool-input-start": return void this.tool(chunk.toolCallId, chunk.toolName);
      case "tool-input-delta": return this.tool(chunk.toolCallId).inputText.append(chunk.inputTextDelta);
      case "tool-input-available": return this.tool(chunk.toolCallId, chunk.toolName).input(pretty(chunk.input));
      case "tool-input-error": return this.tool(chunk.toolCallId, chunk.toolName).output(chunk.errorText, "failed", "not called");
      case "tool-output-available":
        return this.tool(chunk.toolCallId).output(pretty(chunk.output), chunk.preliminary ? "running" : "done");
      case "tool-output-error": return this.tool(chunk.toolCallId).output(chunk.errorText, "failed");
      case "data-status": return this.say(chunk.data.message);
      case "data-attempt": return void this.node.append(element("div", "notice-row", "Another worker goes on with this answer."));
      case "error": return void this.node.append(element("div", "error", chunk.errorText.replace(/^\[code:\w+\] /, "")));
      case "abort": return void this.node.append(element("div", "notice-row", "Stopped."));
    }
  }

  say(text) {
    this.status ??= this.node.appendChild(element("div", "status"));
    this.status.textContent = text;
  }

  part(kind, id) {
    let text = this.parts.get(id);
    if (!text) {
      text = element("div", "text");
      if (kind === "reasoning") {
        const box = element("details", "reasoning");
        box.append(element("summary", "", "Reasoning"), text);
        this.node.append(box);
      } else {
        this.node.append(text);
      }
      this.parts.set(id, text);
    }
    return text;
  }

  tool(id, name = "tool") {
    let card = this.tools.get(id);
    if (!card) {
      card = new ToolCard(name);
      this.node.append(card.node);
      this.tools.set(id, card);
    }
    return card;
  }
}

class ToolCard {
  constructor(name) {
    this.node = element("details", "tool");
    this.state = element("span", "state");
    this.inputText = element("pre");
    this.outputText = element("pre");
    const summary = element("summary");
    summary.append(element("b", "", name), this.state);
    this.node.append(summary, this.inputText, this.outputText);
    this.show("writing");
  }

  show(state, words = { writing: "is being called…", running: "runs…", done: "done", failed: "failed" }[state]) {
    this.node.dataset.state = state;
    this.state.textContent = words;
  }

  input(text) {
    this.inputText.textContent = text;
    this.show("running");
  }

  output(text, state, words) {
    this.outputText.textContent = text;
    this.show(state, words === "ok" ? undefined : words);
  }
}

function pretty(value) {
  try {
    return JSON.stringify(typeof value === "string" ? JSON.parse(value) : value, null, 2);
  } catch {
    return value;
  }
}
