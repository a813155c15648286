import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import t from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { asyncApiDocument } from '../../transports/asyncapi.ts';
import { readFrame } from '../../transports/ws/frames.ts';
import { WS_PATH } from '../../transports/ws-path.ts';

interface Ref {
  readonly $ref: string;
}
interface Document {
  readonly asyncapi: string;
  readonly channels: Record<string, { readonly address: string; readonly messages: Record<string, Ref> }>;
  readonly operations: Record<string, { readonly action: string; readonly channel: Ref; readonly messages: readonly Ref[] }>;
  readonly components: {
    readonly messages: Record<string, { readonly payload: Ref; readonly examples: readonly { readonly payload: object }[] }>;
    readonly schemas: Record<string, object>;
  };
}

const published = parseJson(readFileSync(new URL('../asyncapi.json', import.meta.url), 'utf8')) as Document;

function at(ref: string): unknown {
  return ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], published);
}

/** The schemas of the messages of an operation. */
function schemasOf(operation: string): object[] {
  return (published.operations[operation]?.messages ?? []).map(({ $ref }) => {
    const message = at((at($ref) as Ref).$ref) as { payload: Ref };
    return at(message.payload.$ref) as object;
  });
}

t.test('the published file is what the sources say', async (t) => {
  t.strictSame(published, parseJson(JSON.stringify(asyncApiDocument())));
  t.not(asyncApiDocument(), asyncApiDocument());
});

t.test('every reference leads somewhere, and everything is referred to', async (t) => {
  const refs = [...JSON.stringify(published).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string);
  for (const ref of refs) t.not(at(ref), undefined, ref);
  for (const name of Object.keys(published.components.schemas)) t.ok(refs.includes(`#/components/schemas/${name}`), name);
  for (const name of Object.keys(published.components.messages)) t.ok(refs.includes(`#/components/messages/${name}`), name);
  const told = Object.values(published.operations).flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split('/').at(-1)));
  t.strictSame(told.sort(), Object.keys(published.channels['changes']?.messages ?? {}).sort(), 'each message has one direction');
});

t.test('each message has an example, which fits its own schema and no other', async (t) => {
  const ajv = new Ajv({ strict: false });
  const schemas = Object.values(published.components.schemas).map((schema) => ajv.compile(schema));
  for (const [name, { payload, examples }] of Object.entries(published.components.messages)) {
    t.equal(examples.length, 1, name);
    for (const example of examples) {
      t.ok(ajv.validate(at(payload.$ref) as object, example.payload), name);
      t.equal(schemas.filter((validate) => validate(example.payload)).length, 1, name);
    }
  }
});

t.test('the document says who answers for it, under which license, and what each direction is for', async (t) => {
  const sentence = /^[A-Z].*[.]$/;
  t.match(published, {
    info: { contact: { name: String }, license: { name: 'MIT', url: /^https:/ }, tags: [{ description: sentence }] },
    operations: { fromClient: { description: sentence }, toClient: { description: sentence } },
  });
});

t.test('the token goes in the header or in the query', async (t) => {
  t.match(published, {
    servers: { local: { security: [{ $ref: '#/components/securitySchemes/bearer' }, { $ref: '#/components/securitySchemes/token' }] } },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, token: { type: 'httpApiKey', in: 'query', name: 'token' } } },
  });
});

t.test('the address is the path that is served', async (t) => {
  t.equal(published.asyncapi, '3.0.0');
  t.equal(published.channels['changes']?.address, WS_PATH);
});

t.test('what the document lets a client send is what the server reads, and nothing else', async (t) => {
  const ajv = new Ajv({ strict: false });
  const schemas = schemasOf('fromClient').map((schema) => ajv.compile(schema));
  const inDocument = (message: unknown): boolean => schemas.filter((validate) => validate(message)).length === 1;
  const isRead = (message: unknown): boolean => {
    try {
      return readFrame(JSON.stringify(message)) !== undefined;
    } catch {
      return false;
    }
  };
  const messages = [
    { type: 'subscribe', block: 'a' },
    { type: 'subscribe', block: 'a', stream: true, sinceSeq: 3 },
    { type: 'subscribe', block: 'a', steps: true },
    { type: 'subscribe', block: 'a', stream: 'x' },
    { type: 'subscribe' },
    { type: 'unsubscribe', block: 'a' },
    { type: 'unsubscribe', block: 'a', stream: true },
    { type: 'ping' },
    { type: 'ping', x: 1 },
    { type: 'refresh', block: 'a' },
    {},
    [],
    null,
  ];
  for (const message of messages) t.equal(inDocument(message), isRead(message), JSON.stringify(message));
});

t.test('each frame of the server fits one message', async (t) => {
  const ajv = new Ajv({ strict: false });
  const schemas = schemasOf('toClient').map((schema) => ajv.compile(schema));
  const step = { type: 'stream', block: 'a', id: 'm', seq: 1 };
  const frames = [
    { type: 'refresh', block: 'a' },
    { type: 'gone', block: 'a' },
    { type: 'fleet', seq: 1, reset: false, changed: [], gone: ['a'] },
    { type: 'event', seq: 1, at: '2026-11-23T08:00:00.000Z', name: 'block.created', data: { block: 'a' } },
    { type: 'log', block: 'a', file: 'f.log', offset: 3, text: 'x\n' },
    { type: 'pong' },
    { type: 'error', code: 'BLOCK_NOT_FOUND', error: 'no', block: 'a' },
    { ...step, event: 'start', provider: 'p', model: 'm', attempt: 1 },
    { ...step, event: 'content', text: 'x' },
    { ...step, event: 'done', answerId: 'n', status: 'interrupted', stopReason: 'unknown' },
    { ...step, event: 'error', code: 'UPSTREAM_FAILED', error: 'no', willRetry: true },
    { type: 'run', block: 'a', id: 'm', event: 'step', n: 1 },
    { type: 'run', block: 'a', id: 'm', event: 'tool', call: '1.1', tool: 'x/y', state: 'called' },
    { type: 'run', block: 'a', id: 'm', event: 'progress', call: '1.1', tool: 'x/y', state: 'working', task: true, message: 'Reading' },
    { type: 'approval', id: 'a1', block: 'a', state: 'pending' },
  ];
  t.equal(frames.length, schemas.length);
  for (const frame of frames) t.equal(schemas.filter((validate) => validate(frame)).length, 1, JSON.stringify(frame));
});
