// Runs the real program with its own data, embedded or distributed, as PILOTHOUSE_BIN and PILOTHOUSE_ENGINE specify.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BreakableProxy } from './proxy';

const START_MS = 20_000;
const STOP_MS = 10_000;
/** The services of the distributed engine, set by `with-services`. */
const SERVICES = ['DATABASE_URL', 'REDIS_URL', 'RABBITMQ_URL', 'RABBITMQ_PREFIX'];

export type Settings = Record<string, string>;

export class Server {
  private processes: ChildProcess[] = [];

  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly settings: Settings,
    /** The proxy that browsers connect through. */
    readonly proxy: BreakableProxy,
  ) {}

  /** Starts an empty server; on the distributed engine it has the data of earlier files. */
  static async start(settings: Settings = {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), 'pilothouse-e2e-'));
    const port = await freePort();
    const server = new Server(folder, port, settings, await BreakableProxy.to(port));
    await server.start();
    return server;
  }

  /** The direct URL, without the proxy, for requests of the test itself. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it again, on the same data and at the same port. */
  async start(): Promise<void> {
    for (const args of this.roles()) this.processes.push(this.launch(args));
    await this.waitUntilReady();
  }

  /** Kills the processes without notice, like a power failure. */
  async kill9(): Promise<void> {
    await Promise.all(this.processes.splice(0).map((program) => end(program, 'SIGKILL')));
  }

  async close(): Promise<void> {
    this.proxy.close();
    if (isDistributed()) await this.stopTurns();
    await Promise.all(this.processes.splice(0).map((program) => end(program, 'SIGTERM')));
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Test files share the distributed engine's services: a turn left running would occupy a worker of the next file. */
  private async stopTurns(): Promise<void> {
    const sessions = `${this.url}/api/chat/sessions`;
    const response = await fetch(`${sessions}?limit=100&pinned_first=false`).catch(() => undefined);
    // A server with sign-in, or one that a test has killed, is left as it is.
    if (!response?.ok) return;
    const { sessions: listed } = (await response.json()) as {
      sessions: { id: string; is_processing: boolean }[];
    };
    const running = listed.filter((session) => session.is_processing);
    await Promise.all(running.map(({ id }) => fetch(`${sessions}/${id}/cancel`, { method: 'POST' })));
  }

  /** The log output of the processes. */
  async log(): Promise<string> {
    return readFile(this.logFile, 'utf8').catch(() => '');
  }

  private get logFile(): string {
    return join(this.folder, 'log');
  }

  private roles(): string[][] {
    const api = ['serve', '--port', String(this.port)];
    if (!isDistributed()) return [api];
    return [
      [...api, '--role', 'api'],
      ['serve', '--role', 'executor', '--role', 'scheduler'],
    ];
  }

  private launch(args: string[]): ChildProcess {
    const binary = process.env.PILOTHOUSE_BIN;
    if (!binary) throw new Error('PILOTHOUSE_BIN is not set: run web/e2e/test.sh.');
    const program = spawn(resolve(binary), [...args, '--data', join(this.folder, 'data')], {
      cwd: this.folder,
      env: {
        CHAT_PROVIDER: 'offline',
        NUM_COPILOT_WORKERS: '16',
        // All requests in a test come from the one local user.
        MAX_RUNNING_COPILOT_TURNS_PER_USER: '16',
        MAX_INFLIGHT_COPILOT_TURNS_PER_USER: '32',
        RUST_LOG: 'warn',
        ...(isDistributed() ? services() : {}),
        ...this.settings,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    program.stderr?.pipe(createWriteStream(this.logFile, { flags: 'a' }));
    return program;
  }

  private async waitUntilReady(): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (Date.now() < deadline && this.processes.every((program) => program.exitCode === null)) {
      const response = await fetch(`${this.url}/health/ready`).catch(() => undefined);
      if (response?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`The server did not start:\n${await this.log()}`);
  }
}

export function isDistributed(): boolean {
  return process.env.PILOTHOUSE_ENGINE === 'distributed';
}

function services(): Settings {
  const named = SERVICES.map((name) => [name, process.env[name] ?? '']);
  // Any free port for the executor's health endpoint.
  return { ...Object.fromEntries(named), COPILOT_EXECUTOR_PORT: '0' };
}

async function end(program: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, 'exit');
  program.kill(signal);
  const killer = setTimeout(() => program.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(killer);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (!address || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
