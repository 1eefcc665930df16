import { Link } from '@tanstack/react-router';
import { Button } from '@/ui/button';
import { SchemaForm, type Typed } from '@/ui/schema-form';
import { useRemembered } from '../card-memory';
import { type Runnable, runMessage } from '../messages';
import { asRecord } from '../records';
import { type Unfit, unfitForChat } from '../unfit-for-chat';
import { useCardSend } from '../use-card-send';
import { SendOutcome } from './parts';

type Props = {
  /** The card's own. */
  name: string;
  current: boolean;
  schema: unknown;
  initial?: Record<string, unknown>;
  runnable: Runnable;
  /** Where it can be run as well; as a tool has sent it, if it has. */
  libraryAgentId?: unknown;
};

const NOTHING_TYPED: Typed = new Map();

/** The inputs of an agent or a block, sent by way of the conversation. */
export function RunForm({ name, current, schema, initial, runnable, libraryAgentId }: Props) {
  const send = useCardSend(name);
  const [typed, setTyped] = useRemembered(`${name} typed`, NOTHING_TYPED);
  if (send.sent !== null) return <SendOutcome send={send} sent="Sent with these inputs." />;
  if (!current) return null;
  const unfit = unfitForChat(schema);
  if (unfit) return <RunElsewhere why={unfit} what={runnable.what} agentId={libraryAgentId} />;
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
          typed={typed}
          onTyped={setTyped}
          onSubmit={(values) => void send.submit(runMessage(runnable, values))}
        />
      )}
      <SendOutcome send={send} sent="" />
    </div>
  );
}

const REASONS: Record<Unfit, string> = {
  secret: 'It takes a secret, which anybody who reads this conversation could see',
  file: 'It takes a file, which is too large for a message',
};

type ElsewhereProps = { why: Unfit; what: Runnable['what']; agentId: unknown };

function RunElsewhere({ why, what, agentId }: ElsewhereProps) {
  const reason = REASONS[why];
  if (what === 'block') return <p className="text-muted">{reason}, so it cannot be filled in here.</p>;
  if (typeof agentId !== 'string' || !agentId)
    return <p className="text-muted">{reason}. The agent can be run from the library.</p>;
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
