import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const { PICTURES, MEASURES } = process.env;
const WORK = PICTURES
  ? 'e2e/pictures/*.pictures.ts'
  : MEASURES
    ? 'e2e/measures/smoothness.ts'
    : 'e2e/**/*.e2e.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { alias: { '@': fileURLToPath(new URL('../src', import.meta.url)) } },
  test: {
    // `make pictures` and `make bench` use the same harness, but aren't tests.
    include: [WORK],
    environment: 'node',
    globalSetup: 'e2e/harness/browser.ts',
    // Each file has its own server, and a small machine has no capacity for a second browser session.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['verbose'],
  },
});
