// Converts `<br>` to a line break: the only HTML that models write on purpose, in tables.

type Node = { type: string; value?: string; children?: Node[] };

export function lineBreaks() {
  return (tree: Node): void => replaceIn(tree);
}

function replaceIn(parent: Node): void {
  for (const [index, child] of (parent.children ?? []).entries()) {
    if (child.type === 'html' && /^<br\s*\/?>$/i.test(child.value?.trim() ?? '')) {
      parent.children?.splice(index, 1, { type: 'break' });
    } else {
      replaceIn(child);
    }
  }
}
