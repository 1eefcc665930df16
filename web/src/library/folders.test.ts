import { describe, expect, it } from 'vitest';
import type { FolderNode } from '@/protocol';
import { flat, within } from './folders';
import { folder } from './testing/folder';

const tree = [folder('a', [folder('b', [folder('c')])]), folder('d')];

describe('the folders', () => {
  it('are listed from top to bottom with how deep they are', () => {
    expect(flat(tree).map(({ path, depth }) => [path, depth])).toEqual([
      ['a', 0],
      ['a / b', 1],
      ['a / b / c', 2],
      ['d', 0],
    ]);
  });

  it('cannot be moved into themselves', () => {
    expect([...within(tree[0] as FolderNode)]).toEqual(['a', 'b', 'c']);
  });
});
