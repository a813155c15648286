import t from 'tap';
import { openApiDocument } from '../../../../transports/http/openapi/openapi.ts';
import { CHAT_ROUTES } from '../../../../transports/http/routes/chat.ts';
import { routesOf } from '../../../../transports/http/wire/route.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Record<string, { readonly description: string }>;
}
const paths = openApiDocument(routesOf(CHAT_ROUTES))['paths'] as Record<string, Record<string, Operation>>;
const operation = (method: string, path: string): Operation => paths[`/api/blocks/{name}/${path}`]?.[method] as Operation;

t.test('a message names its channel in a header, and a full queue is told', async (t) => {
  const post = operation('post', 'chat');
  t.match(post.parameters.at(-1), { name: 'x-blockhouse-channel', in: 'header', schema: { enum: ['web', 'cli', 'api'], default: 'web' } });
  t.match(post.requestBody, { required: true });
  t.match(post.responses['429']?.description, '`QUEUE_FULL`');
});

t.test('what goes by an id can say that there is none of it, or that it makes no sense now', async (t) => {
  for (const [path, methods] of Object.entries(paths).filter(([path]) => path.includes('{id}')))
    for (const { responses, parameters } of Object.values(methods)) {
      t.match(responses['404']?.description, /`BLOCK_NOT_FOUND`|`MESSAGE_NOT_FOUND`/, path);
      t.match(responses['404']?.description, path.includes('/runs/') ? '`RUN_NOT_FOUND`' : '`MESSAGE_NOT_FOUND`', path);
      t.match(parameters[1], { name: 'id', in: 'path' }, path);
    }
  for (const [method, path] of [
    ['post', 'chat/{id}/cancel'],
    ['post', 'chat/{id}/retry'],
    ['post', 'memory/undo'],
  ] as const)
    t.match(operation(method, path).responses['409']?.description, '`WRONG_STATE`', path);
});

t.test('a compaction calls the provider, and can fail as any call', async (t) => {
  const { responses } = operation('post', 'memory/compact');
  t.ok('502' in responses);
  t.match(responses['503']?.description, '`ADAPTER_NOT_CONFIGURED`');
});

t.test('a message can be waited for when it is sent and by its id, and both answers can be a stream', async (t) => {
  for (const { parameters, responses } of [operation('post', 'chat'), operation('get', 'chat/{id}')]) {
    t.match(
      parameters.find(({ name }) => name === 'wait'),
      { in: 'query', schema: { type: 'integer', minimum: 0, maximum: 600 } },
    );
    t.match(responses, { 200: { content: { 'application/json': {}, 'text/event-stream': {} } }, 202: { content: { 'application/json': {} } } });
  }
});
