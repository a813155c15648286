// The error body, one shape on every surface. Pure: no I/O.
import { ERROR_TABLE } from '../errors.ts';
import { listOf, object, oneOf, string } from './fields.ts';

/** The body of every error answer. */
export const ErrorReport = object(
  {
    error: { type: 'string', description: 'What is wrong and how to fix it, for people' },
    status: { type: 'integer' },
    code: oneOf(Object.keys(ERROR_TABLE)),
    requestId: string,
    details: listOf(object({ path: string, message: string })),
    upstreamStatus: { type: 'integer', description: "The provider's own HTTP status" },
    retryable: { type: 'boolean', description: 'For UPSTREAM_ codes: true if a retry may succeed' },
    approval: { type: 'object', description: 'For APPROVAL_DECIDED: the approval with the decision that holds' },
  },
  ['requestId', 'details', 'upstreamStatus', 'retryable', 'approval'],
);
