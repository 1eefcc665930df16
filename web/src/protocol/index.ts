// The words of the server, under the names this app uses. `api.ts` is generated from the API document.

import type { Chunk, ResponseBody, ToolResponse } from './api';

export type * from './api';

/** The kinds of answers a tool can give. */
export type ResponseType = ResponseBody['type'];

/** The answer of one kind. */
export type Response<T extends ResponseType> = Extract<ToolResponse, { type: T }>;

/** What the stream carries besides the parts every client knows, by name without `data-`. */
export type DataParts = {
  [C in Chunk as C extends { type: `data-${infer Name}` } ? Name : never]: C extends { data: infer Data }
    ? Data
    : never;
};
