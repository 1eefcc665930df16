// Starts the server named by PILOTHOUSE_BIN on a free port with its own data folder, runs the tests against it, stops it,
// and exits with the result of the tests. With `--distributed` the server is two processes on the Postgres, Redis and
// RabbitMQ from the environment. With PILOTHOUSE_URL set it uses that server instead.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const START_MS = 20_000;
const STOP_MS = 10_000;
const here = import.meta.dirname;

const [engine, options] =
  process.argv[2] === '--distributed' ? ['distributed', process.argv.slice(3)] : ['embedded', process.argv.slice(2)];

process.exitCode = process.env.PILOTHOUSE_URL
  ? await runTests(process.env.PILOTHOUSE_URL)
  : await withServer(runTests);

async function withServer(use) {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-'));
  const port = await freePort();
  const processes = [];
  try {
    const api = ['serve', '--port', String(port)];
    if (engine === 'embedded') processes.push(start(api, folder));
    else processes.push(start([...api, '--role', 'api'], folder), start(['serve', '--role', 'executor'], folder));
    const url = `http://127.0.0.1:${port}`;
    await untilAlive(url, processes);
    return await use(url);
  } finally {
    await Promise.all(processes.map(stop));
    await rm(folder, { recursive: true, force: true });
  }
}

function start(args, folder) {
  const binary = resolve(process.env.PILOTHOUSE_BIN ?? join(here, '../../target/debug/pilothouse'));
  return spawn(binary, [...args, '--data', join(folder, 'data')], {
    cwd: folder,
    env: {
      CHAT_PROVIDER: 'offline',
      NUM_COPILOT_WORKERS: '64',
   // All readers of the tests are one user.
      MAX_RUNNING_COPILOT_TURNS_PER_USER: '64',
      MAX_INFLIGHT_COPILOT_TURNS_PER_USER: '64',
      RUST_LOG: 'warn',
      ...(engine === 'distributed' ? distributed() : {}),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The servers from the environment, and a free port for the health of the executor. */
function distributed() {
  const names = ['DATABASE_URL', 'REDIS_URL', 'RABBITMQ_URL', 'RABBITMQ_PREFIX'];
  const servers = names.map((name) => [name, process.env[name] ?? '']);
  return { ...Object.fromEntries(servers), COPILOT_EXECUTOR_PORT: '0' };
}

async function stop(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const killer = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(killer);
}

/** Explicit files, because Node versions treat a folder differently. */
async function runTests(url) {
  const names = (await readdir(here)).filter((name) => name.endsWith('.test.mjs')).sort();
  const files = names.map((name) => join(here, name));
  const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', ...options, ...files], {
    env: { ...process.env, PILOTHOUSE_URL: url },
    stdio: 'inherit',
  });
  const [code] = await once(tests, 'exit');
  return code ?? 1;
}

async function untilAlive(url, processes) {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && processes.every((server) => server.exitCode === null)) {
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
