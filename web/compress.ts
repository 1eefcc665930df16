// Compresses the built files once, at the best level, so that the server never has to.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Text files. `index.html` is left out: the server writes the base path into it. */
const TEXT = /\.(css|js|json|svg|txt|webmanifest)$/;

const brotli = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};

/** Puts `x.br` and `x.gz` beside each file `x` where they are smaller. */
export function compress(): Plugin {
  let folder = '';
  return {
    name: 'compress',
    apply: 'build',
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    // The files of `public` have been copied by now.
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (TEXT.test(name)) compressFile(join(folder, name));
      }
    },
  };
}

function compressFile(path: string): void {
  const content = readFileSync(path);
  const forms = { br: brotliCompressSync(content, brotli), gz: gzipSync(content, { level: 9 }) };
  for (const [ending, form] of Object.entries(forms)) {
    if (form.length < content.length) writeFileSync(`${path}.${ending}`, form);
  }
}
