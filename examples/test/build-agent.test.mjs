import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXAMPLES, startProgram, startServer } from './support.mjs';

test('an agent is validated, rehearsed, saved, run and revised by HTTP', async (t) => {
  const server = await startServer(t);
  const built = await build(t, server);
  assert.equal(built.code, 0, built.stderr);
  assert.deepEqual(built.stdout.trimEnd().split('\n'), [
    'validated: valid',
    'rehearsed: verified, outputs {"report": ["Vlissingen: 4 m"], "message": ["Alarm in Vlissingen"]}',
    'saved: Tide alarm, version 1',
    'ran: COMPLETED, outputs {"report": ["Vlissingen: 4 m"], "message": ["Alarm in Vlissingen"]}',
    'revised: version 2, changed check',
    'ran: COMPLETED, outputs {"report": ["Vlissingen: 4 m"], "message": ["All is well"]}',
    'refused: STALE_VERSION, newest version 2',
    'revised: version 3, changed check',
    'ran: COMPLETED, outputs {"report": ["Vlissingen: 4 m"], "message": ["Alarm in Vlissingen"]}',
  ]);
});

test('the mistakes of a spec are listed with their places', async (t) => {
  const server = await startServer(t);
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-spec-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const spec = join(folder, 'mistaken.yaml');
  await writeFile(spec, 'name: Mistaken\nsteps: {sum: {block: Calculater, a: 1}}\n');
  const built = await build(t, server, spec);
  assert.equal(built.code, 1);
  assert.match(built.stdout, /^steps\.sum\.block: .*\(unknown_block\)$/m);
});

async function build(t, url, ...args) {
  const program = startProgram(t, 'python3', [join(EXAMPLES, 'build-agent/build.py'), ...args], {
    env: { ...process.env, PILOTHOUSE_URL: url },
  });
  const [code] = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}
