import { Button } from '@/ui/button';
import { SchemaForm } from '@/ui/schema-form';
import { type Runnable, runMessage } from '../messages';
import { asRecord } from '../records';
import { useCardSend } from '../use-card-send';
import { SendOutcome } from './parts';

type Props = {
  /** The card's own. */
  name: string;
  current: boolean;
  schema: unknown;
  initial?: Record<string, unknown>;
  runnable: Runnable;
};

/** The inputs of an agent or a block, sent by way of the conversation. */
export function RunForm({ name, current, schema, initial, runnable }: Props) {
  const send = useCardSend(name);
  if (send.sent !== null) return <SendOutcome send={send} sent="Sent with these inputs." />;
  if (!current) return null;
  const takesNothing = Object.keys(asRecord(asRecord(schema).properties)).length === 0;
  const label = runnable.what === 'agent' ? 'Run the agent' : 'Run the block';
  return (
    <div className="flex flex-col gap-2">
      {takesNothing ? (
        <div>
          <Button kind="primary" busy={send.sending} onClick={() => void send.submit(runMessage(runnable))}>
            {label}
          </Button>
        </div>
      ) : (
        <SchemaForm
          schema={schema}
          initial={initial}
          submitLabel={label}
          busy={send.sending}
          onSubmit={(values) => void send.submit(runMessage(runnable, values))}
        />
      )}
      <SendOutcome send={send} sent="" />
    </div>
  );
}
