import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, startProgram, startServer, until } from './support.mjs';

const KEY = 'a-key-that-only-the-two-programs-know';

test('the tool service answers a quick call, and completes an operation by webhook', async (t) => {
  const service = startProgram(t, process.execPath, [join(EXAMPLES, 'tool-service/service.mjs')], {
    env: { ...process.env, PORT: '0', RENDER_MS: '500', CHAT_INTERNAL_API_KEY: KEY },
  });
  const [, port] = await until(() => service.stdout.match(/listening on (\d+)/), () => service.stderr);
  const server = await startServer(t, { CHAT_TOOLS_FILE: await toolsFile(t, port), CHAT_INTERNAL_API_KEY: KEY });
  const session = await (await post(`${server}/api/chat/sessions`, {})).json();
  const send = async (message) => outputs(await post(`${server}/api/chat/sessions/${session.id}/stream`, { message }));

  const [converted] = await send('/tool convert_temperature {"celsius": 21}');
  assert.match(JSON.stringify(converted), /69\.8/);

  const [started] = await send('/tool render_report {"title": "Tides"}');
  assert.equal(started.type, 'operation_started');
  const [rendered] = await outputs(await fetch(`${server}/api/chat/tasks/${started.task_id}/stream`));
  assert.match(JSON.stringify(rendered), /report\.pdf/);
  assert.equal(service.stderr, '');
});

/** The file of the example, with the port that the service has taken. */
async function toolsFile(t, port) {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-tools-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'tools.json');
  const example = await readFile(join(EXAMPLES, 'tool-service/tools.json'), 'utf8');
  await writeFile(file, example.replaceAll('127.0.0.1:9000', `127.0.0.1:${port}`));
  return file;
}

function post(url, body) {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/** The results of the tool calls of a stream, read to its end. */
async function outputs(response) {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(text, /data: \[DONE\]\n\n$/);
  const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data));
  return chunks.filter((chunk) => chunk.type === 'tool-output-available').map((chunk) => chunk.output);
}
