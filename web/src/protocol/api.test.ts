// @vitest-environment node

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Long, because the whole document is read and checked on a busy machine. */
const PATIENCE = 240_000;

test('the generated API types match the API document', { timeout: PATIENCE }, () => {
  // The same command that generates them, in check mode.
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'gen', '--', '--check'], { encoding: 'utf8' });
  const advice = 'src/protocol/api.ts is stale; regenerate it with `make gen`.';
  expect(status, `${advice}\n${stdout}${stderr}`).toBe(0);
});
