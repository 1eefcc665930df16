// Links from a card to the library and to the graph.

import { defaultParseSearch, Link, type LinkProps } from '@tanstack/react-router';
import { ArrowUpRight, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { type ButtonKind, buttonClasses } from '@/ui/buttons/button';
import { Buttons } from './parts';

export const LINK =
  'inline-flex min-w-0 items-center font-medium break-words underline-offset-2 pointer-coarse:min-h-10 hover:text-accent hover:underline';

type RunTarget = { agentId?: string | null; executionId: string };
type GraphTarget = { graphId?: string | null; graphVersion?: number | null };

/** Link to a run on its agent's page; plain text if the agent is not in the library. */
export function RunLink({ agentId, executionId, children }: RunTarget & { children: ReactNode }) {
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

/** Links to the page of a run and to the graph of its agent. */
export function OpenRun({ agentId, executionId, graphId, graphVersion }: RunTarget & GraphTarget) {
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
          Open run
          <ArrowUpRight aria-hidden className="size-4" />
        </Link>
      )}
      <ViewGraph graphId={graphId} graphVersion={graphVersion} />
    </Buttons>
  );
}

type PageLinkProps = { link: string; kind?: ButtonKind; children: ReactNode };

/** A button that leads to a page of this app, at an address that the server has written. */
export function PageLink({ link, kind, children }: PageLinkProps) {
  const page = pageOf(link);
  if (!page) return null;
  return (
    <Link {...page} className={buttonClasses(kind)}>
      {children}
    </Link>
  );
}

/** The page that a link leads to; null for another site, and for anything that is not an address. */
export function pageOf(link: string): LinkProps | null {
  if (!/^\/(?![/\\])/.test(link)) return null;
  const { pathname, search } = new URL(link, location.origin);
  return { to: pathname as LinkProps['to'], search: defaultParseSearch(search) as never };
}

/** Link to the graph of an agent. Without a version it is the latest one. */
export function ViewGraph({ graphId, graphVersion }: GraphTarget) {
  if (!graphId) return null;
  return (
    <Link
      to="/build"
      search={{ flowID: graphId, flowVersion: graphVersion ?? undefined }}
      className={buttonClasses('quiet')}
    >
      <Workflow aria-hidden className="size-4" />
      View graph
    </Link>
  );
}

function searchOf(executionId: string) {
  return { activeTab: 'runs', activeItem: executionId };
}
