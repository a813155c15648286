// The error body, one shape on every surface. Pure: no I/O.
import { ERROR_TABLE } from '../errors.ts';

const string = { type: 'string' } as const;

/** The body of every error answer. */
export const ErrorReport = {
  type: 'object',
  required: ['error', 'status', 'code'],
  properties: {
    error: { type: 'string', description: 'For people: what is wrong and what cures it' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
    requestId: string,
    details: { type: 'array', items: { type: 'object', required: ['path', 'message'], properties: { path: string, message: string } } },
    upstreamStatus: { type: 'integer', description: "The provider's own HTTP status" },
    retryable: { type: 'boolean', description: 'On UPSTREAM_ codes: whether a repetition may succeed' },
  },
} as const;
