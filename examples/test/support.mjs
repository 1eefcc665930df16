// What the tests of the examples share: a real server on data of its own, other programs, a connection that can be cut,
// and a browser. Everything is closed when its test ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const EXAMPLES = join(import.meta.dirname, '..');
const START_MS = 30_000;
const STOP_MS = 10_000;

/** A response of 600 characters that takes about two seconds. */
export const SLOW = '/stream count=60 size=10 delay_ms=30';
export const SLOW_LENGTH = 600;

/** Starts the server named by PILOTHOUSE_BIN with the offline model, and returns its address. */
export async function startServer(test, settings = {}) {
  const binary = process.env.PILOTHOUSE_BIN;
  assert.ok(binary, 'PILOTHOUSE_BIN names no program: run examples/test.sh');
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-examples-'));
  const port = await freePort();
  const program = startProgram(test, binary, ['serve', '--port', String(port), '--data', join(folder, 'data')], {
    cwd: folder,
    env: { CHAT_PROVIDER: 'offline', RUST_LOG: 'warn', ...settings },
  });
  test.after(() => rm(folder, { recursive: true, force: true }));
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/health/ready`, program);
  return url;
}

/** Starts a program that is stopped when the test ends. Its output is collected in `stdout` and `stderr`. */
export function startProgram(test, command, args, options) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const program = { child, stdout: '', stderr: '', ended: once(child, 'exit') };
  for (const stream of ['stdout', 'stderr']) child[stream].on('data', (piece) => (program[stream] += piece));
  test.after(() => stop(program));
  return program;
}

async function stop({ child, ended }) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(killer);
}

export async function untilAnswers(url, program) {
  await until(async () => {
    assert.equal(program.child.exitCode, null, `the program ended:\n${program.stdout}${program.stderr}`);
    return (await fetch(url).catch(() => undefined))?.ok;
  }, `${url} did not answer`);
}

/** Waits until the condition holds, and returns its value. */
export async function until(condition, failure) {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(typeof failure === 'function' ? failure() : failure);
}

/** The texts of a session by role, as the server has stored them. */
export async function storedTexts(url, session) {
  const response = await fetch(`${url}/api/chat/sessions/${session}?limit=200`);
  assert.equal(response.status, 200);
  const { messages } = await response.json();
  const texts = (role) => messages.filter((row) => row.role === role).map((row) => row.content);
  return { user: texts('user'), assistant: texts('assistant') };
}

/**
 * Passes connections on to the server, and cuts the first one that has carried this many bytes to the client. Later
 * ones are not cut.
 */
export async function cuttingProxy(test, url, bytes) {
  const proxy = { url: '', cuts: 0 };
  const sockets = new Set();
  const listener = createServer((client) => {
    const server = connect(Number(new URL(url).port), '127.0.0.1');
    let carried = 0;
    for (const [from, to] of [[client, server], [server, client]]) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (piece) => {
        to.write(piece);
        if (from !== server) return;
        carried += piece.length;
        if (proxy.cuts > 0 || carried < bytes) return;
        proxy.cuts += 1;
        client.resetAndDestroy();
        server.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  proxy.url = `http://127.0.0.1:${listener.address().port}`;
  return proxy;
}

/** A page in Chromium. The driver is the one that the tests of web/ have installed. */
export async function openPage(test) {
  const { chromium } = createRequire(join(EXAMPLES, '../web/package.json'))('playwright-core');
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
  assert.ok(executablePath, 'There is no Chromium: run scripts/setup-tests.sh, or name it in CHROMIUM.');
  // Its own sandbox needs rights that root in a container does not have.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  test.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(START_MS);
  return page;
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}
