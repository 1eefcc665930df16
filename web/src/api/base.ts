// The path the page is served under, taken from `<base>`.

/** Ends with a slash. */
export const BASE_PATH = new URL(document.baseURI).pathname.replace(/[^/]*$/, '');

/** The URL of a route that is given from the root: `/api/…`. */
export function apiUrl(route: string): string {
  return BASE_PATH + route.replace(/^\//, '');
}
