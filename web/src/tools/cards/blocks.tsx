// Cards of blocks: search results, the form to run one, and the outputs of a single block.

import { asRecord } from '@/lib/json';
import type { BlockInfo } from '@/protocol';
import { Badge } from '@/ui/feedback/badge';
import { Fold } from '@/ui/page/fold';
import { blockName, humanName } from '@/ui/text/names';
import { Json } from '@/ui/values/json';
import { Outputs } from '@/ui/values/values';
import type { CardKinds, CardProps } from '../types';
import { Row, Rows } from './parts';
import { RunForm } from './run-form';

function BlockListCard({ response: { blocks, query } }: CardProps<'block_list'>) {
  if (blocks.length === 0) return <p className="text-muted">No blocks found for “{query}”.</p>;
  return (
    <Rows>
      {blocks.map((block) => (
        <Row key={block.id}>
          <FoundBlock block={block} />
        </Row>
      ))}
    </Rows>
  );
}

function FoundBlock({ block }: { block: BlockInfo }) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium break-words">{blockName(block.name)}</span>
        {block.categories.map((category) => (
          <Badge key={category}>{humanName(category)}</Badge>
        ))}
      </p>
      <p className="mt-0.5 line-clamp-3 break-words text-muted">{block.description}</p>
      {block.required_inputs.length > 0 && (
        <p className="mt-1 text-xs break-words text-muted">
          Required: {block.required_inputs.map(humanName).join(', ')}
        </p>
      )}
    </>
  );
}

function BlockDetailsCard({ response: { block }, part, current }: CardProps<'block_details'>) {
  return (
    <>
      <div className="min-w-0">
        <p className="font-medium break-words">{blockName(block.name)}</p>
        <p className="break-words text-muted">{block.description}</p>
      </div>
      <RunForm
        name={part.toolCallId}
        current={current}
        schema={block.inputs}
        initial={asRecord(asRecord(part.input).input_data)}
        runnable={{ what: 'block', name: block.name, id: block.id }}
      />
      <Fold title="Outputs">
        <Json value={block.outputs} />
      </Fold>
    </>
  );
}

function BlockOutputCard({ response: { outputs, is_dry_run, success, message } }: CardProps<'block_output'>) {
  return (
    <>
      {is_dry_run && (
        <p>
          <Badge tone="warn">Dry run</Badge> <span className="text-muted">Nothing was executed.</span>
        </p>
      )}
      {!success && <p className="break-words text-bad">{message}</p>}
      {(!is_dry_run || Object.keys(outputs).length > 0) && <Outputs outputs={outputs} />}
    </>
  );
}

export const blocks: CardKinds<'block_list' | 'block_details' | 'block_output'> = {
  block_list: {
    Card: BlockListCard,
    note: ({ count }) => (count === 1 ? '1 block' : `${count} blocks`),
  },
  block_details: {
    Card: BlockDetailsCard,
    opens: true,
    status: (_, { current }) => (current ? 'waiting' : 'done'),
    phrase: ({ block }) => `Inputs for ${blockName(block.name)}`,
  },
  block_output: {
    Card: BlockOutputCard,
    opens: true,
    phrase: ({ block_name }) => `Ran ${blockName(block_name)}`,
    status: ({ success }) => (success === false ? 'failed' : 'done'),
  },
};
