// @vitest-environment node

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Long on a busy machine: the whole document is read and checked. */
const PATIENCE = 240_000;

test('the types of the API are those of its document', { timeout: PATIENCE }, () => {
  // The very command that writes them, told to compare instead.
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'gen', '--', '--check'], { encoding: 'utf8' });
  const advice = 'src/protocol/api.ts is stale; write it anew with `make gen`.';
  expect(status, `${advice}\n${stdout}${stderr}`).toBe(0);
});
