import { Link } from '@tanstack/react-router';
import { asRecord } from '@/lib/json';
import { Button } from '@/ui/buttons/button';
import { type FormDrafts, SchemaForm } from '@/ui/schema-form/schema-form';
import { useCardState } from '../card-state';
import { type Runnable, runMessage } from '../messages';
import { type UnsendableInput, unsendableInput } from '../unsendable-input';
import { useCardSend } from '../use-card-send';
import { SendOutcome } from './parts';

type Props = {
  /** Unique to the card. */
  name: string;
  current: boolean;
  schema: unknown;
  initial?: Record<string, unknown>;
  runnable: Runnable;
  /** Its id in the library, if any. Untrusted tool input. */
  libraryAgentId?: unknown;
};

const NOTHING_TYPED: FormDrafts = new Map();

/** Form for the inputs of an agent or a block, sent as a chat message. */
export function RunForm({ name, current, schema, initial, runnable, libraryAgentId }: Props) {
  const send = useCardSend(name);
  const [typed, setTyped] = useCardState(`${name} typed`, NOTHING_TYPED);
  if (send.sent !== null) return <SendOutcome send={send} sent="Started with these inputs." />;
  if (!current) return null;
  const unsendable = unsendableInput(schema);
  if (unsendable) return <RunElsewhere why={unsendable} what={runnable.what} agentId={libraryAgentId} />;
  const hasNoInputs = Object.keys(asRecord(asRecord(schema).properties)).length === 0;
  const label = runnable.what === 'agent' ? 'Run agent' : 'Run block';
  return (
    <div className="flex flex-col gap-2">
      {hasNoInputs ? (
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
          typed={typed}
          onTyped={setTyped}
          onSubmit={(values) => void send.submit(runMessage(runnable, values))}
        />
      )}
      <SendOutcome send={send} sent="" />
    </div>
  );
}

const REASONS: Record<UnsendableInput, string> = {
  secret: 'It needs a secret, which would be visible in this chat',
  file: 'It needs a file, which is too large for a message',
};

type ElsewhereProps = { why: UnsendableInput; what: Runnable['what']; agentId: unknown };

function RunElsewhere({ why, what, agentId }: ElsewhereProps) {
  const reason = REASONS[why];
  if (what === 'block') return <p className="text-muted">{reason}, so you can't run it here.</p>;
  if (typeof agentId !== 'string' || !agentId)
    return <p className="text-muted">{reason}. Add the agent to your library to run it.</p>;
  return (
    <p className="text-muted">
      {reason}:{' '}
      <Link
        to="/library/agents/$id"
        params={{ id: agentId }}
        className="font-medium text-accent underline underline-offset-2"
      >
        run it from the library
      </Link>
      .
    </p>
  );
}
