// The error body, one shape on every surface. Pure: no I/O.
import Type from 'typebox';
import { ERROR_TABLE } from '../errors.ts';

export const ErrorReport = Type.Object({
  error: Type.String({ description: 'For people: what is wrong and what cures it' }),
  status: Type.Integer(),
  code: Type.Unsafe<string>({ type: 'string', enum: Object.keys(ERROR_TABLE) }),
  requestId: Type.Optional(Type.String()),
  details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  upstreamStatus: Type.Optional(Type.Integer({ description: "The provider's own HTTP status" })),
  retryable: Type.Optional(Type.Boolean({ description: 'On UPSTREAM_ codes: whether a repetition may succeed' })),
});
