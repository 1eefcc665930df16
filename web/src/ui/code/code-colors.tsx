// Syntax highlighting. Loaded separately: the grammars are larger than the rest of the page.

import { common, createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** The code with classes that `code-block.css` colors. An unknown language is left as it is. */
export function highlight(code: string, language: string): ReactNode {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return code;
  return elementsOf(lowlight.highlight(name, code).children);
}

function elementsOf(nodes: Node[]): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const names = node.properties.className;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their index.
      <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>
        {elementsOf(node.children)}
      </span>
    );
  });
}
