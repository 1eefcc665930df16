// The ways from a card to the pages of what it shows.

import { Link } from '@tanstack/react-router';
import { ArrowUpRight, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClasses } from '@/ui/button';
import { Buttons } from './parts';

export const LINK =
  'inline-flex min-w-0 items-center font-medium break-words underline-offset-2 pointer-coarse:min-h-10 hover:text-accent hover:underline';

type RunOf = { agentId?: string | null; executionId: string };
type GraphOf = { graphId?: string | null; graphVersion?: number | null };

/** A run in its agent's page; only its words where the agent is in no library. */
export function RunLink({ agentId, executionId, children }: RunOf & { children: ReactNode }) {
  if (!agentId) return children;
  return (
    <Link
      to="/library/agents/$id"
      params={{ id: agentId }}
      search={searchOf(executionId)}
      className={`${LINK} underline`}
    >
      {children}
    </Link>
  );
}

/** Where a run can be read in full, and where its agent can be changed. */
export function OpenRun({ agentId, executionId, graphId, graphVersion }: RunOf & GraphOf) {
  if (!agentId && !graphId) return null;
  return (
    <Buttons>
      {agentId && (
        <Link
          to="/library/agents/$id"
          params={{ id: agentId }}
          search={searchOf(executionId)}
          className={buttonClasses()}
        >
          Open the run
          <ArrowUpRight aria-hidden className="size-4" />
        </Link>
      )}
      <OpenBuilder graphId={graphId} graphVersion={graphVersion} />
    </Buttons>
  );
}

/** How the agent is made. Without a version it is the newest one. */
export function OpenBuilder({ graphId, graphVersion }: GraphOf) {
  if (!graphId) return null;
  return (
    <Link
      to="/build"
      search={{ flowID: graphId, flowVersion: graphVersion ?? undefined }}
      className={buttonClasses('quiet')}
    >
      <Workflow aria-hidden className="size-4" />
      Open in the builder
    </Link>
  );
}

function searchOf(executionId: string) {
  return { activeTab: 'runs', activeItem: executionId };
}
