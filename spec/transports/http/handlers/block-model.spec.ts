import { createServer, connect as netConnect } from 'node:net';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createOllama } from '../../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../../adapters/openai/index.ts';
import { askBlock, type BlockRequest } from '../../../../transports/http/handlers/block-model.ts';
import { createBlock, historyOf, RUNNABLE } from '../../../support/block-calls.ts';
import { type HeldDaemon, heldDaemon } from '../../../support/held-daemon.ts';
import { type Answer, type CallOptions, readAnswer, responseOf, startServer, type TestServer, type TestServerOptions, until } from '../../../support/server.ts';

type Fields = Record<string, unknown>;

interface Protocol {
  readonly path: string;
  body(content: string, more?: Fields): Fields;
  /** The code or type of an error. */
  codeOf(answer: Answer): unknown;
}

const turn = (content: string) => [{ role: 'user', content }];
const errorOf = ({ json }: Answer): Fields => json['error'] as Fields;
const PROTOCOLS: Readonly<Record<'chat' | 'responses' | 'messages' | 'ollama', Protocol>> = {
  chat: {
    path: '/v1/chat/completions',
    body: (content, more) => ({ model: 'block/ada', messages: turn(content), ...more }),
    codeOf: (answer) => errorOf(answer)['code'],
  },
  responses: {
    path: '/v1/responses',
    body: (content, more) => ({ model: 'block/ada', input: content, ...more }),
    codeOf: (answer) => errorOf(answer)['code'],
  },
  messages: {
    path: '/v1/messages',
    body: (content, more) => ({ model: 'block/ada', max_tokens: 9, messages: turn(content), ...more }),
    codeOf: (answer) => errorOf(answer)['type'],
  },
  ollama: {
    path: '/ollama/api/chat',
    body: (content, more) => ({ model: 'block/ada', messages: turn(content), stream: false, ...more }),
    codeOf: ({ json }) => json['error'],
  },
};
const { chat, responses, messages, ollama } = PROTOCOLS;

/** A server with the running block ada. */
async function serve(t: Test, options: TestServerOptions = {}, config: object = {}): Promise<{ server: TestServer; daemon: HeldDaemon }> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const server = await startServer(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await createBlock(server, 'ada', { ...RUNNABLE, retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 }, ...config });
  await server.call('POST', '/api/blocks/ada/start');
  return { server, daemon };
}

const ask = (server: TestServer, { path, body }: Protocol, content: string, { headers, ...more }: CallOptions & { readonly more?: Fields } = {}) =>
  server.call('POST', path, { ...more, ...(headers !== undefined && { headers }), body: body(content, more.more) });

const askedOf = async (server: TestServer) => (await historyOf(server, 'ada')).filter(({ role }) => role === 'user');
const hasAsked = (server: TestServer, count: number) => until(async () => (await askedOf(server)).length === count, `${count} messages`);

async function keyWith(server: TestServer, name: string, more: object): Promise<Record<string, string>> {
  const { json } = await server.call('POST', '/api/keys', { body: { name, ...more } });
  return { authorization: `Bearer ${json['key']}` };
}

t.test('an answer names its message and its block, and carries the name that the client wrote', async (t) => {
  const { server, daemon } = await serve(t);
  const asking = ask(server, chat, 'hi', { more: { temperature: 0.5 } });
  (await daemon.call(0)).answer('Hello');
  const whole = await asking;
  const [asked] = await askedOf(server);
  t.match(whole, { status: 200, headers: { 'x-blockhouse-model': 'block/ada', 'x-blockhouse-message': asked?.id, 'x-blockhouse-warnings': 'temperature' } });
  t.match(whole.json, { model: 'block/ada', choices: [{ message: { content: 'Hello' } }], usage: { total_tokens: Number } });
});

t.test('an alias may stand for a block, and for nothing else besides', async (t) => {
  const { server, daemon } = await serve(t);
  t.match(await server.call('PUT', '/api/models/gpt-x', { body: { targets: ['block/ada'] } }), { status: 200 });
  for (const targets of [['block/ada', 'ollama/m'], [{ model: 'block/ada', weight: 2 }], ['block/A b']])
    t.match(await server.call('PUT', '/api/models/other', { body: { targets } }), { status: 400, json: { code: 'INVALID_REQUEST' } }, JSON.stringify(targets));
  const asking = ask(server, chat, 'hi', { more: { model: 'gpt-x' } });
  (await daemon.call(0)).answer('Hello');
  t.match(await asking, {
    status: 200,
    headers: { 'x-blockhouse-model': 'block/ada' },
    json: { model: 'gpt-x', choices: [{ message: { content: 'Hello' } }] },
  });
  t.match(await server.call('GET', '/api/models/block%2Fada'), { json: { by: 'block', targets: [{ adapter: 'block', model: 'ada' }] } });
});

t.test('where blocks are not known, an error says where they are', async (t) => {
  const { server } = await serve(t);
  const says = /\/v1\/chat\/completions, \/v1\/responses, \/v1\/messages and \/ollama\/api\/chat alone; .* POST \/api\/blocks\/<name>\/chat/;
  const calls: [string, Fields][] = [
    ['/v1/chat', { adapter: 'block', model: 'ada', messages: turn('hi') }],
    ['/v1/chat', { model: 'block/ada', messages: turn('hi') }],
    ['/v1/chat', { model: 'block/ada', messages: turn('hi'), stream: true }],
    ['/v1/completions', { model: 'block/ada', prompt: 'hi' }],
    ['/v1/embeddings', { model: 'block/ada', input: 'hi' }],
    ['/v1/messages/count_tokens', { model: 'block/ada', messages: turn('hi') }],
    ['/ollama/api/generate', { model: 'block/ada', prompt: 'hi' }],
    ['/ollama/api/embed', { model: 'block/ada', input: 'hi' }],
  ];
  for (const [path, body] of calls) {
    const answer = await server.call('POST', path, { body });
    t.equal(answer.status, 400, path);
    t.match(answer.text, says, path);
  }
  t.match(await server.call('PUT', '/api/blocks/ada/config', { body: { adapter: { provider: 'block', model: 'ada' } } }), {
    status: 400,
    json: { error: /adapter\.provider can't be another block/ },
  });
  t.match(await server.call('PUT', '/api/blocks/ada/config', { body: { fallbacks: [{ provider: 'block', model: 'ada' }] } }), {
    status: 400,
    json: { error: /fallbacks\[0\]\.provider can't be another block/ },
  });
  t.strictSame(await askedOf(server), []);
});

t.test('an idempotency key attaches across a disconnect and a protocol, whole or streamed: one message', async (t) => {
  const { server, daemon } = await serve(t);
  const headers = { 'idempotency-key': 'k-1' };
  const left = server.open('POST', chat.path, { headers, body: chat.body('hi') });
  const call = await daemon.call(0);
  left.destroy();
  const waiting = [messages, responses, ollama].map((protocol) => ask(server, protocol, 'hi', { headers }));
  const streamed = readAnswer(await streamOf(server, chat, 'hi', headers, () => call.say('Hel')));
  call.say('lo');
  call.end();
  for (const answer of await Promise.all(waiting)) t.match(answer, { status: 200, text: /Hello/ });
  t.match((await streamed).text, /"Hel"[\s\S]*"lo"[\s\S]*\[DONE\]/);
  t.match(await ask(server, chat, 'hi', { headers }), { status: 200, text: /Hello/ }, 'for ever');
  t.match(await ask(server, chat, 'ho', { headers }), {
    status: 409,
    headers: { 'x-should-retry': 'false' },
    json: { error: { code: 'idempotency_key_reused' } },
  });
  t.equal((await askedOf(server)).length, 1);
  t.equal(daemon.calls.length, 1);
});

/** The response of a stream whose first text has come. */
async function streamOf(server: TestServer, { path, body }: Protocol, content: string, headers: Record<string, string>, begin: () => void) {
  const response = responseOf(server.open('POST', path, { headers, body: body(content, { stream: true }) }));
  begin();
  return response;
}

t.test('the same words are a new message once they were delivered, and the same one before', async (t) => {
  const { server, daemon } = await serve(t);
  const left = server.open('POST', chat.path, { body: chat.body('turn on the light') });
  const call = await daemon.call(0);
  left.destroy();
  call.answer('It is on.');
  await until(async () => (await historyOf(server, 'ada')).length === 2, 'the answer');
  t.match(await ask(server, chat, 'turn on the light'), { status: 200, text: /It is on/ }, 'not delivered');
  t.equal((await askedOf(server)).length, 1);
  const again = ask(server, chat, 'turn on the light');
  (await daemon.call(1)).answer('It is on already.');
  t.match(await again, { status: 200, text: /already/ }, 'delivered');
  t.equal((await askedOf(server)).length, 2);
});

t.test('those who send again what is answered look for it one after the other, over each protocol', async (t) => {
  const { server, daemon } = await serve(t);
  const headers = { 'idempotency-key': 'k-1', ...(await keyWith(server, 'app', { rights: ['blocks', 'mcp'] })) };
  const asking = ask(server, chat, 'hi', { headers });
  (await daemon.call(0)).answer('Hello');
  await asking;
  const { blocks } = server.core;
  const { answer } = blocks;
  let [looks, most] = [0, 0];
  blocks.answer = async (...args) => {
    looks += 1;
    most = Math.max(most, looks);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return answer(...args).finally(() => (looks -= 1));
  };
  const params = { name: 'send_message', arguments: { block: 'ada', message: 'hi', clientId: '1', waitSeconds: 0 } };
  const send = () => server.call('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
  for (const { text } of await Promise.all([chat, messages, responses, ollama].map((protocol) => ask(server, protocol, 'hi', { headers }))))
    t.match(text, /Hello/);
  await Promise.all([send(), send()]);
  t.equal(most, 1);
});

t.test('a key needs the right, and reads the same of a block that is not there', async (t) => {
  const { server, daemon } = await serve(t);
  const refused = async (headers: Record<string, string>, what: string) => {
    for (const protocol of Object.values(PROTOCOLS)) {
      const [there, not] = [await ask(server, protocol, 'hi', { headers }), await ask(server, protocol, 'hi', { headers, more: { model: 'block/eve' } })];
      t.equal(there.status, 403, what);
      t.equal(there.text.replace(/req[\w-]+/g, ''), not.text.replaceAll('eve', 'ada').replace(/req[\w-]+/g, ''), what);
    }
    for (const path of ['/v1/models/block%2Fada', '/v1/models/block%2Feve'])
      t.match(await server.call('GET', path, { headers }), { status: 403 }, `${what} ${path}`);
  };
  await refused(await keyWith(server, 'plain', {}), 'no right');
  await refused(await keyWith(server, 'models', { models: ['*'] }), 'a list of models');
  await refused(await keyWith(server, 'others', { rights: ['blocks'], blocks: ['bob'] }), 'other blocks');
  t.strictSame(await askedOf(server), []);
  const may = [{ rights: ['blocks'] }, { rights: ['blocks'], models: ['none/*'] }, { blocks: ['a*'] }, { rights: ['blocks'], blocks: ['ada'] }];
  for (const [index, limits] of may.entries()) {
    const headers = await keyWith(server, `may-${index}`, limits);
    const asking = ask(server, chat, 'hi', { headers });
    (await daemon.call(index)).answer('Hello');
    t.match(await asking, { status: 200 }, JSON.stringify(limits));
    if (limits.blocks === undefined) t.match(await ask(server, chat, 'hi', { headers, more: { model: 'block/eve' } }), { status: 404 });
  }
  t.match(await ask(server, chat, 'hi', { more: { model: 'block/eve' } }), { status: 404 }, 'the token');
});

t.test('a key reads no name of a block that it may not ask, neither behind an alias nor beside a name that it may ask', async (t) => {
  const { server } = await serve(t);
  await server.call('PUT', '/api/models/gpt-x', { body: { targets: ['block/ada'] } });
  const headers = await keyWith(server, 'others', { blocks: ['adb'] });
  const calls: [string, Fields][] = [
    ...Object.values(PROTOCOLS).flatMap((protocol): [string, Fields][] => [
      [protocol.path, protocol.body('hi', { model: 'gpt-x' })],
      [protocol.path, protocol.body('hi', { model: 'block/adb' })],
    ]),
    ['/v1/completions', { model: 'gpt-x', prompt: 'hi' }],
    ['/v1/embeddings', { model: 'gpt-x', input: 'hi' }],
    ['/v1/messages/count_tokens', { model: 'gpt-x', messages: turn('hi') }],
    ['/ollama/api/show', { model: 'gpt-x' }],
    ['/ollama/api/show', { model: 'block/adb' }],
  ];
  for (const [path, body] of calls) {
    const { status, text } = await server.call('POST', path, { body, headers });
    t.ok([400, 403, 404].includes(status), `${path} ${status}`);
    t.notMatch(text, /\bada\b/, path);
  }
  for (const name of ['gpt-x', 'block%2Fadb']) t.notMatch((await server.call('GET', `/v1/models/${name}`, { headers })).text, /\bada\b/, name);
  t.match(await ask(server, chat, 'hi', { more: { model: 'block/adb' } }), { status: 404, text: /did you mean/ }, 'the token is helped');
});

t.test('two keys with one idempotency key never meet', async (t) => {
  const { server, daemon } = await serve(t);
  const headers = { 'idempotency-key': 'k' };
  const keys = [await keyWith(server, 'one', { rights: ['blocks'] }), await keyWith(server, 'two', { rights: ['blocks'] })];
  const asking = keys.map((key) => ask(server, chat, 'hi', { headers: { ...headers, ...key } }));
  (await daemon.call(0)).answer('For one');
  (await daemon.call(1)).answer('For another');
  const texts = (await Promise.all(asking)).map(({ text }) => /For \w+/.exec(text)?.[0]);
  t.strictSame(texts.sort(), ['For another', 'For one']);
});

t.test('lists of models show the running blocks to those who may ask them', async (t) => {
  const server = await startServer(t); // its daemon lists its models, too
  await createBlock(server, 'ada');
  await server.call('POST', '/api/blocks/ada/start');
  await createBlock(server, 'stopped');
  await server.call('PUT', '/api/models/my-agent', { body: { targets: ['block/ada'] } });
  const idsOf = async (path: string, headers: Record<string, string> = {}): Promise<string[]> => {
    const { json } = await server.call('GET', path, { headers });
    return ((json['data'] ?? json['models']) as { id?: string; name?: string }[]).map(({ id, name }) => id ?? name ?? '');
  };
  const paths = ['/v1/models', '/ollama/api/tags'];
  const ofBlocks = (ids: readonly string[]) => ids.filter((id) => id.startsWith('block/') || id === 'my-agent');
  for (const path of paths) {
    t.strictSame(ofBlocks(await idsOf(path)), ['my-agent', 'block/ada'], path);
    t.strictSame(ofBlocks(await idsOf(path, await keyWith(server, `no-${paths.indexOf(path)}`, {}))), [], path);
    t.strictSame(
      ofBlocks(await idsOf(path, await keyWith(server, `few-${paths.indexOf(path)}`, { models: ['x'], blocks: ['ada'] }))),
      ['my-agent', 'block/ada'],
      path,
    );
  }
  t.strictSame(ofBlocks(await idsOf('/v1/models?limit=1000', { 'anthropic-version': '2023-06-01' })), ['my-agent', 'block/ada']);
  t.match(await server.call('GET', '/v1/models/block/ada'), { status: 200, json: { id: 'block/ada', owned_by: 'block' } });
  t.match(await server.call('GET', '/v1/models/block%2Feve'), { status: 404 });
  t.match(await server.call('POST', '/ollama/api/show', { body: { model: 'block/ada' } }), { status: 200, json: { capabilities: ['completion'] } });
  t.match(await server.call('POST', '/ollama/api/show', { body: { model: 'block/eve' } }), { status: 404 });
});

t.test('a failure is told in each protocol, names the message, and is not to be tried again', async (t) => {
  const { server, daemon } = await serve(t);
  const codes = { chat: 'message_failed', responses: 'message_failed', messages: 'api_error', ollama: /has failed/ };
  for (const [index, [name, protocol]] of Object.entries(PROTOCOLS).entries()) {
    const asking = ask(server, protocol, name);
    (await daemon.call(index)).refuse(400, 'no such model at http://10.0.0.7');
    const answer = await asking;
    t.match(answer, { status: 502, headers: { 'x-should-retry': 'false' } }, name);
    t.match(protocol.codeOf(answer), codes[name as keyof typeof codes], name);
    t.match(answer.text, /The message m\w+ of the block ada has failed \(UPSTREAM_REJECTED\): /, name);
    await server.call('POST', '/api/blocks/ada/start');
  }
  const asking = ask(server, chat, 'with a key', { headers: await keyWith(server, 'app', { rights: ['blocks'] }) });
  (await daemon.call(4)).refuse(400, 'no such model at http://10.0.0.7');
  t.notMatch((await asking).text, /10\.0\.0\.7/, 'an application reads no words of the provider');
});

t.test('a cancelled message ends the wait', async (t) => {
  const { server, daemon } = await serve(t);
  const asking = ask(server, chat, 'hi');
  await daemon.call(0);
  const [asked] = await askedOf(server);
  await server.call('POST', `/api/blocks/ada/chat/${asked?.id}/cancel`);
  t.match(await asking, { status: 502, text: /was cancelled/ });
});

t.test('a block that is stopped is 503, and nothing is queued', async (t) => {
  const { server } = await serve(t);
  await server.call('POST', '/api/blocks/ada/stop');
  for (const protocol of Object.values(PROTOCOLS))
    t.match(await ask(server, protocol, 'hi'), { status: 503, text: /stopped.*blockhouse why ada/ }, protocol.path);
  const headers = await keyWith(server, 'app', { rights: ['blocks'] });
  const told = await ask(server, chat, 'hi', { headers });
  t.match(told, { status: 503, text: /ada does not answer now/ });
  t.notMatch(told.text, /blockhouse why/);
  t.strictSame(await askedOf(server), []);
});

t.test('a stream is kept alive while the message waits, and begins in the form of its protocol', async (t) => {
  const { server, daemon } = await serve(t, { http: { sse: { openAfterMs: 20, keepAliveMs: 20 } } });
  const comments = {
    chat: /^(: keep-alive\n\n)+data: \{/,
    responses: /^(: .*\n\n)+event: response\.created/,
    messages: /^(: keep-alive\n\n)+event: message_start/,
    ollama: /^(\{.*"content":"".*\n)+/,
  };
  for (const [index, [name, { path, body }]] of Object.entries(PROTOCOLS).entries()) {
    const response = await responseOf(server.open('POST', path, { body: body(name, { stream: true }) })); // the head comes with the first comment
    (await daemon.call(index)).answer('Hello');
    const { text } = await readAnswer(response);
    t.match(text, comments[name as keyof typeof comments], name);
    t.match(text, /Hello/, name);
  }
});

t.test('an attempt that fails after its text went out ends the stream with an error; the message goes on', async (t) => {
  const { server, daemon } = await serve(t, {}, { retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 3 } });
  const asking = responseOf(server.open('POST', chat.path, { body: chat.body('hi', { stream: true }) }));
  const first = await daemon.call(0);
  first.say('Hel');
  const response = await asking;
  first.cut();
  const { text } = await readAnswer(response);
  t.match(text, /"Hel"[\s\S]*data: \{"error":\{"message":"The attempt whose text was sent has failed\./);
  t.notMatch(text, /\[DONE\]/);
  const again = ask(server, chat, 'hi');
  (await daemon.call(1)).answer('Hello');
  t.match(await again, { status: 200, text: /Hello/ });
  t.equal((await askedOf(server)).length, 1);
});

t.test('after its time a wait ends with 504 and the id, and the same request waits on', async (t) => {
  const { server, daemon } = await serve(t);
  const context = (signal: AbortSignal) =>
    ({
      core: server.core,
      key: undefined,
      signal,
      requestId: 'r',
      req: { headers: {} },
      res: { once: () => undefined },
      server: { draining: new AbortController().signal },
    }) as unknown as BlockRequest['context'];
  const request: BlockRequest = {
    dialect: {} as BlockRequest['dialect'],
    context: context(new AbortController().signal),
    asked: {
      requestId: 'r',
      created: 0,
      request: { model: 'block/ada', chat: { messages: [{ role: 'user', content: 'hi' }] }, stream: false, warnings: [], echo: undefined },
    },
    body: {},
    block: 'ada',
  };
  await t.rejects(askBlock(request, { waitMs: 5 }), { code: 'STILL_WORKING', status: 504, retryable: true, message: /message m\w+ yet/ });
  const again = ask(server, chat, 'hi');
  (await daemon.call(0)).answer('Hello');
  t.match(await again, { status: 200, text: /Hello/ });
  t.equal((await askedOf(server)).length, 1);
});

t.test('a server that ends tells those who wait to come again', async (t) => {
  const { server, daemon } = await serve(t);
  const asking = ask(server, chat, 'hi');
  await daemon.call(0);
  const closing = server.transport.close();
  t.match(await asking, { status: 503, text: /shutting down/ });
  await closing;
});

t.test('more than 32 waiting connections of a block are refused with 429', async (t) => {
  const { server, daemon } = await serve(t);
  const open = Array.from({ length: 32 }, (_, n) => server.open('POST', chat.path, { body: chat.body(`q ${n}`) }));
  await hasAsked(server, 32);
  t.match(await ask(server, chat, 'one too many'), { status: 429, headers: { 'retry-after': '5' }, text: /32 connections wait for the block ada/ });
  for (const request of open) request.destroy();
  await until(async () => {
    const asking = responseOf(server.open('POST', chat.path, { body: chat.body('again', { stream: true }), headers: { 'idempotency-key': 'again' } }));
    const early = await Promise.race([asking.then(({ statusCode }) => statusCode), hasAsked(server, 33).then(() => 0)]);
    return early === 0;
  }, 'room');
  t.ok(daemon.calls.length > 0);
});

t.test('what a run costs counts for its block and for its key, once in all', async (t) => {
  const { server, daemon } = await serve(t);
  const headers = await keyWith(server, 'app', { rights: ['blocks'], tokensPerDay: 5 });
  const asking = ask(server, chat, 'hi', { headers });
  (await daemon.call(0)).answer('Hello');
  t.match(await asking, { status: 200 });
  const costs = async (query: string) => (await server.call('GET', `/api/costs?${query}`)).json as { total: { calls: number }; rows: { key: string }[] };
  t.match(await costs('by=block'), { rows: [{ key: 'ada' }], total: { calls: 1 } });
  t.match(await costs('source=gateway&by=key'), { rows: [{ key: 'app' }], total: { calls: 1 } });
  t.match(await costs('source=gateway&by=model'), { rows: [], total: { calls: 0 } });
  t.match(await ask(server, chat, 'more', { headers }), { status: 429, headers: { 'x-should-retry': 'false' }, text: /cap of 5 tokens a day/ });
  t.equal((await askedOf(server)).length, 1);
});

t.test('a key at its cap gets the answers to what it has asked before, and asks nothing new', async (t) => {
  const { server, daemon } = await serve(t);
  const key = await keyWith(server, 'app', { rights: ['blocks'], tokensPerDay: 5 });
  const headers = { ...key, 'idempotency-key': 'k-1' };
  const words = server.open('POST', chat.path, { headers: key, body: chat.body('one') });
  const first = await daemon.call(0);
  const left = server.open('POST', chat.path, { headers, body: chat.body('two') });
  await until(async () => (await askedOf(server)).length === 2, 'both are asked');
  words.destroy();
  left.destroy();
  first.answer('Hello');
  await until(async () => (await askedOf(server)).every(({ status }) => status !== 'queued' && status !== 'processing'), 'both have ended');
  t.match(await ask(server, chat, 'one', { headers: key }), { status: 200, text: /Hello/ }, 'the same words');
  t.match(await ask(server, chat, 'one', { headers: key }), { status: 429 }, 'the same words again, which are a new message');
  t.match(await ask(server, chat, 'two', { headers }), { status: 502, text: /KEY_CAP_REACHED/ }, 'what became of one that waited');
  t.match(await ask(server, chat, 'three', { headers }), { status: 409 });
  t.match(await ask(server, chat, 'three', { headers: { ...key, 'idempotency-key': 'k-2' } }), { status: 429 });
  t.equal((await askedOf(server)).length, 2);
});

t.test('the limit of a key by the minute holds for questions', async (t) => {
  const { server, daemon } = await serve(t);
  const headers = await keyWith(server, 'app', { rights: ['blocks'], requestsPerMinute: 1 });
  const asking = ask(server, chat, 'hi', { headers });
  (await daemon.call(0)).answer('Hello');
  t.match(await asking, { status: 200, headers: { 'x-ratelimit-limit-requests': '1' } });
  t.match(await ask(server, chat, 'more', { headers }), { status: 429, headers: { 'retry-after': /\d/ } });
});

/** A way round to the server: its own address is refused before. */
async function detourTo(t: Test, server: TestServer): Promise<string> {
  const detour = createServer((socket) => {
    const onward = netConnect(server.port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((resolve) => detour.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void detour.close());
  return `http://127.0.0.1:${(detour.address() as AddressInfo).port}`;
}

t.test('a block that asks itself through its own adapter gets 508, and does not try again', async (t) => {
  const { server } = await serve(
    t,
    { adapters: [createOpenAI(), createOllama()], env: { OPENAI_API_KEY: 'k' }, http: { allowRemote: true } },
    { adapter: { provider: 'openai', model: 'm' }, retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 3 } },
  );
  const origin = await detourTo(t, server);
  await server.core.credentials?.update('openai', { apiKey: server.token, baseURL: `${origin}/v1`, api: 'chat' });
  await server.core.credentials?.update('ollama', { apiKey: server.token, baseURL: `${origin}/ollama` });
  for (const [index, provider] of ['openai', 'ollama'].entries()) {
    await server.call('PUT', '/api/blocks/ada/config', { body: { adapter: { provider, model: 'block/ada' } } });
    await server.call('POST', '/api/blocks/ada/start');
    const answer = await ask(server, chat, `hi ${provider}`);
    t.match(answer, { status: 502, text: /asks block\/ada through its own provider/ }, provider);
    t.equal((await askedOf(server)).length, index + 1);
    t.equal((await historyOf(server, 'ada')).at(-1)?.attempts, 1, `${provider}: once`);
  }
});

t.test('a server of the gateway alone says that it has no blocks, to those who may ask', async (t) => {
  const server = await startServer(t, { gatewayOnly: true });
  for (const protocol of Object.values(PROTOCOLS)) t.match(await ask(server, protocol, 'hi'), { status: 503, text: /--gateway-only/ }, protocol.path);
  t.match(await ask(server, chat, 'hi', { headers: await keyWith(server, 'app', {}) }), { status: 403 });
  t.notMatch((await server.call('GET', '/v1/models')).text, /block\//);
});
