import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const { PICTURES, MEASURES } = process.env;
const WORK = PICTURES ? 'e2e/pictures/take.ts' : MEASURES ? 'e2e/measures/smooth.ts' : 'e2e/**/*.e2e.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { alias: { '@': fileURLToPath(new URL('../src', import.meta.url)) } },
  test: {
    // `make pictures` and `make bench` use the same harness for what is no test.
    include: [WORK],
    environment: 'node',
    globalSetup: 'e2e/harness/browser.ts',
    // Each file has a server of its own, and a browser at work leaves little of a small machine for another.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['verbose'],
  },
});
