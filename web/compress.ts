// Compresses what was built, once and well, so that the server never has to.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** What is text. The document is left out: the server writes into it where the page lives. */
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
    // By now the files of `public` are there as well.
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
