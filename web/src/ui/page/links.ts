/**
 * Active options for links to parts of one page. By default, the router marks every link as current whose URL is a
 * prefix of the current URL.
 */
export const EXACT_MATCH = { exact: true, includeSearch: true } as const;
