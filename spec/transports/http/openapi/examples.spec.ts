import t from 'tap';
import { EXAMPLES, examplesFor } from '../../../../transports/http/openapi/examples.ts';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { ROUTES } from '../../../../transports/http/routes.ts';
import { faults, pointerTo } from '../../../contract/document.ts';
import { createBlock } from '../../../support/block-calls.ts';
import { type CallOptions, CHAT, startServer } from '../../../support/server.ts';

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Body {
  readonly content: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Partial<Body>>>;
}
const document = openApiDocument(ROUTES) as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly examples: Record<string, object> };
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** The body of a request and those of good answers that have a schema of their own. */
const bodiesOf = ({ requestBody, responses }: Operation): Media[] =>
  [requestBody ?? {}, responses['200'] ?? {}, responses['202'] ?? {}]
    .flatMap(({ content = {} }: Partial<Body>) => Object.values(content))
    .filter(({ schema }) => '$ref' in schema);

t.test('each example fits its schema and has no other fields', async (t) => {
  for (const [name, { of, value }] of Object.entries(EXAMPLES)) t.strictSame(faults(pointerTo('components', 'schemas', of), value), [], name);
});

t.test('each example is in the document and is used', async (t) => {
  t.strictSame(Object.keys(document.components.examples), Object.keys(EXAMPLES));
  const text = JSON.stringify(document.paths);
  for (const name of Object.keys(EXAMPLES)) t.ok(text.includes(`"#/components/examples/${name}"`), name);
});

t.test('each body of a request and each good answer has an example', async (t) => {
  for (const operation of operations)
    for (const { schema, examples } of bodiesOf(operation)) t.ok(Object.keys(examples ?? {}).length > 0, `${operation.operationId} ${schema.$ref}`);
});

t.test('the examples of errors are what the server answers', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'ada');
  const cases: [example: string, method: string, path: string, options: CallOptions][] = [
    ['InvalidRequest', 'POST', '/v1/chat', { body: { ...CHAT, config: { temperature: 2 } } }],
    ['Unauthorized', 'GET', '/v1/adapters', { token: false }],
    ['ForeignOrigin', 'GET', '/v1/adapters', { headers: { origin: 'http://evil.example' } }],
    ['BlockNotFound', 'GET', '/api/blocks/grace', {}],
    ['NameTaken', 'POST', '/api/blocks', { body: { name: 'ada' } }],
  ];
  for (const [example, method, path, { headers, ...options }] of cases) {
    const { value } = EXAMPLES[example] as { value: { requestId: string } };
    const { json } = await server.call(method, path, { ...options, headers: { ...headers, 'x-request-id': value.requestId } });
    t.strictSame(json, value, example);
  }
});

t.test('an example belongs to its operations, its status and, for an error, its code', async (t) => {
  t.strictSame(Object.keys(examplesFor('Done', 'removeFact', 200) ?? {}), ['FactRemoved']);
  t.strictSame(Object.keys(examplesFor('Done', 'purgeArchive', 200) ?? {}), ['Purged']);
  t.strictSame(Object.keys(examplesFor('VerifyResult', 'verifyAdapter', 503) ?? {}), ['CheckFailed']);
  t.strictSame(Object.keys(examplesFor('ErrorReport', 'getBlock', 404, ['BLOCK_NOT_FOUND']) ?? {}), ['BlockNotFound']);
  t.equal(examplesFor('ErrorReport', 'listModels', 404, ['ADAPTER_NOT_FOUND']), undefined);
});
