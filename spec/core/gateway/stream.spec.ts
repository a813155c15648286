import { once } from 'node:events';
import t from 'tap';
import { ChatStream, type ChatStreamEvent } from '../../../core/gateway/stream.ts';
import type { StreamSink } from '../../../core/ports.ts';
import type { ChatDone, StreamOptions } from '../../../core/schemas/chat.ts';
import { until } from '../../support/until.ts';

const START = { provider: 'p', model: 'm' };
const DONE: ChatDone = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, stopReason: 'end_turn' };

async function collect(stream: AsyncIterable<ChatStreamEvent>, into: ChatStreamEvent[] = []): Promise<ChatStreamEvent[]> {
  for await (const event of stream) into.push(event);
  return into;
}

t.test('events come in the order start, content, done', async (t) => {
  const stream = new ChatStream(async (sink) => {
    sink.start(START);
    sink.content(['a', 'b']);
    await Promise.resolve();
    sink.content(['c']);
    return DONE;
  }, undefined);
  t.same(await collect(stream), [
    { type: 'start', ...START },
    { type: 'content', text: 'a' },
    { type: 'content', text: 'b' },
    { type: 'content', text: 'c' },
    { type: 'done', ...DONE },
  ]);
});

t.test('reasoning and pieces of calls are events of a stream that asked for them, and hidden ones do not begin it', async (t) => {
  const run = async (sink: StreamSink) => {
    sink.start(START);
    sink.pieces?.([{ type: 'reasoning', text: 'hm' }]);
    seen.push(sink.opened);
    sink.pieces?.([
      { type: 'text', text: 'a' },
      { type: 'toolCallStart', index: 0, id: 'c', name: 'f' },
      { type: 'toolCallDelta', index: 0, text: '{}' },
      { type: 'toolCall', index: 0, toolCall: { id: 'c', name: 'f', arguments: {} } },
    ]);
    return DONE;
  };
  const seen: boolean[] = [];
  const typesOf = async (options: StreamOptions) => (await collect(new ChatStream(run, undefined, options))).map(({ type }) => type);
  t.strictSame(await typesOf({ reasoning: true }), ['start', 'reasoning', 'content', 'done']);
  t.strictSame(await typesOf({ toolDeltas: true }), ['start', 'content', 'toolCallStart', 'toolCallDelta', 'done']);
  t.strictSame(seen, [true, false]);
  await collect(
    new ChatStream(async (sink) => {
      t.equal(sink.pieces, undefined, 'without the options, only the text is asked for');
      return DONE;
    }, undefined),
  );
});

t.test('a failure is thrown after everything that came before it, and nothing follows it', async (t) => {
  const failure = new Error('cut short');
  const seen: ChatStreamEvent[] = [];
  const stream = new ChatStream(async (sink) => {
    sink.start(START);
    sink.content(['half']);
    throw failure;
  }, undefined);
  await t.rejects(collect(stream, seen), failure);
  t.same(
    seen.map(({ type }) => type),
    ['start', 'content'],
  );
});

t.test('a failure before the first event is thrown by the first step', async (t) => {
  const failure = new Error('refused');
  await t.rejects(new ChatStream(() => Promise.reject(failure), undefined)[Symbol.asyncIterator]().next(), failure);
});

t.test('nothing is asked of the provider before the loop begins', async (t) => {
  let ran = false;
  const iterator = new ChatStream(async () => {
    ran = true;
    return DONE;
  }, undefined)[Symbol.asyncIterator]();
  await new Promise(setImmediate);
  t.equal(ran, false);
  await iterator.next();
  t.equal(ran, true);
});

/** Writes `total` fragments as an obedient provider does; `written` counts them. */
function flood(total: number, pause: (sink: StreamSink, resume: () => void) => void = (sink, resume) => sink.onceWritable(resume)) {
  const state = { written: 0 };
  const stream = new ChatStream(async (sink, signal) => {
    sink.start(START);
    const left = once(signal, 'abort');
    while (state.written < total && !signal.aborted) {
      state.written += 1;
      if (!sink.content([String(state.written)])) await Promise.race([new Promise<void>((resolve) => pause(sink, resolve)), left]);
    }
    return DONE;
  }, undefined);
  return { state, stream };
}

t.test('the provider is paused while the loop does not ask, and every fragment arrives', async (t) => {
  const { state, stream } = flood(10_000);
  const texts: string[] = [];
  let ahead = 0;
  for await (const event of stream) {
    if (event.type !== 'content') continue;
    texts.push(event.text);
    if (texts.length % 1000 === 0) await new Promise(setImmediate); // a slow reader
    ahead = Math.max(ahead, state.written - texts.length);
  }
  t.same(
    texts,
    Array.from({ length: 10_000 }, (_, n) => String(n + 1)),
  );
  t.ok(ahead <= 128, `${ahead} fragments ahead at most`);
});

t.test('a provider that asks for the resumption only after everything was read gets it', async (t) => {
  const { stream } = flood(1000, (sink, resume) => setImmediate(() => setImmediate(() => sink.onceWritable(resume))));
  t.equal((await collect(stream)).length, 1002);
});

t.test('leaving the loop aborts the request', async (t) => {
  const { state, stream } = flood(1_000_000);
  for await (const event of stream) if (event.type === 'content') break;
  const written = state.written;
  await new Promise(setImmediate);
  t.equal(state.written, written, 'nothing is written any more');
  t.ok(written < 1000);
});

t.test('leaving the loop waits until the request has ended', async (t) => {
  let ended = false;
  const stream = new ChatStream(async (sink, signal) => {
    sink.start(START);
    await once(signal, 'abort');
    await new Promise(setImmediate);
    ended = true;
    throw new Error('cancelled');
  }, undefined);
  for await (const _ of stream) break;
  t.equal(ended, true);
});

t.test('an exception in the loop aborts the request', async (t) => {
  let aborted = false;
  const stream = new ChatStream(async (sink, signal) => {
    sink.start(START);
    await once(signal, 'abort');
    aborted = true;
    throw new Error('cancelled');
  }, undefined);
  await t.rejects(
    (async () => {
      for await (const _ of stream) throw new Error('mine');
    })(),
    { message: 'mine' },
  );
  t.equal(aborted, true);
});

t.test("the caller's signal reaches the request while the loop waits", async (t) => {
  const abort = new AbortController();
  let waiting = false;
  const stream = new ChatStream(async (_sink, signal) => {
    waiting = true;
    await once(signal, 'abort');
    throw new Error('cancelled');
  }, abort.signal);
  const collected = collect(stream);
  await until('the request runs', () => waiting);
  abort.abort();
  await t.rejects(collected, { message: 'cancelled' });
});

t.test('the sink counts as opened with its start', async (t) => {
  const opened: boolean[] = [];
  await collect(
    new ChatStream(async (sink) => {
      opened.push(sink.opened);
      sink.start(START);
      opened.push(sink.opened);
      return DONE;
    }, undefined),
  );
  t.same(opened, [false, true]);
});

t.test('a stream can be read once', async (t) => {
  const stream = new ChatStream(async () => DONE, undefined);
  await collect(stream);
  await t.rejects(collect(stream), { message: /can be read only once/ });
});
