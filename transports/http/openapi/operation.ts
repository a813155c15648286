// What the published contract says about one route. Pure: no I/O.
import { ERROR_TABLE, type ErrorCode } from '../../../core/index.ts';
import type { Parameter, ResponseWords, Route } from '../route.ts';
import { json } from './parts.ts';

/** Errors of every route, and those of every route that needs a token. */
const EVERYWHERE = ['FORBIDDEN_ORIGIN', 'INTERNAL_ERROR', 'SHUTTING_DOWN'] as const;
const WITH_TOKEN = ['UNAUTHORIZED', 'TOO_MANY_ATTEMPTS'] as const;

/** The Operation Object of OpenAPI for a route. */
export function operationOf(route: Route): object {
  const parameters = parametersOf(route);
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(route.public && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: route.body }),
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

/** The responses by status. A status that both an answer and an error use has a schema with both bodies. */
function responsesOf({ answers, errors = [], ...route }: Route): Record<string, ResponseWords> {
  const responses = errorResponses([...errors, ...(route.public ? [] : WITH_TOKEN), ...EVERYWHERE]);
  for (const [status, answer] of Object.entries(answers)) {
    const error = responses[status];
    responses[status] = error === undefined ? answer : either(answer, error);
  }
  return responses;
}

/** One response for each HTTP status of these codes; its description lists the codes. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, ResponseWords> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [String(status), json('ErrorReport', list.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n'))]),
  );
}

function either(one: ResponseWords, other: ResponseWords): ResponseWords {
  const schemas = [one, other].map(({ content }) => content['application/json']?.schema);
  return { ...one, description: `${one.description}\n${other.description}`, content: { 'application/json': { schema: { anyOf: schemas } } } };
}
