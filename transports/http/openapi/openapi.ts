// The published contract: OpenAPI 3.1, built from the route table and the schemas that validate at run time. `npm run generate` writes
// it to spec/openapi.json, and `npm run verify` checks that the file is up to date. Pure: no I/O.
import { VERSION } from '../../../core/index.ts';
import type { Route } from '../wire/route.ts';
import { tags } from '../wire/route-tags.ts';
import { EXAMPLES } from './examples.ts';
import { operationOf } from './operation.ts';
import { json } from './parts.ts';
import { schemas } from './schemas.ts';

const REFUSED =
  'A request that breaks the rules of HTTP or of this server: 405 for another method, 408 for one that does not arrive in time, 414 and 431 for a target or headers that are too long, 417 for an unknown `Expect`.';

/** The OpenAPI document of these routes; a new object at each call. */
export function openApiDocument(routes: readonly Route[]): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Blockhouse',
      version: VERSION,
      description: 'Named LLM agents in plain files, and one request shape for five LLM providers, on your own machine.',
      contact: { name: 'The maintainers of Blockhouse' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8420', description: 'The default address' }],
    security: [{ token: [] }],
    tags: tags(),
    paths: pathsOf(routes),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token of the workspace; `blockhouse token` prints it.' } },
      responses: { Refused: json('ErrorReport', REFUSED) },
      examples: Object.fromEntries(Object.entries(EXAMPLES).map(([name, { summary, value }]) => [name, { summary, value }])),
      schemas: schemas(),
    },
  };
}

const texts = new WeakMap<readonly Route[], string>();

/**
 * The same as JSON text. It is built once for each table, because anyone may ask for it as often as they like. Not by `toJsonText`, which looks for long texts at every level: the document
 * has thousands of short ones.
 */
export function openApiText(routes: readonly Route[]): string {
  const text = texts.get(routes) ?? JSON.stringify(openApiDocument(routes));
  texts.set(routes, text);
  return text;
}

/** The operations by path, then by method. */
function pathsOf(routes: readonly Route[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)\*?/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return paths;
}
