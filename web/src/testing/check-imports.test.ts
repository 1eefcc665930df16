// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { violations } from './check-imports';

const SRC = join(import.meta.dirname, '..');
const RULES = { ui: [], graph: ['ui'], library: ['ui', 'graph'], styleguide: ['ui'] };

const check = (files: Record<string, string>) => violations(new Map(Object.entries(files)), RULES);

test('the page follows the rules', () => {
  const paths = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = new Map(
    paths.map((path) => [path.slice(SRC.length + 1).replaceAll(sep, '/'), readFileSync(path, 'utf8')]),
  );
  expect(violations(files)).toEqual([]);
});

test('a forbidden import is reported, also of a type or when it is lazy', () => {
  const library = 'export type A = 1;';
  const message =
    'graph/view.tsx imports library/run.ts, but graph may not import library. It may import: ui.';
  for (const text of [
    `import { a } from '@/library/run';`,
    `import type { A } from '../library/run';`,
    `export * from '@/library/run';`,
    `const run = () => import('@/library/run');`,
  ]) {
    expect(check({ 'graph/view.tsx': text, 'library/run.ts': library })).toEqual([message]);
  }
});

test('a cycle is reported at every level, with the imports that make it', () => {
  expect(
    check({
      'ui/buttons/button.tsx': `import '../feedback/spinner';`,
      'ui/buttons/look.ts': '',
      'ui/feedback/spinner.tsx': '',
      'ui/feedback/states.tsx': `import '../buttons/look';`,
    }),
  ).toEqual([
    'ui has an import cycle: ui/buttons/button.tsx imports ui/feedback/spinner.tsx, and ui/feedback/states.tsx imports ui/buttons/look.ts.',
  ]);
  expect(
    check({ 'ui/a.ts': `import './b';`, 'ui/b.ts': `import './c';`, 'ui/c.ts': `import './a';` }),
  ).toEqual([
    'ui has an import cycle: ui/a.ts imports ui/b.ts, and ui/b.ts imports ui/c.ts, and ui/c.ts imports ui/a.ts.',
  ]);
});

test('only tests import test helpers and the style guide', () => {
  const files = { 'testing/server.ts': '', 'styleguide/fixtures.ts': '' };
  const text = `import '@/testing/server';\nimport '@/styleguide/fixtures';`;
  expect(check({ ...files, 'graph/view.test.tsx': text })).toEqual([]);
  expect(check({ ...files, 'graph/testing/show.tsx': text })).toEqual([]);
  expect(check({ ...files, 'graph/view.tsx': text })).toEqual([
    'graph/view.tsx imports testing/server.ts, which is only for tests.',
    'graph/view.tsx imports styleguide/fixtures.ts, but graph may not import styleguide. It may import: ui.',
  ]);
});

test('files directly in src import everything, and only each other import them', () => {
  expect(check({ 'routes.tsx': `import '@/library/page';`, 'library/page.tsx': '' })).toEqual([]);
  expect(check({ 'routes.tsx': '', 'library/page.tsx': `import '@/routes';` })).toEqual([
    'library/page.tsx imports routes.tsx, but only other files directly in src may do so.',
  ]);
});

test('a new folder must be declared', () => {
  expect(check({ 'voice/page.tsx': '' })).toEqual([
    'voice is a new folder: declare in src/testing/import-rules.ts what it may import.',
  ]);
});
