// Code in colours. Loaded apart from the page: the grammars are larger than all the rest of it.

import { common, createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** The code with classes that `code-block.css` colours. An unknown language stays as it is. */
export function highlight(code: string, language: string): ReactNode {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return code;
  return shown(lowlight.highlight(name, code).children);
}

function shown(nodes: Node[]): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const names = node.properties.className;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of code have no identity but their place.
      <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>
        {shown(node.children)}
      </span>
    );
  });
}
