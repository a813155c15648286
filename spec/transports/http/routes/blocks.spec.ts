import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { BLOCK_ROUTES } from '../../../../transports/http/routes/blocks.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Record<string, { readonly description: string; readonly headers?: object }>;
}
const paths = openApiDocument(routesOf(BLOCK_ROUTES))['paths'] as Record<string, Record<string, Operation>>;
const operation = (method: string, path: string): Operation => paths[path]?.[method] as Operation;

t.test('every route of one block can say that there is none', async (t) => {
  for (const [path, methods] of Object.entries(paths).filter(([path]) => path.includes('{name}')))
    for (const [method, { responses, parameters }] of Object.entries(methods)) {
      t.match(responses['404']?.description, '`BLOCK_NOT_FOUND`', `${method} ${path}`);
      t.match(parameters?.[0], { name: 'name', in: 'path' }, `${method} ${path}`);
    }
});

t.test('what changes a block can meet a full disk; what reads it can not', async (t) => {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(methods)) t.equal('507' in responses, method !== 'get', `${method} ${path}`);
});

t.test('a configuration carries its revision, and a change may name one', async (t) => {
  const path = '/api/blocks/{name}/config';
  for (const method of ['get', 'put']) t.match(operation(method, path).responses['200']?.headers, { etag: {} }, method);
  t.match(operation('put', path).parameters?.[1], { name: 'If-Match', in: 'header' });
  t.match(operation('put', path).responses['412']?.description, '`REVISION_MISMATCH`');
});

t.test('a start that lacks a model is a 400, a taken name a 409, reset has its parameter', async (t) => {
  t.ok('400' in operation('post', '/api/blocks/{name}/start').responses);
  t.ok(!('400' in operation('post', '/api/blocks/{name}/stop').responses));
  t.match(operation('post', '/api/blocks').responses['409']?.description, '`NAME_TAKEN`');
  t.match(operation('post', '/api/blocks/{name}/reset').parameters?.[1], { name: 'hard', in: 'query' });
});
