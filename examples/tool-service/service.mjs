// A service with two tools for Pilothouse: one answers at once, one accepts the work and reports its result by webhook.
//
//   PORT                    the port to listen on (9000)
//   TOOL_SECRET             the `secret` of tools.json
//   CHAT_INTERNAL_API_KEY   the same value as on the Pilothouse server: it opens the webhook
//   RENDER_MS               how long a report takes (5000)

import { createServer } from 'node:http';

const { PORT = '9000', TOOL_SECRET = 'replace-this-secret', CHAT_INTERNAL_API_KEY, RENDER_MS = '5000' } = process.env;
if (!CHAT_INTERNAL_API_KEY) {
  console.error('Set CHAT_INTERNAL_API_KEY to the value that the Pilothouse server has.');
  process.exit(1);
}

/** Idempotency keys of accepted work. A real service stores them together with the work. */
const accepted = new Set();

/** Each returns a status and a body for a call. */
const routes = {
  '/convert': ({ arguments: { celsius } }) => [200, { celsius, fahrenheit: celsius * 1.8 + 32 }],

  '/render': (call, key) => {
    // After a crash Pilothouse repeats the request with the same key: the work is already under way.
    if (!accepted.has(key)) {
      accepted.add(key);
      setTimeout(() => void finishReport(call), Number(RENDER_MS));
    }
    return [202, {}];
  },
};

async function finishReport({ callback_url, arguments: { title } }) {
  const body = JSON.stringify({ success: true, result: { title, file: 'report.pdf', pages: 3 } });
  const headers = { 'content-type': 'application/json', 'x-api-key': CHAT_INTERNAL_API_KEY };
  // Until the server has taken it; taking it twice changes nothing.
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    const response = await fetch(callback_url, { method: 'POST', headers, body }).catch(() => undefined);
    if (response?.ok) return;
    // A refusal stays one: the key is wrong, or the operation is unknown.
    if (response && response.status < 500) return console.error(`the result was refused: ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  console.error('the result could not be delivered');
}

const server = createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.headers.authorization !== `Bearer ${TOOL_SECRET}`) return answer(401, { error: 'wrong secret' });
    const route = request.method === 'POST' && routes[request.url];
    if (!route) return answer(404, { error: 'no such tool' });
    let text = '';
    for await (const piece of request) text += piece;
    answer(...route(JSON.parse(text), request.headers['idempotency-key']));
  } catch (error) {
    answer(400, { error: String(error) });
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
