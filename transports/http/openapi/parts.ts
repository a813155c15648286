// Building blocks of route entries: bodies, answers and groups of error codes. Pure: no I/O.
import type { Parameter, ResponseWords } from '../wire/route.ts';
import { ref, type SchemaName } from './schemas.ts';

/** A response whose JSON body has the named schema. */
export const json = (name: SchemaName, description: string, headers?: object) => ({
  description,
  ...(headers !== undefined && { headers }),
  content: { 'application/json': { schema: ref(name) } },
});

/** The headers of an answer. */
const TOLD =
  'The header x-blockhouse-model says which model answered, x-blockhouse-warnings what was ignored, x-blockhouse-fallback which models were passed over and why.';

/** The answer of a route that gives it whole, or with `stream: true` as frames of this media type. */
export const streamed = (whole: SchemaName, frame: SchemaName, description: string, type = 'text/event-stream') => ({
  200: { description: `${description} ${TOLD}`, content: { 'application/json': { schema: ref(whole) }, [type]: { schema: ref(frame) } } },
});

/** The request header and the answers of a route that answers 304 to who has the body already. `further` are more headers of its answer. */
export function tagged(name: SchemaName, description: string, further: object = {}) {
  return taggedAs((etag) => json(name, description, { ...etag, ...further }));
}

/** The same of any body. */
export function taggedAs<const A>(answer: (headers: object) => A) {
  const etag = { etag: { description: 'Changes with the body: for `If-None-Match`', schema: { type: 'string' } } };
  return {
    headers: { 'If-None-Match': { schema: { type: 'string' }, description: 'The ETag of an earlier answer' } },
    answers: { 200: answer(etag), 304: { description: 'Nothing has changed since.', headers: etag, content: {} } },
  } as const;
}

/** A response with one of two JSON bodies. */
export function either(one: ResponseWords, other: ResponseWords): ResponseWords {
  const schemas = [one, other].map(({ content }) => content['application/json']?.schema);
  return { ...one, description: `${one.description}\n${other.description}`, content: { 'application/json': { schema: { anyOf: schemas } } } };
}

/** An answer that a browser gets as a page. */
export function orPage(answer: ResponseWords): ResponseWords {
  return { ...answer, content: { ...answer.content, 'text/html': { schema: { type: 'string' } } } };
}

/** A JSON request body of the named schema. */
export const body = (name: SchemaName, required = true) => ({ required, content: { 'application/json': { schema: ref(name) } } });

/** Errors of a route that takes a body. */
export const BODY = ['INVALID_REQUEST', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'QUEUE_FULL'] as const;
/** Errors of a route that calls a provider. */
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
/** Error of every route about blocks: a server of the gateway alone has none. */
export const NO_BLOCKS = 'WRONG_STATE';
/** Errors of a route that reads a block. */
export const READ = ['NOT_FOUND', 'BLOCK_NOT_FOUND', 'BLOCK_DAMAGED', 'STORAGE_FAILED', NO_BLOCKS] as const;
/** Errors of a route that writes to the workspace. */
export const DISK = ['STORAGE_FULL', 'STORAGE_FAILED'] as const;
/** Errors of a route that changes a block. WRONG_STATE is also that of a block that is just being archived. */
export const WRITE = [...READ, ...DISK] as const;

/** A field of a query as a parameter of the contract. */
export function wordsOf({ description, ...schema }: { readonly description: string }): Parameter {
  return { schema, description };
}
