// The AI SDK validates chunks with zod, which probes whether it may compile code. The content security policy forbids
// that, and the browser would report each probe as a violation.

import { config } from 'zod/v4/core';

config({ jitless: true });
