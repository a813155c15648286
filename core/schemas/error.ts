// The error body, one shape on every surface. Pure: no I/O.
import { ERROR_TABLE } from '../errors.ts';
import { listOf, object, oneOf, string } from './fields.ts';

/** The body of every error answer. */
export const ErrorReport = object(
  {
    error: { type: 'string', description: 'For people: what is wrong and what cures it' },
    status: { type: 'integer' },
    code: oneOf(Object.keys(ERROR_TABLE)),
    requestId: string,
    details: listOf(object({ path: string, message: string })),
    upstreamStatus: { type: 'integer', description: "The provider's own HTTP status" },
    retryable: { type: 'boolean', description: 'On UPSTREAM_ codes: whether a repetition may succeed' },
  },
  ['requestId', 'details', 'upstreamStatus', 'retryable'],
);
