// Starts the server named by PILOTHOUSE_BIN on a free port with data of its own, runs the tests against it, stops
// it, and exits as the tests did. With PILOTHOUSE_URL set it uses that server instead.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const START_MS = 20_000;
const STOP_MS = 10_000;
const here = import.meta.dirname;

process.exitCode = process.env.PILOTHOUSE_URL
  ? await runTests(process.env.PILOTHOUSE_URL)
  : await withServer(runTests);

async function withServer(use) {
  const binary = resolve(process.env.PILOTHOUSE_BIN ?? join(here, '../../target/debug/pilothouse'));
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-'));
  const port = await freePort();
  const server = spawn(binary, ['serve', '--port', String(port), '--data', join(folder, 'data')], {
    cwd: folder,
    env: { CHAT_PROVIDER: 'offline', NUM_COPILOT_WORKERS: '64', RUST_LOG: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(server, 'exit');
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilAlive(url, server);
    return await use(url);
  } finally {
    server.kill('SIGTERM');
    const killer = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(killer);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Named files, because versions of Node differ in what they make of a folder. */
async function runTests(url) {
  const names = (await readdir(here)).filter((name) => name.endsWith('.test.mjs')).sort();
  const files = names.map((name) => join(here, name));
  const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', ...process.argv.slice(2), ...files], {
    env: { ...process.env, PILOTHOUSE_URL: url },
    stdio: 'inherit',
  });
  const [code] = await once(tests, 'exit');
  return code ?? 1;
}

async function untilAlive(url, server) {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && server.exitCode === null) {
    const answer = await fetch(`${url}/health/live`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server did not come up');
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}
