// Where the server is: the page may live below a path, which its `<base>` names.

/** Ends with a slash. */
export const BASE_PATH = new URL(document.baseURI).pathname.replace(/[^/]*$/, '');

/** The address of a route of ours, given from the root: `/api/…`. */
export function addressOf(route: string): string {
  return BASE_PATH + route.replace(/^\//, '');
}
