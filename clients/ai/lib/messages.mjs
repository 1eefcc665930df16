// The messages that the tests send to the offline pilot.

/** Two calls in one message: the pilot makes them in parallel. */
export const TWO_TOOLS = [
  '/tool list_workspace_files {}',
  '/tool todo_write {"todos":[{"content":"Sail","activeForm":"Sailing","status":"pending"}]}',
].join('\n');
/** About a second: long enough to be cut, stopped or reloaded while it runs. */
export const SLOW = '/stream count=50 size=5 delay_ms=20';
/** The response to `SLOW`. */
export const SLOW_CHARACTERS = 250;
