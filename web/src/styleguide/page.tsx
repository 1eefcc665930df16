import { useId, useState } from 'react';
import { Switch } from '@/ui/form/switch';
import { Page } from '@/ui/page/page';
import { CallStates } from './call-states';
import { FixtureProvider } from './fixture-provider';
import { Foundations } from './foundations';
import { GuideIndex } from './guide-index';
import { Messages } from './messages';
import { Primitives } from './primitives';
import { Responses } from './responses';
import { BothThemes, Chapter } from './specimen';
import { WaitingStates } from './waiting';

/** Every component of the copilot in every state, without a server. */
export function StyleguidePage() {
  const [both, setBoth] = useState(false);
  const label = useId();
  return (
    <Page
      wide
      title="Style guide"
      subtitle="Every component, in every state."
      actions={
        <label htmlFor={label} className="flex min-h-10 items-center gap-2 text-sm">
          Both themes
          <Switch id={label} checked={both} onChange={(event) => setBoth(event.target.checked)} />
        </label>
      }
    >
      <FixtureProvider>
        <BothThemes value={both}>
          <div className="flex min-w-0 flex-col gap-8 lg:flex-row">
            <GuideIndex />
            <div className="flex min-w-0 flex-1 flex-col gap-12">
              <Chapter id="foundations" title="Colors and type">
                <Foundations />
              </Chapter>
              <Chapter id="primitives" title="Primitives">
                <Primitives />
              </Chapter>
              <Chapter id="messages" title="Messages">
                <Messages />
              </Chapter>
              <Chapter id="waiting" title="Waiting">
                <WaitingStates />
              </Chapter>
              <Chapter id="calls" title="Calls">
                <CallStates />
              </Chapter>
              <Chapter id="responses" title="Tool responses">
                <Responses />
              </Chapter>
            </div>
          </div>
        </BothThemes>
      </FixtureProvider>
    </Page>
  );
}
