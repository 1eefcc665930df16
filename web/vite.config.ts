import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compress } from './compress.ts';

// The API that `npm run dev` uses.
const server = process.env.PILOTHOUSE_URL ?? 'http://127.0.0.1:8006';

export default defineConfig({
  // Asset URLs are relative to the page's `<base>`, so that one build works under any path.
  base: './',
  plugins: [react(), tailwindcss(), compress()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2022',
    // Data URLs would need a wider content security policy.
    assetsInlineLimit: 0,
    // The relevant number is the compressed size of the first load, which a test measures.
    chunkSizeWarningLimit: 1_500,
  },
  server: {
    // The original host is kept, so that the server can check the origin.
    proxy: { '/api': { target: server } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
  },
});
