import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import type { ChatCall } from '../../../../core/index.ts';
import { scriptedAdapter } from '../../../support/scripted-adapter.ts';
import {
  CHAT,
  DAEMON_END,
  daemonLine,
  framesOf,
  friendlyDaemon,
  readAnswer,
  responseOf,
  startServer,
  type TestServer,
  until,
} from '../../../support/server.ts';
import { type Answerer, sendJson } from '../../../support/upstream.ts';

const STREAM = { ...CHAT, stream: true };
const QUICK = { http: { sse: { openAfterMs: 20, keepAliveMs: 20 } } };
const silent: Answerer = () => undefined;

t.test('GET /v1/health?deep is for the owner alone, and looks', async (t) => {
  const server = await startServer(t);
  t.equal((await server.call('GET', '/v1/health?deep', { token: false })).status, 401);
  const key = await server.core.keys?.create('app');
  t.equal((await server.call('GET', '/v1/health?deep=1', { token: false, headers: { authorization: `Bearer ${key}` } })).status, 401);
  t.match(await server.call('GET', '/v1/health?deep'), {
    status: 200,
    json: { status: 'ok', disk: { error: null }, providers: [{ name: 'ollama', state: 'unknown' }] },
  });
});

t.test('GET /v1/health tells status, version and the adapter ids, and no more', async (t) => {
  const server = await startServer(t);
  t.strictSame((await server.call('GET', '/v1/health', { token: false })).json, {
    status: 'ok',
    version: server.core.version,
    adapters: ['ollama'],
    store: { kind: 'files' },
  });
});

t.test('GET /v1/adapters tells the metadata of each adapter', async (t) => {
  const server = await startServer(t);
  t.strictSame((await server.call('GET', '/v1/adapters')).json, {
    adapters: [
      {
        id: 'ollama',
        displayName: 'Ollama',
        authRequired: false,
        defaultModel: server.core.adapter('ollama').defaultModel,
        defaultBaseURL: 'http://127.0.0.1:11434',
        supportsStreaming: true,
        envVars: ['OLLAMA_BASE_URL'],
      },
    ],
  });
});

t.test('GET models lists them with their count', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('GET', '/v1/adapters/ollama/models');
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { provider: 'ollama', models: ['m:1b', 'n:7b'], count: 2 });
});

t.test('an unknown adapter in the URL is a 404, whatever the spelling and the body', async (t) => {
  const server = await startServer(t);
  for (const id of ['nobody', '__proto__', 'constructor', '..', '%2e%2e', '%00', 'OLLAMA', 'ollama%2F', '', 'x'.repeat(2000)]) {
    t.match(await server.call('GET', `/v1/adapters/${id}/models`), { status: 404, json: { code: 'ADAPTER_NOT_FOUND' } }, `models of ${id.slice(0, 20)}`);
    t.match(await server.call('POST', `/v1/adapters/${id}/verify`, { body: 'nonsense' }), { status: 404, json: { code: 'ADAPTER_NOT_FOUND' } });
  }
  t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'nobody' } }), {
    status: 400,
    json: { code: 'INVALID_REQUEST', details: [{ path: 'adapter' }] },
  });
});

t.test('a failure of the provider is a 502 with its status', async (t) => {
  const server = await startServer(t, { answer: (_request, res) => sendJson(res, { error: 'broken' }, 400) });
  for (const answer of [
    await server.call('GET', '/v1/adapters/ollama/models'),
    await server.call('POST', '/v1/chat', { body: CHAT }),
    await server.call('POST', '/v1/chat', { body: STREAM }),
  ]) {
    t.match(answer, {
      status: 502,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      json: { status: 502, code: 'UPSTREAM_REJECTED', upstreamStatus: 400, retryable: false },
    });
    t.match(answer.json['error'], 'broken');
  }
});

t.test('an adapter without credentials is a 503 that names the cure', async (t) => {
  const server = await startServer(t, { adapters: [scriptedAdapter({ missingCredential: () => 'set SCRIPT_KEY' })] });
  const body = { ...CHAT, adapter: 'scripted' };
  for (const answer of [await server.call('POST', '/v1/chat', { body }), await server.call('POST', '/v1/chat', { body: { ...body, stream: true } })])
    t.match(answer, { status: 503, json: { status: 503, code: 'ADAPTER_NOT_CONFIGURED', error: /SCRIPT_KEY/ } });
  const verify = await server.call('POST', '/v1/adapters/scripted/verify');
  t.equal(verify.status, 503);
  t.strictSame(verify.json, { provider: 'scripted', ok: false, detail: 'set SCRIPT_KEY' });
});

t.test('verify probes, with or without a body, and infers nothing', async (t) => {
  const server = await startServer(t);
  for (const body of [undefined, '', '{}', { provider: 'ollama' }, { provider: 'ollama', config: {} }, { config: { baseURL: server.upstream.url } }]) {
    const answer = await server.call('POST', '/v1/adapters/ollama/verify', { body });
    t.equal(answer.status, 200);
    t.match(answer.json, { provider: 'ollama', ok: true, detail: /reachable; 2 models/ });
    t.strictSame(Object.keys(answer.json), ['provider', 'ok', 'detail']);
  }
  t.ok(server.upstream.requests.every(({ method, path }) => method === 'GET' && path === '/api/tags'));
});

t.test('a chunked verify without content is one without a body', async (t) => {
  const server = await startServer(t);
  const headers = { 'transfer-encoding': 'chunked', 'content-length': [] as string[] };
  t.match(await server.call('POST', '/v1/adapters/ollama/verify', { headers, body: '' }), { status: 200 });
});

t.test('a failed probe is a 503 with its reason in detail', async (t) => {
  const server = await startServer(t, { answer: (_request, res) => sendJson(res, { error: 'out of order' }, 500) });
  const failed = await server.call('POST', '/v1/adapters/ollama/verify');
  t.equal(failed.status, 503);
  t.match(failed.json, { provider: 'ollama', ok: false, detail: /out of order/ });
  t.strictSame(Object.keys(failed.json), ['provider', 'ok', 'detail']);
});

t.test('a verify that contradicts its URL, or is malformed, is a 400', async (t) => {
  const server = await startServer(t, { adapters: [scriptedAdapter({}), scriptedAdapter({}, 'other')] });
  const cases: [title: string, body: unknown, path: string][] = [
    ['another adapter', { provider: 'other' }, 'provider'],
    ['an unknown adapter', { provider: 'nobody' }, 'provider'],
    ['a provider that is no string', { provider: 1 }, 'provider'],
    ['an unknown field', { model: 'm' }, 'model'],
    ['a config that is none', { config: [] }, 'config'],
    ['a wrong config', { config: { maxTokens: 'x' } }, 'config.maxTokens'],
    ['null', 'null', ''],
    ['an array', '[]', ''],
    ['no JSON', '{', ''],
  ];
  for (const [title, body, path] of cases)
    t.match(
      await server.call('POST', '/v1/adapters/scripted/verify', { body }),
      { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path }] } },
      title,
    );
});

t.test('chat answers in the shape of the contract', async (t) => {
  const server = await startServer(t);
  for (const body of [CHAT, { ...CHAT, stream: false }]) {
    const answer = await server.call('POST', '/v1/chat', { body });
    t.match(answer, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
    t.strictSame(answer.json, {
      provider: 'ollama',
      model: 'm',
      message: { role: 'assistant', content: 'Hello, you' },
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      stopReason: 'end_turn',
    });
  }
});

t.test('a streamed chat is start, content, done, under the headers of a stream', async (t) => {
  const server = await startServer(t);
  const answer = await server.call('POST', '/v1/chat', { body: STREAM });
  t.match(answer, {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': /^req_/,
      'content-encoding': undefined,
    },
  });
  t.strictSame(framesOf(answer.text), [
    { event: 'start', data: { provider: 'ollama', model: 'm' } },
    { event: 'content', data: { text: 'Hello' } },
    { event: 'content', data: { text: ', you' } },
    { event: 'done', data: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, stopReason: 'end_turn' } },
  ]);
});

const thinkingLine = (thinking: string): string => `${JSON.stringify({ message: { role: 'assistant', content: '', thinking }, done: false })}\n`;
const callLine = `${JSON.stringify({ message: { content: '', tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }] }, done: false })}\n`;

t.test('reasoning and the pieces of calls are events of a stream that asked for them, and of no other', async (t) => {
  const server = await startServer(t, { answer: (_request, res) => void res.end(thinkingLine('hm') + daemonLine('Hello') + callLine + DAEMON_END) });
  const eventsOf = async (stream: unknown) => {
    const { text } = await server.call('POST', '/v1/chat', { body: { ...CHAT, stream } });
    const frames = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, event = '', data = '']) => ({
      event,
      data: JSON.parse(data) as Record<string, unknown>,
    }));
    return { text, frames };
  };
  const plain = await eventsOf(true);
  t.strictSame(
    framesOf(plain.text).map(({ event }) => event),
    ['start', 'content', 'done'],
  );
  for (const stream of [{}, { reasoning: false }]) t.equal(shapeOf((await eventsOf(stream)).text), shapeOf(plain.text), JSON.stringify(stream));
  const all = (await eventsOf({ reasoning: true, toolDeltas: true })).frames;
  const { toolCalls } = all.at(-1)?.data ?? {};
  const [call] = toolCalls as { id: string }[];
  t.strictSame(all.slice(0, -1), [
    { event: 'start', data: { provider: 'ollama', model: 'm' } },
    { event: 'reasoning', data: { text: 'hm' } },
    { event: 'content', data: { text: 'Hello' } },
    { event: 'toolCallStart', data: { index: 0, id: call?.id, name: 'f' } },
    { event: 'toolCallDelta', data: { index: 0, text: '{"a":1}' } },
  ]);
  t.equal(all.at(-1)?.event, 'done');
});

/** Without the ids of calls, which are random. */
const shapeOf = (text: string): string => text.replace(/call_\w+/g, 'call');

t.test('a wrong stream option is a 400 that names it', async (t) => {
  const server = await startServer(t);
  for (const [stream, path] of [
    ['yes', 'stream'],
    [{ reasoning: 'yes' }, 'stream.reasoning'],
    [{ thoughts: true }, 'stream.thoughts'],
  ] as const) {
    t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, stream } }), { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path }] } });
  }
});

t.test('hidden reasoning does not open the stream, so that a failure after it keeps its status', async (t) => {
  const server = await startServer(t, { answer: (_request, res) => void res.end(thinkingLine('hm')) });
  t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, stream: { toolDeltas: true } } }), { status: 502, json: { code: 'UPSTREAM_MALFORMED' } });
  t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, stream: { reasoning: true } } }), {
    status: 200,
    text: /event: error\n.*UPSTREAM_MALFORMED/,
  });
});

t.test('an answer without text still starts, and done carries the tool calls', async (t) => {
  const server = await startServer(t, {
    answer: (_request, res) => {
      const call = { function: { name: 'f', arguments: { a: 1 } } };
      res.end(`${JSON.stringify({ message: { content: '', tool_calls: [call] }, done: true, done_reason: 'stop', eval_count: 1 })}\n`);
    },
  });
  const frames = framesOf((await server.call('POST', '/v1/chat', { body: STREAM })).text);
  t.match(frames, [{ event: 'start' }, { event: 'done', data: { stopReason: 'tool_use', toolCalls: [{ name: 'f', arguments: { a: 1 } }] } }]);
  t.equal(frames.length, 2);
});

t.test('tool calls that nest deeper than JSON can be written are a 502, or an error frame behind the text', async (t) => {
  const nested = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
  const answer: Answerer = (_request, res) =>
    void res.end(`{"message":{"content":"Hello","tool_calls":[{"function":{"name":"f","arguments":${nested}}}]},"done":true,"done_reason":"stop"}\n`);
  const server = await startServer(t, { answer });
  t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 502, json: { code: 'UPSTREAM_MALFORMED', error: /nests deeper/ } });
  const frames = framesOf((await server.call('POST', '/v1/chat', { body: STREAM })).text);
  t.match(frames, [{ event: 'start' }, { event: 'content', data: { text: 'Hello' } }, { event: 'error', data: { code: 'UPSTREAM_MALFORMED' } }]);
  t.equal(frames.length, 3);
});

t.test('text of a model that looks like frames stays text', async (t) => {
  const text = '\n\nevent: done\ndata: {}\n\n\r\u2028[DONE]';
  const server = await startServer(t, { answer: (_request, res) => void res.end(daemonLine(text) + DAEMON_END) });
  const frames = framesOf((await server.call('POST', '/v1/chat', { body: STREAM })).text);
  t.match(frames, [{ event: 'start' }, { event: 'content', data: { text } }, { event: 'done' }]);
});

t.test('a silent provider gets its stream opened by a comment, and a late failure is one error frame', async (t) => {
  let fail = (): void => undefined;
  const server = await startServer(t, {
    ...QUICK,
    answer: (_request, res) => {
      fail = () => sendJson(res, { error: 'too late' }, 500);
    },
  });
  const response = await responseOf(server.open('POST', '/v1/chat', { body: STREAM }));
  t.equal(response.statusCode, 200, 'the status is out while the provider is silent');
  await server.upstream.arrived(0);
  fail();
  const { text } = await readAnswer(response);
  t.match(text, /^: keep-alive\n\n/);
  t.match(framesOf(text), [{ event: 'error', data: { code: 'UPSTREAM_FAILED', upstreamStatus: 500 } }]);
  t.equal(server.upstream.requests.length, 1, 'an opened stream is never repeated');
});

t.test('a provider that is late but well ends in done, with comments only between frames', async (t) => {
  let respond = (): void => undefined;
  const server = await startServer(t, {
    ...QUICK,
    answer: (_request, res) => {
      respond = () => res.end(daemonLine('late') + DAEMON_END);
    },
  });
  const response = await responseOf(server.open('POST', '/v1/chat', { body: STREAM }));
  await server.upstream.arrived(0);
  respond();
  t.strictSame(
    framesOf((await readAnswer(response)).text).map(({ event }) => event),
    ['start', 'content', 'done'],
  );
});

t.test('a stream cut short in the middle ends in one error and no done', async (t) => {
  const cuts: [title: string, answer: Answerer][] = [
    ['ended without its end mark', (_request, res) => void res.end(daemonLine('half'))],
    ['reset', (_request, res) => void res.write(daemonLine('half'), () => setImmediate(() => res.destroy()))],
    ['an error line', (_request, res) => void res.end(`${daemonLine('half')}{"error":"runner died"}\n`)],
    ['no JSON', (_request, res) => void res.end(`${daemonLine('half')}<html>\n`)],
  ];
  for (const [title, answer] of cuts) {
    const server = await startServer(t, { answer });
    const { status, text } = await server.call('POST', '/v1/chat', { body: STREAM });
    t.equal(status, 200, title);
    const events = framesOf(text).map(({ event }) => event);
    t.equal(events.at(-1), 'error', `${title}: error is last`);
    t.equal(events.filter((event) => event === 'done' || event === 'error').length, 1, `${title}: and the only end`);
    t.equal(events.filter((event) => event === 'start').length, 1, `${title}: one start`);
    t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 502 }, `${title}: the whole answer fails alike`);
  }
});

t.test('fragments that arrive together leave in one write', async (t) => {
  const server = await startServer(t, {
    adapters: [
      scriptedAdapter({
        chat: ({ sink }) => {
          sink.emit(['a', 'b', 'c'].map((text) => ({ type: 'text', text })));
          sink.emit([{ type: 'stop', stopReason: 'end_turn' }]);
        },
      }),
    ],
  });
  const writes: string[] = [];
  server.transport.server.prependListener('request', (_req, res) => {
    const { write } = res;
    res.write = ((chunk: string) => {
      writes.push(chunk);
      return write.call(res, chunk, 'utf8');
    }) as typeof res.write;
  });
  await server.call('POST', '/v1/chat', { body: { ...STREAM, adapter: 'scripted' } });
  t.equal(writes.length, 1);
  t.equal(framesOf(writes[0] ?? '').length, 4, 'start and three fragments');
});

t.test('a client that does not read pauses the provider, and gets all the text when it reads on', async (t) => {
  const line = daemonLine('x'.repeat(10_000));
  const total = 4000; // 40 MB, several times as much as the socket buffers on the way hold
  let written = 0;
  const server = await startServer(t, {
    answer: async (_request, res) => {
      while (written < total && !res.destroyed) {
        written += 1;
        if (!res.write(line)) await once(res, 'drain').catch(() => undefined);
      }
      res.end(DAEMON_END);
    },
  });
  const response = await responseOf(server.open('POST', '/v1/chat', { body: STREAM }));
  let before = -1;
  let still = 0;
  // Written lines that stay the same for 40 looks, 10 ms apart, are a provider that stands still.
  for (let look = 0; look < 2000 && still < 40; look += 1) {
    still = written === before ? still + 1 : 0;
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.ok(still >= 40, 'the provider stands still');
  t.ok(written < total / 2, `after ${written} of ${total} lines`);
  let characters = 0;
  let end = '';
  response.setEncoding('utf8');
  for await (const chunk of response as AsyncIterable<string>) {
    characters += chunk.replaceAll(/[^x]+/g, '').length; // a split would make a string of each
    end = (end + chunk).slice(-500);
  }
  t.ok(characters >= total * 10_000, 'all the text arrives');
  t.match(end, /event: done\ndata: [^\n]*\n\n$/);
});

t.test('a client that leaves has its request to the provider closed, in either form and any phase', async (t) => {
  const begun: Answerer = (request, res) => {
    res.writeHead(200);
    if (request.body.includes('"stream":true')) res.write(daemonLine('first'));
    else res.write('{"message":');
  };
  const headers: Answerer = (_request, res) => res.flushHeaders();
  const phases: [title: string, answer: Answerer, body: object, options: object][] = [
    ['before the headers, whole', silent, CHAT, {}],
    ['before the headers, streamed', silent, STREAM, {}],
    ['after the headers, before the first token', headers, STREAM, {}],
    ['in the middle of a stream', begun, STREAM, {}],
    ['in the middle of a whole answer', begun, CHAT, {}],
    ['after the opening comment', silent, STREAM, QUICK],
  ];
  for (const [title, answer, body, options] of phases) {
    const server = await startServer(t, { answer, ...options });
    const request = server.open('POST', '/v1/chat', { body });
    request.on('error', () => undefined); // we break it ourselves
    const begins = title.startsWith('in the middle of a stream') || options === QUICK ? responseOf(request) : undefined;
    const recorded = await server.upstream.arrived(0);
    if (begins !== undefined) await once(await begins, 'data');
    request.destroy();
    await recorded.closed;
    await until(() => server.log.some(({ fields }) => fields['code'] === 'CANCELLED'), 'the cancelled request in the log');
    t.equal(server.upstream.requests.length, 1, `${title}: closed, and not repeated`);
    t.strictSame(
      server.log.filter(({ level }) => level === 'error'),
      [],
      `${title}: no error of ours`,
    );
  }
});

t.test('models and verify are aborted too when the client leaves', async (t) => {
  const server = await startServer(t, { answer: silent });
  for (const [index, [method, path]] of [
    ['GET', '/v1/adapters/ollama/models'],
    ['POST', '/v1/adapters/ollama/verify'],
  ].entries()) {
    const request = server.open(method as string, path as string);
    request.on('error', () => undefined);
    const recorded = await server.upstream.arrived(index);
    request.destroy();
    await recorded.closed;
    t.pass(`${method} ${path}`);
  }
});

t.test('a client that leaves while it waits in the queue frees its place and never reaches the provider', async (t) => {
  const respond: (() => void)[] = [];
  const server = await startServer(t, {
    queue: { concurrency: 1, waiting: 1 },
    answer: (request, res, index) => void respond.push(() => void friendlyDaemon(request, res, index)),
  });
  const first = server.call('POST', '/v1/chat', { body: CHAT });
  await server.upstream.arrived(0);
  for (const body of [CHAT, STREAM]) {
    const leaving = server.open('POST', '/v1/chat', { body });
    leaving.on('error', () => undefined);
    await until(async () => (await server.call('POST', '/v1/chat', { body: CHAT })).status === 429, 'the waiting room to be full');
    const cancelled = server.log.filter(({ fields }) => fields['code'] === 'CANCELLED').length;
    leaving.destroy();
    await until(() => server.log.filter(({ fields }) => fields['code'] === 'CANCELLED').length > cancelled, 'the place to come free');
  }
  const last = server.call('POST', '/v1/chat', { body: { ...CHAT, model: 'last' } });
  respond[0]?.();
  t.match(await first, { status: 200 });
  await server.upstream.arrived(1);
  respond[1]?.();
  t.match(await last, { status: 200, json: { model: 'last' } });
  t.equal(server.upstream.requests.length, 2, 'the two that left were never sent');
});

t.test('a client that leaves during the wait before a repetition is not repeated for', async (t) => {
  for (const body of [CHAT, STREAM]) {
    const server = await startServer(t, { answer: (_request, res) => sendJson(res, { error: 'busy' }, 503, { 'retry-after': '1' }) });
    const retried = new Promise<void>((resolve) => server.core.events.on('call.retried', () => resolve()));
    const finished = new Promise<string | undefined>((resolve) => server.core.events.on('call.finished', ({ code }) => resolve(code)));
    const request = server.open('POST', '/v1/chat', { body: { ...body, model: 'left' } });
    request.on('error', () => undefined);
    await retried;
    request.destroy();
    t.equal(await finished, 'CANCELLED');
    const sent = (model: string) => server.upstream.requests.filter((request) => request.body.includes(`"${model}"`)).length;
    t.equal(sent('left'), 1, 'the wait itself is broken off');
    const later = server.open('POST', '/v1/chat', { body: { ...body, model: 'later' } });
    later.on('error', () => undefined);
    await until(() => sent('later') === 2, 'a client that came later and waited as long is repeated for');
    t.equal(sent('left'), 1);
    later.destroy();
  }
});

t.test('a full queue is a 429 with Retry-After, streamed or not', async (t) => {
  const server = await startServer(t, { queue: { concurrency: 1, waiting: 0 }, answer: silent });
  const holder = server.open('POST', '/v1/chat', { body: STREAM });
  holder.on('error', () => undefined);
  await server.upstream.arrived(0);
  for (const body of [CHAT, STREAM])
    t.match(await server.call('POST', '/v1/chat', { body }), {
      status: 429,
      headers: { 'retry-after': /^[1-9]\d*$/ },
      json: { status: 429, code: 'QUEUE_FULL' },
    });
  t.equal(server.upstream.requests.length, 1);
  t.match(await server.call('GET', '/v1/health'), { status: 200 });
  holder.destroy();
  await server.upstream.requests[0]?.closed;
});

t.test("the provider's 429 stays one, with its Retry-After", async (t) => {
  // Each attempt waits for as long as the provider says; a second is the shortest that the header can say.
  const asked = [CHAT, STREAM].map(async (body) => {
    const server = await startServer(t, { answer: (_request, res) => sendJson(res, { error: 'slow down' }, 429, { 'retry-after': '1' }) });
    return server.call('POST', '/v1/chat', { body });
  });
  for (const answer of await Promise.all(asked))
    t.match(answer, { status: 429, headers: { 'retry-after': '1' }, json: { code: 'UPSTREAM_RATE_LIMITED', upstreamStatus: 429 } });
});

t.test('a socket that is half closed by a client that gave up aborts the provider as well', async (t) => {
  const server = await startServer(t, { answer: silent });
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(rawChat(server));
  const recorded = await server.upstream.arrived(0);
  socket.end();
  await recorded.closed;
  socket.destroy();
  t.pass();
});

t.test('both forms of a request are the same for the adapter but for the form', async (t) => {
  const calls: ChatCall[] = [];
  const server = await startServer(t, {
    adapters: [
      scriptedAdapter({
        chat: (call) => {
          calls.push(call);
          call.sink.emit([
            { type: 'text', text: 'x' },
            { type: 'stop', stopReason: 'end_turn' },
          ]);
        },
      }),
    ],
  });
  const whole = await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'scripted' } });
  const streamed = await server.call('POST', '/v1/chat', { body: { ...STREAM, adapter: 'scripted' } });
  t.strictSame([calls[0]?.stream, calls[1]?.stream], [false, true]);
  t.strictSame(calls[0]?.prompt, calls[1]?.prompt);
  t.strictSame(framesOf(streamed.text).at(-1)?.data['usage'], whole.json['usage']);
});

function rawChat(server: TestServer): string {
  const body = JSON.stringify(CHAT);
  return `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

t.test('what a key asks of a provider takes a place there, and needs room under its cap; the owner asks at once', async (t) => {
  let hangs = true;
  const answer: Answerer = (request, res, index) => (hangs ? undefined : friendlyDaemon(request, res, index));
  const server = await startServer(t, { queue: { concurrency: 2, waiting: 1 }, answer });
  const key = await server.core.keys?.create('app', { tokensPerDay: 1 });
  const asKey = { token: false, headers: { authorization: `Bearer ${key}` } } as const;
  const open = Array.from({ length: 3 }, () => server.open('POST', '/v1/adapters/ollama/verify', { ...asKey, body: {} }).on('error', () => undefined));
  await until(() => server.core.load('ollama').waiting === 1 && server.upstream.requests.length === 1, 'the places are taken by those who wait for one probe');
  for (const [method, path] of [
    ['POST', '/v1/adapters/ollama/verify'],
    ['GET', '/v1/adapters/ollama/models'],
  ] as const)
    t.match(await server.call(method, path, asKey), { status: 429, json: { code: 'QUEUE_FULL' } }, path);
  hangs = false;
  t.match(await server.call('POST', '/v1/adapters/ollama/verify'), { status: 200, json: { detail: /http:\/\/127/ } }, 'the owner');
  for (const request of open) request.destroy();
  await until(() => server.core.load('ollama').atWork === 0, 'the places are free');
  t.strictSame((await server.call('POST', '/v1/adapters/ollama/verify', asKey)).json, { provider: 'ollama', ok: true, detail: 'The provider answers.' });
  t.match(await server.call('POST', '/v1/chat', { ...asKey, body: CHAT }), { status: 200 });
  for (const [method, path] of [
    ['POST', '/v1/adapters/ollama/verify'],
    ['GET', '/v1/adapters/ollama/models'],
  ] as const)
    t.match(await server.call(method, path, asKey), { status: 429, json: { code: 'KEY_CAP_REACHED' } }, path);
});
