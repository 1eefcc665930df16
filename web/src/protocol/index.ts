// The server's types under the names this app uses. `api.ts` is generated from the API document.

import type { Chunk, ResponseBody, ToolResponse } from './api';

export type * from './api';

/** The kinds of tool results. */
export type ResponseType = ResponseBody['type'];

/** The tool result of one kind. */
export type Response<T extends ResponseType> = Extract<ToolResponse, { type: T }>;

/** The custom data parts of the stream, by name without `data-`. */
export type DataParts = {
  [C in Chunk as C extends { type: `data-${infer Name}` } ? Name : never]: C extends { data: infer Data }
    ? Data
    : never;
};
