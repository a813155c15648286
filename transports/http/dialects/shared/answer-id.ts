// The part of an answer's ids that is its own. Pure: no I/O.
import type { AnswerContext } from './dialect.ts';

const PREFIX = 'req_';

/** The id of the request without its prefix, since each protocol has prefixes of its own. */
export function answerId({ requestId }: AnswerContext): string {
  return requestId.startsWith(PREFIX) ? requestId.slice(PREFIX.length) : requestId;
}
