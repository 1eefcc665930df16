import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { alias: { '@': fileURLToPath(new URL('../src', import.meta.url)) } },
  test: {
    // `make pictures` uses the same harness to take the pictures of the documentation.
    include: [process.env.PICTURES ? 'e2e/pictures/take.ts' : 'e2e/**/*.e2e.ts'],
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
