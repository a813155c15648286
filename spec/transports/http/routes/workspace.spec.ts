import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { WORKSPACE_ROUTES } from '../../../../transports/http/routes/workspace.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: Record<string, { readonly description: string; readonly content: object }>;
}
const paths = openApiDocument(routesOf(WORKSPACE_ROUTES))['paths'] as Record<string, Record<string, Operation>>;
const operation = (method: string, path: string): Operation => paths[path]?.[method] as Operation;

t.test('an archived block that is not there, or not alone, is told', async (t) => {
  for (const { responses } of [operation('post', '/api/archive/{name}/restore'), operation('delete', '/api/archive/{name}')]) {
    t.match(responses['404']?.description, '`ARCHIVE_NOT_FOUND`');
    t.match(responses['409']?.description, '`AMBIGUOUS_ARCHIVE`');
  }
  t.match(operation('post', '/api/archive/{name}/restore').requestBody, { required: false });
});

t.test('a block leaves and comes as gzip', async (t) => {
  t.strictSame(Object.keys(operation('get', '/api/blocks/{name}/export').responses['200']?.content ?? {}), ['application/gzip']);
  const { requestBody, responses } = operation('post', '/api/import');
  t.strictSame(Object.keys(requestBody?.content ?? {}), ['application/gzip']);
  for (const status of ['400', '409', '413', '415']) t.ok(status in responses, status);
});

t.test('the parameters of the query are described', async (t) => {
  t.match(operation('get', '/api/costs').parameters, [
    { name: 'source', in: 'query', schema: { enum: ['blocks', 'gateway'], default: 'blocks' } },
    {
      name: 'by',
      in: 'query',
      schema: { enum: ['block', 'key', 'connection', 'credential', 'model', 'purpose', 'day', 'day-block', 'day-key', 'day-connection', 'day-model'] },
    },
    { name: 'block', in: 'query' },
    { name: 'from', in: 'query' },
    { name: 'to', in: 'query' },
  ]);
  t.match(operation('post', '/api/import').parameters, [{ name: 'name', in: 'query' }]);
});

t.test('the kill switch is read, set and released', async (t) => {
  t.strictSame(Object.keys(paths['/api/halt'] ?? {}), ['get', 'post', 'delete']);
  for (const { responses } of Object.values(paths['/api/halt'] ?? {})) t.match(JSON.stringify(responses['200']), 'schemas/HaltState');
});
