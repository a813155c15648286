import t from 'tap';
import { EnoughRead } from '../../../adapters/outbound/call.ts';
import { malformed, type Provider, type StreamDecoder, StreamError } from '../../../adapters/shared/provider.ts';
import { BodyCollector, StreamHandler, toError, WholeHandler } from '../../../adapters/shared/response-handlers.ts';
import type { ChatEvent, ReportedUsage } from '../../../core/index.ts';
import { chatCall } from '../../support/adapter-call.ts';

const PARTS = {
  displayName: 'Acme',
  settings: { apiKey: { secret: true } },
  readError: ({ text }: { text: string }) => ({ kind: 'failed' as const, message: text }),
} as unknown as Provider;

const text = (value: string): ChatEvent => ({ type: 'text', text: value });
const used = (inputTokens: number): ChatEvent => ({ type: 'usage', usage: { inputTokens } });

/** Each byte is a text; `!` is a provider error, `?` can't be read, `.` is the end mark, `u` is usage, `0` is usage of nothing. */
class ByteDecoder implements StreamDecoder {
  complete = false;
  readonly #reported: StreamError;

  constructor(reported: StreamError) {
    this.#reported = reported;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    for (const byte of chunk.toString()) {
      if (byte === '!') throw this.#reported;
      if (byte === '?') throw malformed('a byte of the stream');
      this.complete ||= byte === '.';
      events.push(byte === 'u' || byte === '0' ? used(byte === 'u' ? 9 : 0) : text(byte));
    }
    return events;
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    events.push({ type: 'stop', stopReason: 'end_turn' });
    return events;
  }
}

const SLOW_DOWN = new StreamError({ kind: 'rateLimited', message: 'slow down', retryAfterMs: 7 });

function handlerWith(reported: StreamError = SLOW_DOWN) {
  const { call, events } = chatCall();
  return { handler: new StreamHandler(PARTS, call, new ByteDecoder(reported)), events };
}

t.test('an error is complete with its status, and its body is read up to a cap', async (t) => {
  const body = new BodyCollector();
  t.equal(body.complete, false, 'no status yet');
  body.head(503, {});
  t.equal(body.complete, true);
  body.data(Buffer.from('busy'));
  t.match(body.answer(), { status: 503, text: 'busy', json: undefined });
  t.throws(() => body.data(Buffer.alloc(64 * 1024)));
  t.type(
    errorOf(() => body.data(Buffer.alloc(1))),
    EnoughRead,
  );
});

t.test('a whole answer beyond its cap is refused, and is not complete before its end', async (t) => {
  const body = new BodyCollector();
  body.head(200, {});
  body.data(Buffer.from('{"a":1}'));
  t.equal(body.complete, false);
  t.equal(body.text(), '{"a":1}');
  t.throws(() => body.data(Buffer.alloc(32 * 1024 * 1024)), { code: 'UPSTREAM_MALFORMED' });
});

t.test('a record of a stream that is too long to be read counts its bytes, as a whole answer does', async (t) => {
  const half = Buffer.alloc(17 * 1024 * 1024);
  const bytes = new ByteDecoder(SLOW_DOWN);
  const waiting: StreamDecoder = { push: (chunk, events = []) => (chunk.length === 1 ? bytes.push(chunk, events) : events), end: () => [], complete: false };
  const last = (...parts: readonly Buffer[]): ChatEvent | undefined => {
    const { call, events } = chatCall();
    const handler = new StreamHandler(PARTS, call, waiting);
    handler.head(200, {});
    for (const part of parts) handler.data(part);
    t.throws(() => handler.data(Buffer.from('?')), { code: 'UPSTREAM_MALFORMED' });
    return events.at(-1);
  };
  t.same(last(half, half), { type: 'unread', bytes: 2 * half.length + 1 });
  t.same(last(half, Buffer.from('a'), half), text('a'), 'some was read meanwhile');
});

t.test('a byte order mark is no part of a whole answer, nor of an error', async (t) => {
  for (const status of [200, 503]) {
    const body = new BodyCollector();
    body.head(status, {});
    body.data(Buffer.from('\ufeff{"a":1}'));
    t.equal(body.text(), '{"a":1}');
    t.same(body.answer().json, { a: 1 });
  }
});

t.test('what stands before a provider error in the same bytes is handed over first', async (t) => {
  for (const [bytes, code] of [
    ['ab!c', 'UPSTREAM_RATE_LIMITED'],
    ['ab?c', 'UPSTREAM_MALFORMED'],
  ] as const) {
    const { handler, events } = handlerWith();
    handler.head(200, {});
    t.throws(() => handler.data(Buffer.from(bytes)), { code });
    t.same(events, [text('a'), text('b')], bytes);
  }
});

t.test('an error inside a 200 may have run when a part of the answer has come, or when the folder says that the model has written', async (t) => {
  const cases: [pieces: string[], kind: 'rateLimited' | 'failed', folder: boolean | undefined, mayHaveRun: boolean][] = [
    [['!'], 'rateLimited', undefined, false],
    [['a!'], 'rateLimited', undefined, true],
    [['a', '!'], 'rateLimited', undefined, true],
    [['!'], 'failed', undefined, false],
    [['!'], 'failed', false, false],
    [['!'], 'rateLimited', true, true],
    [['a!'], 'failed', false, true],
    [['u!'], 'rateLimited', undefined, true],
    [['u', '!'], 'failed', false, false], // the folder knows that usage is told before the model runs
    [['ua', '!'], 'failed', false, true],
    [['0!'], 'rateLimited', undefined, false],
  ];
  for (const [pieces, kind, folder, mayHaveRun] of cases) {
    const { handler } = handlerWith(new StreamError({ kind, message: 'm', mayHaveRun: folder }));
    handler.head(200, {});
    t.match(
      errorOf(() => pieces.map((piece) => handler.data(Buffer.from(piece)))),
      { mayHaveRun },
      JSON.stringify([pieces, kind, folder]),
    );
  }
});

t.test('a whole answer that fails is counted as it tells, and by its size where it tells no output', async (t) => {
  const failed = new StreamError({ kind: 'failed', message: 'It broke.' });
  const ran = new StreamError({ kind: 'failed', message: 'It broke.', mayHaveRun: true });
  const unread: ChatEvent = { type: 'unread', bytes: 2 };
  const table: [thrown: Error, usage: ReportedUsage | undefined, events: ChatEvent[], mayHaveRun: boolean][] = [
    [malformed('it is none'), { inputTokens: 9, outputTokens: 5 }, [{ type: 'usage', usage: { inputTokens: 9, outputTokens: 5 } }], true],
    [malformed('it is none'), { inputTokens: 9 }, [used(9), unread], true],
    [malformed('it is none'), undefined, [unread], true],
    [failed, { inputTokens: 9, outputTokens: 5 }, [{ type: 'usage', usage: { inputTokens: 9, outputTokens: 5 } }], true],
    [failed, { inputTokens: 0, outputTokens: 0 }, [], false],
    [failed, undefined, [], false],
    [ran, undefined, [unread], true],
  ];
  for (const [thrown, usage, expected, mayHaveRun] of table) {
    const { call, events } = chatCall();
    const provider = {
      ...PARTS,
      readUsage: () => usage,
      readAnswer() {
        throw thrown;
      },
    };
    const handler = new WholeHandler(provider, call, { model: 'm', prompt: call.prompt, settings: call.settings, stream: false });
    handler.head(200, {});
    handler.data(Buffer.from('{}'));
    t.match(
      errorOf(() => handler.end()),
      { mayHaveRun },
      JSON.stringify([thrown.message, usage]),
    );
    t.same(events, expected, JSON.stringify([thrown.message, usage]));
  }
});

t.test('a stream is complete with its end mark, and ends with what the end brings', async (t) => {
  const { handler, events } = handlerWith();
  handler.head(200, {});
  handler.data(Buffer.from('a'));
  t.equal(handler.complete, false);
  handler.data(Buffer.from('.'));
  t.equal(handler.complete, true);
  await handler.end();
  t.same(events.at(-1), { type: 'stop', stopReason: 'end_turn' });
});

t.test('a stream beyond its cap is refused: what a call gathers from it must not grow without end', async (t) => {
  const { call } = chatCall();
  const gathering: StreamDecoder = { complete: false, push: (_chunk, events = []) => events, end: (events = []) => events };
  const handler = new StreamHandler(PARTS, call, gathering);
  handler.head(200, {});
  const chunk = Buffer.alloc(1024 * 1024);
  for (let mebibyte = 0; mebibyte < 128; mebibyte += 1) handler.data(chunk);
  t.throws(() => handler.data(Buffer.alloc(1)), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
});

t.test('an error status of a stream is collected, not decoded', async (t) => {
  const { handler, events } = handlerWith();
  handler.head(500, {});
  t.equal(handler.data(Buffer.from('ab')), true);
  t.throws(() => handler.end(), { code: 'UPSTREAM_FAILED', upstreamStatus: 500, message: 'Acme (HTTP 500): ab' });
  t.same(events, []);
});

t.test('an error keeps no secret of the call', async (t) => {
  const { call } = chatCall();
  const settings = { values: { apiKey: 'hunter2-hunter2' }, sources: { apiKey: 'request' as const } };
  const error = toError(PARTS, { ...call, settings }, { status: 401, headers: {}, text: 'bad key hunter2-hunter2', json: undefined });
  t.equal(error.message, 'Acme (HTTP 401): bad key [redacted]');
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

t.test('a whole answer in place of a stream has the limits of a whole answer', async (t) => {
  const { call, events } = chatCall({ stream: true });
  let reads = 0;
  const readAnswer = (): ChatEvent[] => {
    reads += 1;
    return Array.from({ length: 300_000 }, (): ChatEvent => ({ type: 'text', text: 'x' }));
  };
  const handlerOf = (body: string): StreamHandler => {
    const decoder: StreamDecoder = { push: (_, events = []) => events, end: (events = []) => events, complete: false };
    const handler = new StreamHandler({ ...PARTS, readAnswer }, call, decoder, {
      model: 'm',
      prompt: call.prompt,
      settings: call.settings,
      stream: true,
    });
    handler.head(200, { 'content-type': 'application/json' });
    handler.data(Buffer.from(body));
    return handler;
  };
  const end = async (body: string): Promise<void> => handlerOf(body).end();
  await t.rejects(end(`[${'{},'.repeat(500_000)}{}]`), { code: 'UPSTREAM_MALFORMED', message: /more than 500000 JSON values/ });
  await t.rejects(end('['.repeat(200_000) + ']'.repeat(200_000)), { code: 'UPSTREAM_MALFORMED', message: /deeper than 1000 levels/ });
  t.equal(reads, 0);
  await handlerOf('{}').end();
  t.equal(events.filter(({ type }) => type === 'text').length, 300_000, 'an answer of very many parts is emitted as any other');
});

t.test('a long answer is read in turns, whole or in place of a stream, and fails as a short one does', async (t) => {
  const long = JSON.stringify({ text: 'x'.repeat(300_000), many: Array.from({ length: 20_000 }, (_, index) => ({ [`name${index}`]: 0 })) });
  const readAnswer = (json: unknown): ChatEvent[] => [text((json as { text: string }).text)];
  for (const stream of [false, true])
    for (const [body, emitted] of [
      [long, [{ type: 'text' }]],
      [`${long}x`, [{ type: 'unread', bytes: long.length + 1 }]],
    ] as const) {
      const { call, events } = chatCall({ stream });
      const context = { model: 'm', prompt: call.prompt, settings: call.settings, stream };
      const decoder: StreamDecoder = {
        complete: false,
        push() {
          throw malformed('no stream either');
        },
        end: (all = []) => all,
      };
      const provider = { ...PARTS, id: 'acme', readAnswer };
      const handler = stream ? new StreamHandler(provider, call, decoder, context) : new WholeHandler(provider, call, context);
      handler.head(200, { 'content-type': 'application/json' });
      handler.data(Buffer.from(body));
      let turns = 0;
      const count = (): void => {
        turns += 1;
        if (turns < 1000) setImmediate(count);
      };
      setImmediate(count);
      const ended = handler.end();
      t.same(events, [], 'nothing at once');
      await (body === long ? ended : t.rejects(Promise.resolve(ended), { code: 'UPSTREAM_MALFORMED' }));
      t.ok(turns >= 4, `${turns} turns`);
      turns = 1000;
      t.match(events, emitted);
    }
});
