// The page: a list of sessions, the conversation, the composer. What is shown is what the server says.

import { call, follow, get, post, Refused } from "./stream.js";
import { Answer, drawMessage, element } from "./view.js";

const $ = (id) => document.getElementById(id);
const { provider, model } = document.body.dataset;
const offline = provider === "offline";

let session = null; // the id of the one on the screen
let running = null; // AbortController of the stream that is followed

start();

async function start() {
  $("model").textContent = offline ? "Offline pilot: built in, no model configured" : `${model} · ${provider}`;
  $("new-session").onclick = () => show(null);
  $("composer").onsubmit = (event) => { event.preventDefault(); submit($("text").value); };
  $("stop").onclick = stop;
  $("text").onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit($("text").value); }
  };
  $("login").onclose = () => { sessionStorage.setItem("token", $("token").value); location.reload(); };
  window.onhashchange = () => { const wanted = idInAddress(); if (wanted !== session) show(wanted); };
  await guarded(async () => {
    await drawExamples();
    await drawSessions();
    await show(idInAddress());
  });
}

function idInAddress() {
  return decodeURIComponent(location.hash.slice(1)) || null;
}

async function drawExamples() {
  const { themes } = await call("GET", "/chat/suggested-prompts");
  const prompts = themes.flatMap((theme) => theme.prompts);
  $("examples").replaceChildren(...prompts.map((prompt) => {
    const button = element("button", "", prompt);
    button.type = "button";
    button.onclick = () => submit(prompt);
    return button;
  }));
}

async function drawSessions() {
  const { sessions } = await call("GET", "/chat/sessions?limit=100");
  $("sessions").replaceChildren(...sessions.map((one) => {
    const button = element("button", one.is_processing ? "busy" : "", one.title ?? "New session");
    button.type = "button";
    button.setAttribute("aria-current", String(one.id === session));
    button.onclick = () => show(one.id);
    return button;
  }));
}

async function show(id) {
  running?.abort();
  session = id;
  history.replaceState(null, "", id ? `#${encodeURIComponent(id)}` : location.pathname);
  $("messages").replaceChildren();
  $("examples").hidden = Boolean(id) || !$("examples").children.length;
  notice(offline && !id ? "This is the offline pilot: real streaming and real tools, but no model. Try one of the examples below." : null);
  setBusy(false);
  $("text").focus();
  if (!id) return drawSessions();
  await guarded(async () => {
    const [detail] = await Promise.all([call("GET", `/chat/sessions/${id}?limit=200`), drawSessions()]);
    if (session !== id) return;
    const results = new Map(detail.messages.filter((m) => m.role === "tool").map((m) => [m.tool_call_id, m]));
    for (const message of detail.messages) {
      const node = drawMessage(message, results);
      if (node) $("messages").append(node);
    }
    toBottom(true);
    if (detail.active_stream) await stream(id, (signal) => get(`/chat/sessions/${id}/stream`, signal));
  });
}

async function submit(text) {
  if (!text.trim() || $("send").disabled) return;
  await guarded(async () => {
    notice(null);
    $("examples").hidden = true;
    if (!session) {
      session = (await call("POST", "/chat/sessions")).id;
      history.replaceState(null, "", `#${encodeURIComponent(session)}`);
    }
    $("text").value = "";
    $("messages").append(element("div", "user", text));
    toBottom(true);
    const id = session;
    const body = { message: text, message_id: crypto.randomUUID?.() ?? String(Math.random()).slice(2) };
    await stream(id, (signal) => post(`/chat/sessions/${id}/stream`, body, signal));
  });
}

async function stream(id, open) {
  const answer = new Answer();
  const here = (running = new AbortController());
  $("messages").append(answer.node);
  answer.say("…");
  setBusy(true);
  drawSessions();
  try {
    await follow(id, () => open(here.signal), (chunk) => { answer.take(chunk); toBottom(false); }, here.signal);
  } finally {
    if (running === here) {
      running = null;
      setBusy(false);
      drawSessions();
    }
  }
}

async function stop() {
  $("stop").disabled = true;
  await guarded(() => call("POST", `/chat/sessions/${session}/cancel`));
}

function setBusy(busy) {
  $("send").hidden = busy;
  $("send").disabled = busy;
  $("stop").hidden = !busy;
  $("stop").disabled = false;
}

// Follows the end of the conversation unless the reader has scrolled away from it.
function toBottom(always) {
  const box = $("messages");
  const near = box.scrollHeight - box.scrollTop - box.clientHeight < 160;
  if (always || near) box.scrollTop = box.scrollHeight;
}

function notice(text, bad = false) {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
  $("notice").classList.toggle("bad", bad);
}

async function guarded(action) {
  try {
    await action();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error instanceof Refused && error.status === 401) return $("login").showModal();
    notice(error instanceof Refused ? error.message : "The server does not answer. Is it running?", true);
  }
}
