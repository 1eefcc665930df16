import { useAbout } from '@/api/about';
import { Badge } from '@/ui/feedback/badge';
import { Failure, Loading } from '@/ui/page/states';
import { Facts, Section } from './section';

const ENGINES = {
  embedded: 'Embedded (single process)',
  distributed: 'Distributed (Postgres, Redis and RabbitMQ)',
};

const PROVIDERS: Record<string, string> = { anthropic: 'Anthropic', openai: 'OpenAI-compatible' };

/** The model and the server configuration. */
export function Server() {
  const { data: about, isPending, isError, error, refetch } = useAbout();
  return (
    <Section id="server" title="Model and server">
      {isPending && <Loading label="Loading server" rows={1} />}
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
                    <span className="text-muted">
                      ({PROVIDERS[about.model.provider] ?? about.model.provider})
                    </span>
                  )}
                </span>,
              ],
              ['Version', about.version],
              ['Engine', ENGINES[about.engine]],
              ['Sign-in', about.auth_mode === 'local' ? 'Off' : signInText(about.allow_anonymous)],
              ['Credits', about.credits_enabled ? 'Runs cost credits' : 'Runs are free'],
            ]}
          />
          {about.model.is_offline && (
            <p className="rounded-lg bg-warn-soft px-4 py-3 text-sm">
              No model is connected. The offline pilot only understands commands such as <code>/help</code>.
              To connect a model, start the server with <code>ANTHROPIC_API_KEY</code> or{' '}
              <code>OPENAI_API_KEY</code>.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

function signInText(guests: boolean): string {
  return guests ? 'Token or API key; guests can chat' : 'Token or API key';
}
