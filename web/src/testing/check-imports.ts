// Finds imports that `import-rules.ts` forbids, and import cycles.

import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import { MAY_IMPORT, TESTS_MAY_IMPORT } from './import-rules';

type Import = { from: string; to: string };

/** One sentence for each import that the rules forbid, and for each cycle. `files` has the texts by path in `src`. */
export function violations(files: ReadonlyMap<string, string>, rules = MAY_IMPORT): string[] {
  const imports = [...files].flatMap(([path, text]) => importsOf(path, text, files));
  const product = imports.filter(({ from }) => !isTest(from));
  return [
    ...undeclaredFolders([...files.keys()], rules),
    ...imports.flatMap((one) => forbidden(one, rules) ?? []),
    ...foldersOf([...files.keys()]).flatMap((folder) => cycleIn(folder, product) ?? []),
  ];
}

function importsOf(from: string, text: string, files: ReadonlyMap<string, string>): Import[] {
  if (!/\.tsx?$/.test(from)) return [];
  return ts.preProcessFile(text).importedFiles.flatMap(({ fileName }) => {
    const to = resolve(from, fileName, files);
    return to ? [{ from, to }] : [];
  });
}

/** The imported file; undefined for a package. */
function resolve(from: string, specifier: string, files: ReadonlyMap<string, string>): string | undefined {
  const isOurs = specifier.startsWith('@/') || specifier.startsWith('.');
  if (!isOurs) return undefined;
  const path = specifier.startsWith('@/') ? specifier.slice(2) : join(dirname(from), specifier);
  return ['', '.ts', '.tsx', '/index.ts'].map((end) => path + end).find((name) => files.has(name));
}

function undeclaredFolders(paths: string[], rules: typeof MAY_IMPORT): string[] {
  const folders = new Set(paths.filter((path) => path.includes('/')).map(topFolder));
  return [...folders]
    .filter((folder) => folder !== 'testing' && !(folder in rules))
    .map((folder) => `${folder} is a new folder: declare in src/testing/import-rules.ts what it may import.`);
}

function forbidden({ from, to }: Import, rules: typeof MAY_IMPORT): string | null {
  const [folder, target] = [topFolder(from), topFolder(to)];
  if (!isTest(from) && isTest(to)) return `${from} imports ${to}, which is only for tests.`;
  // The files directly in `src` put the app together.
  if (folder === '' || folder === target || folder === 'testing') return null;
  if (target === '') return `${from} imports ${to}, but only other files directly in src may do so.`;
  const allowed = [...(rules[folder] ?? []), ...(isTest(from) ? TESTS_MAY_IMPORT : [])];
  if (allowed.includes(target)) return null;
  return `${from} imports ${to}, but ${folder} may not import ${target}. It may import: ${allowed.join(', ') || 'nothing'}.`;
}

/** The first cycle between the files and folders directly in a folder. */
function cycleIn(folder: string, imports: Import[]): string | null {
  const prefix = folder === '' ? '' : `${folder}/`;
  const arrows = new Map<string, Map<string, Import>>();
  for (const one of imports) {
    if (!one.from.startsWith(prefix) || !one.to.startsWith(prefix)) continue;
    const [from, to] = [childOf(prefix, one.from), childOf(prefix, one.to)];
    if (from === to) continue;
    arrows.set(from, (arrows.get(from) ?? new Map()).set(to, one));
  }
  const cycle = findCycle(arrows);
  if (!cycle) return null;
  const reasons = cycle.map(({ from, to }) => `${from} imports ${to}`).join(', and ');
  return `${folder || 'src'} has an import cycle: ${reasons}.`;
}

/** Depth first search. */
function findCycle(arrows: ReadonlyMap<string, ReadonlyMap<string, Import>>): Import[] | null {
  const done = new Set<string>();
  const path: { node: string; via: Import }[] = [];
  const visit = (node: string): Import[] | null => {
    for (const [next, via] of arrows.get(node) ?? []) {
      path.push({ node, via });
      const start = path.findIndex((step) => step.node === next);
      const cycle =
        start >= 0 ? path.slice(start).map((step) => step.via) : done.has(next) ? null : visit(next);
      if (cycle) return cycle;
      path.pop();
    }
    done.add(node);
    return null;
  };
  for (const node of arrows.keys()) {
    const cycle = done.has(node) ? null : visit(node);
    if (cycle) return cycle;
  }
  return null;
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /(^|\/)testing\//.test(path);
}

/** The first part of a path; empty for a file directly in `src`. */
function topFolder(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

function childOf(prefix: string, path: string): string {
  return path.slice(prefix.length).split('/')[0] ?? '';
}

/** All folders on the paths; `src` itself is empty. */
function foldersOf(paths: string[]): string[] {
  const folders = new Set<string>(['']);
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders];
}
