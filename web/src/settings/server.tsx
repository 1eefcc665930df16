import { useAbout } from '@/api/about';
import { Badge } from '@/ui/badge';
import { Failure, Loading } from '@/ui/states';
import { Facts, Section } from './section';

const ENGINES = {
  embedded: 'Embedded: one process with a store of its own',
  distributed: 'Distributed: Postgres, Redis and RabbitMQ',
};

/** Who answers, and what runs here. */
export function Server() {
  const { data: about, isPending, isError, error, refetch } = useAbout();
  return (
    <Section id="server" title="Model and server">
      {isPending && <Loading label="Loading the server" rows={1} />}
      {isError && <Failure error={error} onRetry={() => refetch()} />}
      {about && (
        <>
          <Facts
            facts={[
              [
                'Model',
                <span key="model" className="inline-flex flex-wrap items-center gap-2">
                  <code>{about.model.name}</code>
                  {about.model.is_offline ? (
                    <Badge tone="warn">Offline pilot</Badge>
                  ) : (
                    <span className="text-muted">by {about.model.provider}</span>
                  )}
                </span>,
              ],
              ['Version', about.version],
              ['Engine', ENGINES[about.engine]],
              ['Login', about.auth_mode === 'local' ? 'None' : loginWords(about.allow_anonymous)],
              ['Credits', about.credits_enabled ? 'Runs cost credits' : 'Runs cost nothing'],
            ]}
          />
          {about.model.is_offline && (
            <p className="rounded-lg bg-warn-soft px-4 py-3 text-sm">
              The offline pilot follows commands and asks no model. For a real one, start the server with{' '}
              <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code>.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

function loginWords(guests: boolean): string {
  return guests ? 'With a token or a key; guests may use sessions' : 'With a token or a key';
}
