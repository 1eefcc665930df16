import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { cuttingProxy, EXAMPLES, SLOW, SLOW_LENGTH, startProgram, startServer, storedTexts } from './support.mjs';

test('the Python client prints a whole response although the connection is cut', async (t) => {
  const server = await startServer(t);
  const proxy = await cuttingProxy(t, server, 2500);
  const first = await chat(t, proxy.url, SLOW);
  assert.equal(proxy.cuts, 1, 'the connection was cut');
  assert.match(first.stderr, /connection lost, resuming/);
  assert.equal(first.stdout.trimEnd().length, SLOW_LENGTH);
  const [, session] = first.stderr.match(/^session (\S+)/);
  assert.deepEqual(await storedTexts(server, session), { user: [SLOW], assistant: [first.stdout.trimEnd()] });

  const second = await chat(t, server, '--session', session, '/tool search_docs {"query": "resume"}');
  assert.match(second.stderr, /\[search_docs /);
  assert.equal((await storedTexts(server, session)).user.length, 2, 'the second message is in the same session');
});

async function chat(t, url, ...args) {
  const program = startProgram(t, 'python3', [join(EXAMPLES, 'python/chat.py'), ...args], {
    env: { ...process.env, PILOTHOUSE_URL: url },
  });
  const [code] = await program.ended;
  assert.equal(code, 0, program.stderr);
  return program;
}
