// The reader of streams checks chunks with zod, which tries whether it may compile code. It may not: the content
// security policy forbids it, and the browser would report each try as a violation.

import { config } from 'zod/v4/core';

config({ jitless: true });
