// A strict parser of server-sent events: anything a lenient parser would tolerate is an error here.

/** The events of a whole stream: `{id, data, retry, comment}` with only the fields each had. */
export function parseEvents(raw) {
  if (!raw.endsWith('\n\n')) throw new Error('the stream does not end with an empty line');
  return raw.slice(0, -2).split('\n\n').map(parseEvent);
}

function parseEvent(block) {
  const event = {};
  for (const line of block.split('\n')) {
    const [, field, value] = line.match(/^(id|data|retry|): (.*)$/) ?? [];
    if (field === undefined) throw new Error(`not a line of an event: ${JSON.stringify(line)}`);
    const name = field || 'comment';
    if (name in event) throw new Error(`an event says ${name} twice`);
    event[name] = value;
  }
  return event;
}
