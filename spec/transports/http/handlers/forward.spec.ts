import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAnthropic } from '../../../../adapters/anthropic/index.ts';
import { createOllama } from '../../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../../adapters/openai/index.ts';
import { startServer, type TestServerOptions } from '../../../support/server.ts';
import { type Answerer, sendInPieces, sendJson, startUpstream } from '../../../support/upstream.ts';

const PATH = '/v1/chat/completions';
const KEY = 'sk-the-key-of-the-provider-123';
const ANSWER =
  '{"id":"1","choices":[{"message":{"role":"assistant","content":"hi"}, "finish_reason":"stop"}], "odd": 1.0, "usage": {"prompt_tokens":9,"completion_tokens":4}}';
const USAGE = 'data: {"id":"1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}\n\n';
const FRAMES = [
  'data: {"id":"1","choices":[{"delta":{"role":"assistant","content":""}}]}\n\n',
  'data: {"id":"1","choices":[{"delta":{"content":"Grüße \\/ {\\"error\\""}}]}\r\n\r\n',
  ': a comment of the provider\n\n',
  'data: {"id":"1","choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
];
const DONE = 'data: [DONE]\n\n';

/** A server before one that speaks Chat Completions itself. */
async function serve(t: Test, answer: Answerer, options: TestServerOptions = {}) {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, {
    adapters: [createOpenAI(), createOllama()],
    retries: 0,
    env: { OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: KEY },
    ...options,
  });
  return { ...server, upstream, ask: (body: unknown, headers = {}) => server.call('POST', PATH, { body, headers }) };
}

const ask = (more: object = {}): string => JSON.stringify({ model: 'openai/m', messages: [{ role: 'user', content: 'hi' }], ...more });
const lines = async (core: Awaited<ReturnType<typeof serve>>['core']) => (await core.accounts?.costs('model'))?.rows;

t.test('case 37: the bytes of the request pass but for the model, and those of the answer as they are', async (t) => {
  const { ask, upstream, token, core } = await serve(t, (_request, res) => {
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-remaining-requests': '7',
      'x-request-id': 'theirs',
      'set-cookie': 'no',
      server: 'no',
    });
    res.end(ANSWER);
  });
  const body = '{ "unknown":{"n":1.0,"e":1e3,"s":"a\\/b"},"model" : "openai/some/m","messages":[{"role":"user","content":"ü"}],"unknown":2 }';
  const answer = await ask(body, {
    'openai-beta': 'next=1',
    'anthropic-beta': 'no',
    'idempotency-key': 'k',
    'content-type': 'application/json; charset =utf-7',
    cookie: 'no',
    'user-agent': 'no',
  });
  t.equal(answer.text, ANSWER);
  t.match(answer, {
    status: 200,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-remaining-requests': '7',
      'x-request-id': 'theirs',
      'x-blockhouse-model': 'openai/some/m',
    },
  });
  t.notOk(answer.headers['set-cookie'] ?? answer.headers['server']);
  const [sent] = upstream.requests;
  t.equal(sent?.body, body.replace('openai/some/m', 'some/m'));
  t.match(sent, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${KEY}`, 'openai-beta': 'next=1', 'idempotency-key': 'k' },
  });
  t.equal(sent?.headers['content-type'], 'application/json', 'no encoding in which the body says something else');
  t.same(
    ['anthropic-beta', 'cookie', 'user-agent', 'x-api-key'].filter((name) => sent?.headers[name] !== undefined),
    [],
  );
  t.notMatch(JSON.stringify(sent), token);
  t.match(await lines(core), [{ calls: 1, input: 9, output: 4 }]);
});

t.test('two keys of applications with one idempotency key never meet at a provider that remembers its answers by it', async (t) => {
  const answers = new Map<unknown, string>();
  const {
    ask: send,
    core,
    upstream,
  } = await serve(t, (request, res) => {
    const id = request.headers['idempotency-key'];
    if (!answers.has(id)) answers.set(id, ANSWER.replace('hi', `hi ${answers.size}`));
    res.end(answers.get(id));
  });
  const [one, other] = [(await core.keys?.create('one')) ?? '', (await core.keys?.create('other')) ?? ''];
  const told = async (key: string | undefined): Promise<string> =>
    (await send(ask(), { 'idempotency-key': 'order-1', ...(key !== undefined && { authorization: `Bearer ${key}` }) })).text;
  const first = await told(one);
  t.equal(await told(one), first, 'the same key gets the same answer');
  t.not(await told(other), first);
  t.not(await told(undefined), first);
  t.equal(upstream.requests.at(-1)?.headers['idempotency-key'], 'order-1', 'that of the token goes as it is');
  for (const { headers } of upstream.requests.slice(0, -1)) t.match(headers['idempotency-key'], /^[\w-]{43}$/);
});

t.test('a query goes along', async (t) => {
  const { call, upstream } = await serve(t, (_request, res) => void res.end(ANSWER));
  await call('POST', `${PATH}?beta=true&x=%20`, { body: ask() });
  t.equal(upstream.requests[0]?.path, '/v1/chat/completions?beta=true&x=%20');
});

t.test('the bytes of a stream pass, however they are cut; its usage is counted and shown only to those who ask', async (t) => {
  for (const size of [1, 7, 4096]) {
    const { ask: send, upstream, core } = await serve(t, (_request, res) => sendInPieces(res, Buffer.from([...FRAMES, USAGE, DONE].join('')), size));
    const hidden = await send(ask({ stream: true }));
    t.equal(hidden.text, [...FRAMES, DONE].join(''), `pieces of ${size}`);
    t.match(hidden.headers, { 'content-type': /^text\/event-stream/, 'x-blockhouse-model': 'openai/m' });
    t.match(JSON.parse(upstream.requests[0]?.body ?? ''), { stream_options: { include_usage: true } });
    const shown = await send(ask({ stream: true, stream_options: { include_usage: true } }));
    t.equal(shown.text, [...FRAMES, USAGE, DONE].join(''));
    t.match(await lines(core), [{ calls: 2, input: 18, output: 8 }]);
  }
});

t.test('a request that passes as it is says plainly whether it wants a stream, since a provider may take more for a yes', async (t) => {
  const { call, upstream } = await serve(t, (_request, res) => void res.end(ANSWER));
  for (const stream of ['true', 1, 'on', 0, {}, []]) {
    const answer = await call('POST', PATH, { body: ask({ stream }) });
    t.match(answer, { status: 400, json: { error: { param: 'stream', message: /stream.*must be true or false/ } } }, JSON.stringify(stream));
  }
  t.match(await call('POST', PATH, { body: ask({ stream: true, stream_options: { INCLUDE_USAGE: false } }) }), {
    status: 400,
    json: { error: { param: 'stream_options.INCLUDE_USAGE', message: /Write include_usage/ } },
  });
  t.equal(upstream.requests.length, 0);
  t.match(await call('POST', PATH, { body: ask({ stream: null }) }), { status: 200 });
});

t.test('so does one in Messages and in Responses', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, {}));
  const stored = JSON.stringify({
    openai: { apiKey: KEY, baseURL: `${upstream.url}/v1`, api: 'responses' },
    anthropic: { apiKey: KEY, baseURL: upstream.url },
  });
  const server = await startServer(t, { adapters: [createOpenAI(), createAnthropic()] });
  writeFileSync(join(server.workspace, 'auth.json'), stored, { mode: 0o600 });
  for (const [path, model] of [
    ['/v1/messages', 'anthropic/m'],
    ['/v1/responses', 'openai/m'],
  ] as const) {
    const body = { model, max_tokens: 9, messages: [], input: 'hi', stream: 'true' };
    t.match(await server.call('POST', path, { body }), { status: 400, json: { error: { message: /stream.*must be true or false/ } } }, path);
  }
  t.equal(upstream.requests.length, 0, 'nothing was sent');
});

t.test('usage is counted, and hidden, whatever the blanks in it', async (t) => {
  for (const usage of [
    'data: {"id":"1","choices":[],"usage" : {"prompt_tokens":9,"completion_tokens":4}}\n\n',
    'data: {"id":"1","choices":[],"usage"\t:  {"prompt_tokens":9,"completion_tokens":4}}\n\n',
    'data: {\ndata:  "choices": [],\ndata:  "usage":\ndata: {"prompt_tokens":9,"completion_tokens":4}}\n\n',
    'data: {\r\ndata: "choices": [], "usage"\r\ndata: : {"prompt_tokens":9,"completion_tokens":4}}\r\n\r\n',
    'data: {"choices":[],"other":{"usage" : null},"usage"\n\t:{"prompt_tokens":9,"completion_tokens":4}}\n\n'.replace('\n\t', '\ndata:\t'),
  ]) {
    const { ask: send, core } = await serve(t, (_request, res) => sendInPieces(res, Buffer.from([...FRAMES, usage, DONE].join('')), 64));
    t.equal((await send(ask({ stream: true }))).text, [...FRAMES, DONE].join(''), usage);
    t.match(await lines(core), [{ calls: 1, input: 9, output: 4 }], usage);
  }
});

t.test('a stream ends well with a finish reason whatever the blanks before it', async (t) => {
  const frames = [FRAMES[0], 'data: {"id":"1","choices":[{"delta":{},"finish_reason"  :  "stop"}]}\n\n'].join('');
  const { ask: send } = await serve(t, (_request, res) => sendInPieces(res, Buffer.from(frames), 4096));
  t.equal((await send(ask({ stream: true }))).text, frames);
});

t.test('a stream that breaks off never looks whole', async (t) => {
  const { ask: send, core } = await serve(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`${FRAMES[0]}data: {"id":"1","choi`);
  });
  const { text } = await send(ask({ stream: true }));
  t.ok(text.startsWith(FRAMES[0] ?? ''));
  t.notMatch(text, '[DONE]');
  t.match(text.slice(FRAMES[0]?.length), /^data: \{"error":\{"message":"The provider's answer was cut short/);
  t.match(await lines(core), [{ calls: 1, input: 28, output: 1 }]);
});

t.test('a stream without [DONE] is whole if it has a finish reason', async (t) => {
  const { ask: send } = await serve(t, (_request, res) => sendInPieces(res, Buffer.from(FRAMES.join('').trimEnd()), 50));
  t.equal((await send(ask({ stream: true }))).text, FRAMES.join('').trimEnd());
});

t.test('a stream that nobody asked for, and that never ends, is not collected for ever; its call is paid for', async (t) => {
  const frame = `data: {"choices":[{"delta":{"content":"${'word '.repeat(13_000)}"}}]}\n\n`;
  const {
    ask: send,
    upstream,
    core,
  } = await serve(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      while (!res.destroyed && res.write(frame));
    };
    res.on('drain', more);
    more();
  });
  const { status, text } = await send(ask());
  t.equal(status, 502);
  t.match(text, /larger than 33554432 bytes/);
  await (await upstream.arrived(0)).closed;
  const [line] = (await lines(core)) ?? [];
  t.ok(line !== undefined && line.calls === 1 && line.output > 7_000_000, JSON.stringify(line));
});

t.test("a provider's error within a stream passes once; before any part of the answer it has its status", async (t) => {
  const error = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';
  const late = await serve(t, (_request, res) => sendInPieces(res, Buffer.from(FRAMES[0] + error), 4096));
  t.equal((await late.ask(ask({ stream: true }))).text, FRAMES[0] + error);
  const early = await serve(t, (_request, res) => sendInPieces(res, Buffer.from(error), 4096));
  t.match(await early.ask(ask({ stream: true })), { status: 503, json: { error: { type: 'server_error', message: /overloaded/ } } });
});

t.test("a provider's error answer passes with its status, without secrets; a refusal of our own key does not", async (t) => {
  for (const stream of [false, true]) {
    const { ask: send } = await serve(t, ({ body }, res) => {
      const { want } = JSON.parse(body);
      sendJson(res, { error: { message: `no ${KEY}`, extra: true } }, want, { 'retry-after': '7', 'x-should-retry': 'false' });
    });
    for (const want of [400, 404, 422, 429, 500, 529]) {
      t.match(await send(ask({ stream, want })), {
        status: want,
        headers: { 'retry-after': '7', 'content-type': 'application/json', 'x-blockhouse-model': 'openai/m' },
        json: { error: { message: 'no [redacted]', extra: true } },
      });
    }
    for (const want of [401, 403]) t.match(await send(ask({ stream, want })), { status: want === 401 ? 502 : Number }, `${want}`);
    t.notMatch((await send(ask({ stream, want: 401 }))).text, KEY);
  }
});

t.test('a page of a proxy is not passed on as an answer', async (t) => {
  const { ask: send } = await serve(t, (_request, res) => void res.writeHead(502, { 'content-type': 'text/html' }).end('<html>'));
  t.match(await send(ask()), { status: 503, json: { error: { type: 'server_error' } } });
  const whole = await serve(t, (_request, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
  t.match(await whole.ask(ask()), { status: 502, json: { error: { type: 'server_error' } } });
});

t.test('models.json can have every request translated', async (t) => {
  const { ask: send, upstream, workspace } = await serve(t, (_request, res) => void res.end(ANSWER));
  writeFileSync(join(workspace, 'models.json'), '{"native":{"openai":false}}');
  const { json } = await send(ask({ unknown: 1 }));
  t.match(json, { model: 'openai/m', choices: [{ message: { content: 'hi' } }] });
  t.notMatch(upstream.requests[0]?.body, 'unknown');
});

t.test('the next model of an alias answers when the first one fails before its first byte, translated or not', async (t) => {
  const daemon = await startUpstream(t, (_request, res) => void res.end('{"message":{"content":"from the daemon"},"done":true,"done_reason":"stop"}'));
  const { ask: send, core } = await serve(t, (_request, res) => sendJson(res, { error: { message: 'down' } }, 500), {
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OLLAMA_BASE_URL: daemon.url },
  });
  await core.modelsFile?.setAlias('both', ['openai/m', 'ollama/m']);
  t.match(await send(ask({ model: 'both' })), {
    headers: { 'x-blockhouse-model': 'ollama/m' },
    json: { model: 'both', choices: [{ message: { content: 'from the daemon' } }] },
  });
});

t.test('a client that leaves ends the call at once', async (t) => {
  const { open, upstream } = await serve(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(FRAMES[0]);
  });
  const request = open('POST', PATH, { body: ask({ stream: true }) });
  const [response] = await once(request, 'response');
  await once(response, 'data');
  response.on('error', () => undefined);
  request.destroy();
  await (await upstream.arrived(0)).closed;
  t.pass();
});

t.test('a silent stream is kept open with comments between frames', async (t) => {
  const { open } = await serve(
    t,
    async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`${FRAMES[0]}data: {"id":`);
      await delay(300);
      res.end(`"1","choices":[{"delta":{},"finish_reason":"stop"}]}\n\n${DONE}`);
    },
    { http: { sse: { openAfterMs: 20, keepAliveMs: 20 } } },
  );
  const [response] = await once(open('POST', PATH, { body: ask({ stream: true }) }), 'response');
  const text = await readText(response);
  t.match(text, /\n\n: keep-alive\n\n/);
  t.equal(text.replaceAll(': keep-alive\n\n', ''), `${FRAMES[0]}data: {"id":"1","choices":[{"delta":{},"finish_reason":"stop"}]}\n\n${DONE}`);
});
