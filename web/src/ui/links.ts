/**
 * For links to parts of one page: the router otherwise marks every link as the current one whose address is part of
 * where we are.
 */
export const EXACTLY = { exact: true, includeSearch: true } as const;
