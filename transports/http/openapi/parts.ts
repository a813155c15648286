// The words that routes describe themselves with: bodies, answers, groups of errors. Pure: no I/O.
import { ref, type SchemaName } from './schemas.ts';

/** A response with a JSON body. */
export const json = (name: SchemaName, description: string, headers?: object) => ({
  description,
  ...(headers !== undefined && { headers }),
  content: { 'application/json': { schema: ref(name) } },
});

/** A JSON request body. */
export const body = (name: SchemaName, required = true) => ({ required, content: { 'application/json': { schema: ref(name) } } });

/** What can be wrong with a body. */
export const BODY = ['INVALID_REQUEST', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
/** What a call of a provider can end in. */
export const UPSTREAM = [
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_REJECTED',
  'UPSTREAM_AUTH',
  'UPSTREAM_FAILED',
  'UPSTREAM_MALFORMED',
  'UPSTREAM_RATE_LIMITED',
  'ADAPTER_NOT_CONFIGURED',
] as const;
/** What can keep a block from being read. */
export const READ = ['NOT_FOUND', 'BLOCK_NOT_FOUND', 'BLOCK_DAMAGED', 'STORAGE_FAILED'] as const;
/** What can keep the workspace from being written. */
export const DISK = ['STORAGE_FULL', 'STORAGE_FAILED'] as const;
/** What can keep a block from being changed: also that it is on its way to the archive. */
export const WRITE = [...READ, 'WRONG_STATE', ...DISK] as const;
