/**
 * Active options for links to parts of one page. By default, the router marks every link as current whose URL is a
 * prefix of the current URL.
 */
export const EXACTLY = { exact: true, includeSearch: true } as const;
