import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { openApiDocument } from '../../transports/http/openapi/openapi.ts';
import { ROUTES } from '../../transports/http/routes.ts';
import { generate } from '../support/generated.ts';
import { argsForFile } from '../support/node-args.ts';
import { scriptedAdapter } from '../support/scripted-adapter.ts';
import { type Answer, CHAT, framesOf, startServer } from '../support/server.ts';
import { faults, pointerTo, published } from './document.ts';

const ROOT = resolve(import.meta.dirname, '../..');
t.test('the published file is what the sources say', async (t) => {
  t.strictSame(published, JSON.parse(JSON.stringify(openApiDocument(ROUTES))));
});

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(published)) as Record<string, unknown>);
  t.equal(valid, true, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
});

t.test('every $ref leads somewhere, and every schema is used', async (t) => {
  const refs = [...JSON.stringify(published).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string);
  t.ok(refs.length > 0);
  const all = Object.entries(published.components).filter(([kind]) => kind !== 'securitySchemes');
  const places = all.flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`));
  t.strictSame([...new Set(refs)].sort(), places.sort());
});

t.test('every schema compiles', async (t) => {
  for (const name of Object.keys(published.components.schemas)) t.doesNotThrow(() => faults(pointerTo('components', 'schemas', name), {}), name);
});

t.test('real answers are what the document says', async (t) => {
  const failing = scriptedAdapter(
    {
      chat: () => {
        throw new Error('broken');
      },
      verify: () => Promise.reject(new Error('broken')),
      missingCredential: () => undefined,
    },
    'broken',
  );
  const unconfigured = scriptedAdapter({ missingCredential: () => 'set KEY' }, 'bare');
  const tooling = scriptedAdapter(
    {
      chat: ({ sink }) =>
        void sink.emit([
          { type: 'text', text: 'x' },
          { type: 'toolCall', toolCall: { id: 'c1', name: 'f', arguments: { a: [1] }, providerMetadata: { s: 't' } } },
          { type: 'usage', usage: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 1, reasoningTokens: 1 } },
          { type: 'providerMetadata', providerMetadata: { a: 1 } },
          { type: 'warning', warning: { field: 'config.temperature', message: 'left out' } },
          { type: 'stop', stopReason: 'end_turn' },
        ]),
      listModels: () => ['a', 'b'],
    },
    'tooling',
  );
  const server = await startServer(t, { adapters: [failing, unconfigured, tooling] });
  const chat = (adapter: string, more: object = {}): object => ({ ...CHAT, adapter, ...more });
  const cases: [method: string, url: string, path: string, status: number, body?: unknown, token?: false][] = [
    ['GET', '/v1/health', '/v1/health', 200],
    ['GET', '/api/health', '/api/health', 200],
    ['GET', '/api/auth/status', '/api/auth/status', 200],
    ['GET', '/openapi.json', '/openapi.json', 200],
    ['GET', '/asyncapi.json', '/asyncapi.json', 404],
    ['GET', '/v1/adapters', '/v1/adapters', 200],
    ['GET', '/v1/adapters', '/v1/adapters', 401, undefined, false],
    ['GET', '/v1/adapters/tooling/models', '/v1/adapters/{provider}/models', 200],
    ['GET', '/v1/adapters/nobody/models', '/v1/adapters/{provider}/models', 404],
    ['POST', '/v1/adapters/tooling/verify', '/v1/adapters/{provider}/verify', 200, { provider: 'tooling' }],
    ['POST', '/v1/adapters/bare/verify', '/v1/adapters/{provider}/verify', 503],
    ['POST', '/v1/adapters/nobody/verify', '/v1/adapters/{provider}/verify', 404],
    ['POST', '/v1/adapters/tooling/verify', '/v1/adapters/{provider}/verify', 400, { provider: 'bare' }],
    ['POST', '/v1/adapters/tooling/verify', '/v1/adapters/{provider}/verify', 413, Buffer.alloc(1024 * 1024 + 1)],
    ['POST', '/v1/adapters/broken/verify', '/v1/adapters/{provider}/verify', 500],
    ['POST', '/v1/chat', '/v1/chat', 200, chat('tooling')],
    ['POST', '/v1/chat', '/v1/chat', 400, chat('nobody')],
    ['POST', '/v1/chat', '/v1/chat', 500, chat('broken')],
    ['POST', '/v1/chat', '/v1/chat', 503, chat('bare')],
  ];
  for (const [method, url, path, status, body, token] of cases) {
    const answer: Answer = await server.call(method, url, { body, ...(token === false && { token }) });
    t.equal(answer.status, status, `${method} ${url}`);
    const pointer = pointerTo('paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema');
    t.strictSame(faults(pointer, answer.json), [], `${method} ${url} ${status}`);
  }
  const { text } = await server.call('POST', '/v1/chat', { body: chat('tooling', { stream: true }) });
  const frames = framesOf(text);
  t.strictSame(
    frames.map(({ event }) => event),
    ['start', 'content', 'done'],
  );
  const schema = pointerTo('paths', '/v1/chat', 'post', 'responses', '200', 'content', 'text/event-stream', 'schema');
  for (const frame of frames) t.strictSame(faults(schema, frame), [], frame.event);
});

t.test('what the server takes is what the document says, and the other way round', async (t) => {
  const server = await startServer(t);
  const pointer = pointerTo('components', 'schemas', 'ChatRequest');
  const [call, result] = [
    { id: 'c1', name: 'f', arguments: {} },
    { toolCallId: 'c1', content: '4' },
  ];
  const bodies: [body: object, good: boolean][] = [
    [CHAT, true],
    [{ ...CHAT, stream: false, config: { maxTokens: 5, temperature: 1 }, tools: [{ name: 'f' }, { type: 'function', function: { name: 'g' } }] }, true],
    [{ ...CHAT, model: '../x' }, false],
    [{ ...CHAT, messages: [] }, false],
    [{ ...CHAT, config: { temperature: 2 } }, false],
    [{ ...CHAT, extra: 1 }, false],
    [{ ...CHAT, tools: [{ name: 'a b' }] }, false],
    [{ ...CHAT, messages: [...CHAT.messages, { role: 'assistant', content: '', toolCalls: [call] }, { role: 'tool', toolResults: [result] }] }, true],
    [{ ...CHAT, messages: [{ role: 'system', content: 'x' }, ...CHAT.messages] }, true],
    [{ ...CHAT, messages: [{ role: 'user' }] }, false],
    [{ ...CHAT, messages: [{ role: 'system' }, ...CHAT.messages] }, false],
    [{ ...CHAT, messages: [{ role: 'user', content: 'x', toolCalls: [call] }] }, false],
    [{ ...CHAT, messages: [{ role: 'user', content: 'x', toolResults: [result] }] }, false],
    [{ ...CHAT, messages: [...CHAT.messages, { role: 'assistant', toolResults: [result] }] }, false],
    [{ ...CHAT, messages: [...CHAT.messages, { role: 'tool', content: 'x' }] }, false],
    [{ ...CHAT, messages: [{ role: 'nobody', content: 'x' }] }, false],
    [{}, false],
  ];
  for (const [body, good] of bodies) {
    t.equal(faults(pointer, body).length === 0, good, `document: ${JSON.stringify(body)}`);
    t.equal((await server.call('POST', '/v1/chat', { body })).status, good ? 200 : 400, `server: ${JSON.stringify(body)}`);
  }
});

t.test('npm run generate writes the file, and --check tells a stale one', async (t) => {
  const folder = t.testdir();
  const args = [...argsForFile('spec/generate.ts'), 'openapi.json', `--folder=${folder}`, '--check'];
  t.match(spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' }), { status: 1, stderr: /npm run generate/ }, 'a missing file');
  const here = (checkOnly: boolean): Promise<string[]> => generate({ names: ['openapi.json'], folder, checkOnly });
  t.strictSame(await here(false), []);
  const path = join(folder, 'openapi.json');
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(JSON.stringify(openApiDocument(ROUTES))));
  t.strictSame(await here(true), [], 'a fresh file');
  appendFileSync(path, ' ');
  const { mtimeMs } = statSync(path);
  t.strictSame(await here(true), [path], 'a changed file');
  t.equal(statSync(path).mtimeMs, mtimeMs, 'which is left as it is');
});
