// What the published contract says about one route. Pure: no I/O.
import { ERROR_TABLE, type ErrorCode } from '../../../core/index.ts';
import type { Parameter, ResponseWords, Route } from '../wire/route.ts';
import { examplesFor } from './examples.ts';
import { either, json } from './parts.ts';
import { ref } from './schemas.ts';

/** Errors of every route, and those of every route that needs a token. */
const EVERYWHERE = ['FORBIDDEN_ORIGIN', 'INTERNAL_ERROR', 'SHUTTING_DOWN'] as const;
const WITH_TOKEN = ['UNAUTHORIZED', 'TOO_MANY_ATTEMPTS'] as const;

/** Headers of an error's answer by its status. */
const ERROR_HEADERS: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { description: 'The scheme of the token', schema: { type: 'string', const: 'Bearer' } } },
  429: { 'Retry-After': { description: 'Seconds to wait before another attempt', schema: { type: 'integer', minimum: 1 } } },
};

/** The body of an error of a route that speaks another protocol. */
const FAULT = { 'application/json': { schema: { anyOf: [ref('OpenAIError'), ref('MessageError'), ref('OllamaError'), ref('McpError')] } } };
/** The statuses that such a route may answer besides those of every route. */
const FAULT_STATUSES = [400, 404, 413, 415, 422, 502, 504, 529];

/** The Operation Object of OpenAPI for a route. */
export function operationOf(route: Route): object {
  const parameters = parametersOf(route);
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    ...(route.public && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: { ...route.body, content: illustrated(route.body.content, (schema) => examplesFor(schema, route.id)) } }),
    responses: responsesOf(route),
  };
}

function parametersOf({ params = {}, query = {}, headers = {} }: Route): object[] {
  const optional = (place: 'query' | 'header', list: Readonly<Record<string, Parameter>>): object[] =>
    Object.entries(list).map(([name, words]) => ({ name, in: place, required: false, ...words }));
  return [
    ...Object.entries(params).map(([name, description]) => ({ name, in: 'path', required: true, schema: { type: 'string' }, description })),
    ...optional('query', query),
    ...optional('header', headers),
  ];
}

/** The responses by status, with examples. A status that both an answer and an error use has a schema with both bodies. */
function responsesOf({ answers, errors = [], ...route }: Route): Record<string, object> {
  if (route.fault !== undefined) {
    const own = FAULT_STATUSES.map((status) => [status, { description: 'An error in the form of the protocol.', content: FAULT }]);
    const usual = Object.entries(errorResponses([...(route.public ? [] : WITH_TOKEN), ...EVERYWHERE])).map(([status, response]) => [
      status,
      { ...response, content: FAULT },
    ]);
    const good = Object.entries(answers).map(([status, answer]) => [
      status,
      { ...answer, content: illustrated(answer.content, (schema) => examplesFor(schema, route.id, Number(status))) },
    ]);
    return { ...Object.fromEntries(own), ...Object.fromEntries(usual), ...Object.fromEntries(good), default: { $ref: '#/components/responses/Refused' } };
  }
  const codes = [...errors, ...(route.public ? [] : WITH_TOKEN), ...EVERYWHERE];
  const responses = errorResponses(codes);
  for (const [status, answer] of Object.entries(answers)) {
    const error = responses[status];
    responses[status] = error === undefined ? answer : either(answer, error);
  }
  const withExamples = ([status, response]: [string, ResponseWords]): [string, object] => {
    const ofStatus = codes.filter((code) => String(ERROR_TABLE[code].status) === status);
    return [status, { ...response, content: illustrated(response.content, (schema) => examplesFor(schema, route.id, Number(status), ofStatus)) }];
  };
  return { ...Object.fromEntries(Object.entries(responses).map(withExamples)), default: { $ref: '#/components/responses/Refused' } };
}

/** A content with the examples that `find` knows for its schemas. */
function illustrated(content: ResponseWords['content'], find: (schema: string) => object | undefined): object {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const examples = Object.assign({}, ...namesIn(media.schema).map(find)) as object;
      return [type, Object.keys(examples).length === 0 ? media : { ...media, examples }];
    }),
  );
}

/** The name of the schema that is referred to, or of each of its alternatives. */
function namesIn(schema: { readonly $ref?: string; readonly anyOf?: readonly object[] }): string[] {
  return [schema, ...(schema.anyOf ?? [])].flatMap(({ $ref }: { readonly $ref?: string }) => $ref?.split('/').at(-1) ?? []);
}

/** One response for each HTTP status of these codes; its description lists the codes. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, ResponseWords> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const meanings = (list: readonly ErrorCode[]): string => list.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n');
  return Object.fromEntries([...byStatus].map(([status, list]) => [String(status), json('ErrorReport', meanings(list), ERROR_HEADERS[status])]));
}
