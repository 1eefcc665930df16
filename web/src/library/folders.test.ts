import { describe, expect, it } from 'vitest';
import type { FolderNode } from '@/protocol';
import { flattenFolders, subtreeIds } from './folders';
import { folder } from './testing/folder';

const tree = [folder('a', [folder('b', [folder('c')])]), folder('d')];

describe('library folders', () => {
  it('are listed from top to bottom with their depth', () => {
    expect(flattenFolders(tree).map(({ path, depth }) => [path, depth])).toEqual([
      ['a', 0],
      ['a / b', 1],
      ['a / b / c', 2],
      ['d', 0],
    ]);
  });

  it('cannot be moved into themselves', () => {
    expect([...subtreeIds(tree[0] as FolderNode)]).toEqual(['a', 'b', 'c']);
  });
});
