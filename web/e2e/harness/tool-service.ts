// The service behind the tools of docs/demo: one tool responds slowly, one accepts the work and delivers its result
// later. It also plays the agent generator. The test decides when.

import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server, Settings } from './server';

const KEY = 'internal-internal-internal-internal';
const TOOLS = join(import.meta.dirname, '../../../docs/demo/tools.json');

type ToolCall = { path: string; body: { operation_id?: string }; response: ServerResponse };

export class ToolService {
  private readonly calls: ToolCall[] = [];
  private readonly file: string;

  private constructor(private readonly server: HttpServer) {
    const { port } = server.address() as AddressInfo;
    this.file = join(tmpdir(), `pilothouse-e2e-tools-${process.pid}-${port}.json`);
    writeFileSync(this.file, readFileSync(TOOLS, 'utf8').replaceAll('127.0.0.1:9000', `127.0.0.1:${port}`));
    server.on('request', async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      this.calls.push({ path: request.url ?? '', body: body ? JSON.parse(body) : {}, response });
      if (request.url === '/print') response.writeHead(202).end();
    });
  }

  static async start(): Promise<ToolService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ToolService(server);
  }

  /** For the server that uses these tools. */
  get settings(): Settings {
    const { port } = this.server.address() as AddressInfo;
    return {
      CHAT_TOOLS_FILE: this.file,
      CHAT_INTERNAL_API_KEY: KEY,
      CHAT_TOOL_BUDGET_SECONDS: '1',
      AGENTGENERATOR_HOST: '127.0.0.1',
      AGENTGENERATOR_PORT: String(port),
    };
  }

  /** Responds to the pending `/weigh` call. */
  async weigh(tonnes: number): Promise<void> {
    await this.respond('/weigh', { tonnes });
  }

  /** Plans the agent of the pending request to the generator. */
  async plan(...steps: string[]): Promise<void> {
    const described = steps.map((description) => ({ description, action: 'add_block' }));
    const plan = { success: true, type: 'instructions', steps: described };
    await this.respond('/api/decompose-description', plan);
  }

  /** Writes the agent that was planned. */
  async generate(agent_json: object): Promise<void> {
    await this.respond('/api/generate-agent', { success: true, agent_json });
  }

  private async respond(path: string, body: object): Promise<void> {
    const { response } = await this.nextCall(path);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  }

  /** Completes the operation of the pending `/print` call. */
  async print(server: Server, file: string): Promise<void> {
    const { body } = await this.nextCall('/print');
    const response = await fetch(`${server.url}/api/chat/operations/${body.operation_id}/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY },
      body: JSON.stringify({ success: true, result: { file } }),
    });
    if (!response.ok) throw new Error(`The result was refused: ${response.status} ${await response.text()}`);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.file, { force: true });
  }

  /** The next call to a path, once it has arrived. */
  private async nextCall(path: string): Promise<ToolCall> {
    const deadline = Date.now() + 10_000;
    while (Date.now() < deadline) {
      const at = this.calls.findIndex((call) => call.path === path);
      const [call] = at < 0 ? [] : this.calls.splice(at, 1);
      if (call) return call;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`No call to ${path}.`);
  }
}
