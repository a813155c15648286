// The pieces that the paths of the contract are written with. Pure: no I/O.
import { ERROR_TABLE, type ErrorCode } from '../../../core/index.ts';
import { ref, type SchemaName } from './schemas.ts';

/** Operations by method, by path. */
export type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** A response with a JSON body. */
export const json = (name: SchemaName, description: string, headers?: object) => ({
  description,
  ...(headers !== undefined && { headers }),
  content: { 'application/json': { schema: ref(name) } },
});

/** A JSON request body. */
export const body = (name: SchemaName, required = true) => ({ required, content: { 'application/json': { schema: ref(name) } } });

/** A parameter of the path. */
export const inPath = (name: string, description: string) => ({ name, in: 'path', required: true, schema: { type: 'string' }, description });

/** A parameter of the query, or a header; always optional. */
export const optional = (place: 'query' | 'header', name: string, schema: object, description: string) => ({
  name,
  in: place,
  required: false,
  schema,
  description,
});

/** One response for each status that these codes have; `UNAUTHORIZED`, `TOO_MANY_ATTEMPTS`, `FORBIDDEN_ORIGIN` and `INTERNAL_ERROR` may come everywhere. */
export function errors(...codes: ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set<ErrorCode>([...codes, 'UNAUTHORIZED', 'TOO_MANY_ATTEMPTS', 'FORBIDDEN_ORIGIN', 'INTERNAL_ERROR'])) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, list]) => [String(status), json('ErrorReport', list.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n'))]),
  );
}

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
export const READ = ['NOT_FOUND', 'BLOCK_NOT_FOUND', 'BLOCK_DAMAGED', 'STORAGE_FAILED', 'SHUTTING_DOWN'] as const;
/** What can keep the workspace from being written. */
export const DISK = ['STORAGE_FULL', 'STORAGE_FAILED', 'SHUTTING_DOWN'] as const;
/** What can keep a block from being changed: also that it is on its way to the archive. */
export const WRITE = [...READ, 'WRONG_STATE', ...DISK] as const;
