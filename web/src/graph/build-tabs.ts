// The tabs of the graph page, as they are in its URL.

export const BUILD_TABS = {
  graph: 'Graph',
  spec: 'Spec',
  rehearse: 'Rehearse',
  versions: 'Versions',
} as const;

export type BuildTab = keyof typeof BUILD_TABS;

export function tabOf(param: string | undefined): BuildTab {
  return param !== undefined && Object.hasOwn(BUILD_TABS, param) ? (param as BuildTab) : 'graph';
}

/** Link to a tab of an agent. Without a version it is the active one. */
export function linkToTab(flowID: string, flowVersion: number | undefined, tab: BuildTab) {
  return {
    to: '/build' as const,
    search: { flowID, flowVersion, tab: tab === 'graph' ? undefined : tab },
  };
}
