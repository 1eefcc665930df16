// Passes requests on to Pilothouse, so that its address and key stay on this server. Check your own login here, and use
// a key or a token of the person who asks: sessions belong to its user.

const SERVER = process.env.PILOTHOUSE_URL ?? 'http://127.0.0.1:8006';
const KEY = process.env.PILOTHOUSE_API_KEY;

async function forward(request: Request): Promise<Response> {
  // With the key added here, a page of another site must not be able to act for the visitor.
  if (request.headers.get('sec-fetch-site') === 'cross-site') return new Response(null, { status: 403 });

  const { pathname, search } = new URL(request.url);
  const headers = new Headers(KEY ? { 'x-api-key': KEY } : {});
  for (const name of ['content-type', 'last-event-id']) {
    const value = request.headers.get(name);
    if (value) headers.set(name, value);
  }
  const response = await fetch(SERVER + pathname + search, {
    method: request.method,
    headers,
    body: request.method === 'GET' ? undefined : await request.text(),
    signal: request.signal,
  });
  // The body is handed on as it arrives. `fetch` has already undone any compression.
  const answer = new Headers(response.headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection']) answer.delete(name);
  return new Response(response.body, { status: response.status, headers: answer });
}

export const dynamic = 'force-dynamic';
export { forward as DELETE, forward as GET, forward as POST };
