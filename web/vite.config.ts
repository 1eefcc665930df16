import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compress } from './compress.ts';

// Where `npm run dev` finds the API.
const server = process.env.PILOTHOUSE_URL ?? 'http://127.0.0.1:8006';

export default defineConfig({
  // Addresses of assets are relative to the `<base>` of the page, so the same build works below any path.
  base: './',
  plugins: [react(), tailwindcss(), compress()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: 'es2022',
    // Data addresses would need a wider content security policy.
    assetsInlineLimit: 0,
    // What counts is the compressed size of the first load, which a test measures.
    chunkSizeWarningLimit: 1_500,
  },
  server: {
    // The host stays the page's own, so that the server knows the origin.
    proxy: { '/api': { target: server } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
  },
});
