import t, { type Test } from 'tap';
import { defineAdapter } from '../../../adapters/shared/define.ts';
import { cutShort, malformed, type Provider, type StreamDecoder, StreamError } from '../../../adapters/shared/provider.ts';
import { asObject, asString } from '../../../adapters/shared/read.ts';
import type { Adapter, ChatEvent } from '../../../core/index.ts';
import { chatCall, closedPort } from '../../support/adapter-call.ts';
import { until } from '../../support/until.ts';
import { type Answerer, type FakeUpstream, sendJson, startUpstream } from '../../support/upstream.ts';

const SECRET = 'hunter2-hunter2';
const SETTINGS = { values: { apiKey: SECRET }, sources: { apiKey: 'request' as const } };
const STOP: ChatEvent = { type: 'stop', stopReason: 'end_turn' };
const WARNING = { field: 'config.temperature', message: 'left out' };

/** Text until a full stop; `!` is a provider error. */
class FullStopDecoder implements StreamDecoder {
  readonly complete = false;
  #done = false;

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    const text = chunk.toString();
    if (text.includes('!')) throw new StreamError({ kind: 'failed', message: `broke on ${SECRET}` });
    this.#done ||= text.endsWith('.');
    events.push({ type: 'text', text });
    return events;
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    if (!this.#done) throw cutShort('a full stop');
    events.push(STOP);
    return events;
  }
}

function acme(url: string, parts: Partial<Provider> = {}): Adapter {
  return defineAdapter({
    id: 'acme',
    displayName: 'Acme',
    authRequired: true,
    defaultModel: 'm',
    envVars: [],
    settings: { apiKey: { secret: true } },
    missingCredential: () => undefined,
    authorize: (_request, settings) => ({ 'x-key': settings.values['apiKey'] ?? '' }),
    buildChat: ({ model, stream }) => ({ url: new URL(`${url}/chat`), body: { model, ü: '€' }, stream, warnings: [] }),
    readAnswer: (json) => {
      const error = asString(asObject(json)['error']);
      if (error !== undefined) throw new StreamError({ kind: 'rateLimited', message: error, retryable: false });
      return [{ type: 'text', text: asString(asObject(json)['text']) ?? '' }, STOP];
    },
    readUsage: (json) => asObject(asObject(json)['usage']),
    createDecoder: () => new FullStopDecoder(),
    readError: ({ status, text }) => ({ kind: status === 429 ? 'rateLimited' : 'rejected', message: text }),
    listModels: async (get) => Object.keys(asObject(await get(new URL(`${url}/models`)))),
    verify: async (get) => JSON.stringify(await get(new URL(`${url}/probe`))),
    ...parts,
  });
}

async function start(t: Test, answer: Answerer, parts: Partial<Provider> = {}): Promise<{ adapter: Adapter; upstream: FakeUpstream }> {
  const upstream = await startUpstream(t, answer);
  const adapter = acme(upstream.url, parts);
  t.teardown(() => adapter.close());
  return { adapter, upstream };
}

t.test('a whole answer becomes events', async (t) => {
  const { adapter, upstream } = await start(t, (_request, res) => sendJson(res, { text: 'hello' }));
  const { call, events } = chatCall({ settings: SETTINGS, model: 'big' });
  await adapter.chat(call);
  t.same(events, [{ type: 'text', text: 'hello' }, STOP]);
  t.match(upstream.requests[0], {
    method: 'POST',
    path: '/chat',
    body: '{"model":"big","ü":"€"}',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'x-key': SECRET },
  });
});

t.test('a streamed answer becomes events while it comes', async (t) => {
  let finish = (): void => undefined;
  const { adapter, upstream } = await start(t, (_request, res) => {
    res.write('one ');
    finish = () => res.end('two.');
  });
  const { call, events } = chatCall({ settings: SETTINGS, stream: true });
  const ended = adapter.chat(call);
  await until('the first piece is handed over', () => events.length === 1);
  finish();
  await ended;
  t.same(events, [{ type: 'text', text: 'one ' }, { type: 'text', text: 'two.' }, STOP]);
  t.equal(upstream.requests[0]?.headers.accept, 'text/event-stream');
});

t.test('a folder may stream inside although the caller does not', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => void res.end('done.'));
  const adapter = acme(upstream.url, { buildChat: () => ({ url: new URL(upstream.url), body: {}, stream: true, warnings: [] }) });
  t.teardown(() => adapter.close());
  const { call, events } = chatCall({ settings: SETTINGS, stream: false });
  await adapter.chat(call);
  t.same(events, [{ type: 'text', text: 'done.' }, STOP]);
});

t.test('warnings come before the answer', async (t) => {
  for (const stream of [false, true]) {
    const upstream = await startUpstream(t, (_request, res) => (stream ? void res.end('x.') : sendJson(res, { text: 'x' })));
    const adapter = acme(upstream.url, { buildChat: (context) => ({ url: new URL(upstream.url), body: {}, stream: context.stream, warnings: [WARNING] }) });
    t.teardown(() => adapter.close());
    const { call, events } = chatCall({ settings: SETTINGS, stream });
    await adapter.chat(call);
    t.same(events[0], { type: 'warning', warning: WARNING });
  }
});

t.test('authorize gets the finished request', async (t) => {
  const { adapter, upstream } = await start(t, (_request, res) => sendJson(res, { text: '' }), {
    authorize: async (request) => ({ signature: `${request.method} ${request.url.pathname} ${request.headers['content-type']} ${request.body?.length}` }),
  });
  const { call } = chatCall();
  await adapter.chat(call);
  t.equal(upstream.requests[0]?.headers['signature'], `POST /chat application/json ${Buffer.byteLength(upstream.requests[0]?.body ?? '')}`);
});

for (const stream of [false, true]) {
  const form = stream ? 'streamed' : 'whole';

  t.test(`an error status is the folder's error, ${form}`, async (t) => {
    const { adapter } = await start(t, (_request, res) => {
      res.writeHead(429, { 'retry-after': '7' });
      res.end(`slow down, ${SECRET}`);
    });
    const { call, events } = chatCall({ settings: SETTINGS, stream });
    await t.rejects(adapter.chat(call), {
      code: 'UPSTREAM_RATE_LIMITED',
      upstreamStatus: 429,
      retryAfterMs: 7000,
      mayHaveRun: false,
      message: 'Acme (HTTP 429): slow down, [redacted]',
    });
    t.same(events, []);
  });

  t.test(`of an error body of 100 MB not more than 64 KiB is read, and the connection is closed, ${form}`, async (t) => {
    let length = 0;
    let written = 0;
    const { adapter, upstream } = await start(
      t,
      (_request, res) => {
        res.writeHead(500);
        const piece = Buffer.alloc(64 * 1024, 'e');
        const write = (): void => {
          while (written < 100 * 1024 * 1024 && !res.destroyed) {
            written += piece.length;
            if (!res.write(piece)) {
              res.once('drain', write);
              return;
            }
          }
          res.end();
        };
        write();
      },
      {
        readError: ({ text }) => {
          length = text.length;
          return { kind: 'failed', message: text };
        },
      },
    );
    const { call } = chatCall({ settings: SETTINGS, stream });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_FAILED', upstreamStatus: 500 });
    t.ok(length > 64 * 1024 && length <= 192 * 1024, `${length} bytes were read`);
    await upstream.requests[0]?.closed;
    t.ok(written < 50 * 1024 * 1024, `${written} bytes were written`);
  });

  t.test(`an HTML error page is handed to the folder as text, ${form}`, async (t) => {
    let json: unknown = 'unread';
    const { adapter } = await start(
      t,
      (_request, res) => {
        res.writeHead(502, { 'content-type': 'text/html' });
        res.end('<html>bad gateway</html>');
      },
      {
        readError: (answer) => {
          json = answer.json;
          return { kind: 'failed', message: answer.text };
        },
      },
    );
    const { call } = chatCall({ settings: SETTINGS, stream });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_FAILED', upstreamStatus: 502 });
    t.equal(json, undefined);
  });

  t.test(`a redirect is an error status, ${form}`, async (t) => {
    const { adapter, upstream } = await start(t, (_request, res) => {
      res.writeHead(307, { location: '/elsewhere' });
      res.end();
    });
    const { call } = chatCall({ settings: SETTINGS, stream });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_REJECTED', upstreamStatus: 307 });
    t.equal(upstream.requests.length, 1);
  });

  t.test(`an error inside a 200 gets the adapter's name and loses its secrets, ${form}`, async (t) => {
    const { adapter, upstream } = await start(t, (_request, res) => (stream ? void res.write('!') : sendJson(res, { error: `no ${SECRET}` })));
    const { call } = chatCall({ settings: SETTINGS, stream });
    const expected = stream
      ? { code: 'UPSTREAM_FAILED', message: 'Acme: broke on [redacted]' }
      : { code: 'UPSTREAM_RATE_LIMITED', retryable: false, message: 'Acme: no [redacted]' };
    await t.rejects(adapter.chat(call), expected);
    if (stream) await upstream.requests[0]?.closed;
  });

  t.test(`an unreachable provider rejects the call, ${form}`, async (t) => {
    const adapter = acme(`http://127.0.0.1:${await closedPort()}`);
    t.teardown(() => adapter.close());
    const { call } = chatCall({ settings: SETTINGS, stream });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_UNREACHABLE' });
  });
}

t.test('a stream that ends without its end mark is an error', async (t) => {
  for (const text of ['', 'half']) {
    const { adapter } = await start(t, (_request, res) => void res.end(text));
    const { call, events } = chatCall({ settings: SETTINGS, stream: true });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: /cut short: it ended without a full stop/ });
    t.notOk(events.some(({ type }) => type === 'stop'));
  }
});

t.test('a whole answer that cannot be read is malformed', async (t) => {
  for (const [body, said] of [
    ['', /it is empty/],
    [' \n', /it is empty/],
    ['{"text":', /it is not JSON/],
    ['<html>', /it is not JSON/],
  ] as const) {
    const { adapter } = await start(t, (_request, res) => void res.end(body));
    const { call, events } = chatCall({ settings: SETTINGS });
    await t.rejects(adapter.chat(call), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: said });
    const isOfModel = body !== '' && !body.startsWith('<');
    t.same(events, isOfModel ? [{ type: 'unread', bytes: body.length }] : [], 'what came is counted, but no page of a proxy');
  }
});

t.test('an answer of more than 32 MiB is refused and its connection closed', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let pieces = 0;
  const { adapter, upstream } = await start(t, (_request, res) => {
    const write = (): void => {
      while (pieces < 200 && !res.destroyed) {
        pieces += 1;
        if (!res.write(piece)) {
          res.once('drain', write);
          return;
        }
      }
      res.end();
    };
    write();
  });
  const { call } = chatCall({ settings: SETTINGS });
  await t.rejects(adapter.chat(call), { code: 'UPSTREAM_MALFORMED', message: /larger than 33554432 bytes/ });
  await upstream.requests[0]?.closed;
  t.ok(pieces < 100, `${pieces} MiB were written`);
});

t.test('an answer of a little less is taken', async (t) => {
  const { adapter } = await start(t, (_request, res) => sendJson(res, { text: 'x'.repeat(31 * 1024 * 1024) }));
  const { call, events } = chatCall({ settings: SETTINGS });
  await adapter.chat(call);
  t.equal(events.length, 2);
});

t.test('a sink that is full pauses the provider', async (t) => {
  const { adapter } = await start(t, (_request, res) => {
    res.write('a');
    setTimeout(() => res.end('b.'), 20);
  });
  const events: ChatEvent[] = [];
  let resume: (() => void) | undefined;
  const { call } = chatCall({ settings: SETTINGS, stream: true });
  const ended = adapter.chat({
    ...call,
    sink: {
      emit: (fresh) => events.push(...fresh) > 1,
      onceWritable: (callback) => {
        resume = callback;
      },
    },
  });
  await until('the sink is asked to call back', () => resume !== undefined);
  t.equal(events.length, 1);
  resume?.();
  await ended;
  t.equal(events.at(-1), STOP);
});

t.test('model list and probe GET JSON with the key', async (t) => {
  const { adapter, upstream } = await start(t, (request, res) => sendJson(res, request.path === '/models' ? { a: 1, b: 2 } : { ok: true }));
  const { call } = chatCall({ settings: SETTINGS });
  t.same(await adapter.listModels(call), ['a', 'b']);
  t.equal(await adapter.verify(call), '{"ok":true}');
  for (const request of upstream.requests) t.match(request, { method: 'GET', body: '', headers: { 'x-key': SECRET, accept: 'application/json' } });
});

t.test('a probe rejects with the error of its answer', async (t) => {
  const { adapter } = await start(t, (_request, res) => sendJson(res, {}, 401), { readError: () => ({ kind: 'auth', message: 'bad key' }) });
  const { call } = chatCall({ settings: SETTINGS });
  await t.rejects(adapter.verify(call), { code: 'UPSTREAM_AUTH', upstreamStatus: 401 });
});

t.test('what an adapter is made of is shown as it was given', async (t) => {
  const trusted = (): string[] => ['https://a.example'];
  const full = acme('', { aliases: ['ac'], pricesAs: 'acme-ai', timeouts: { firstByteMs: 1 }, trustedOrigins: trusted, missingCredential: () => 'a key' });
  t.match(full, {
    id: 'acme',
    aliases: ['ac'],
    displayName: 'Acme',
    authRequired: true,
    defaultModel: 'm',
    pricesAs: 'acme-ai',
    supportsStreaming: true,
    timeouts: { firstByteMs: 1 },
  });
  t.same(full.trustedOrigins?.(SETTINGS), ['https://a.example']);
  t.equal(full.missingCredential(SETTINGS), 'a key');
  const plain = acme('');
  t.same(plain.aliases, []);
  t.notOk('timeouts' in plain || 'trustedOrigins' in plain || 'pricesAs' in plain);
});

t.test('the two errors of an unreadable answer tell that it may have run', async (t) => {
  t.match(cutShort('x'), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
  t.match(malformed('x'), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
});
