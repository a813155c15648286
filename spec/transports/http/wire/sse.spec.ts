import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { BlockhouseError, type ChatDone } from '../../../../core/index.ts';
import { DEFAULT_SSE_TIMING, type SseTiming, SseWriter } from '../../../../transports/http/wire/sse.ts';
import { fakeTimers, someTurns } from '../../../support/fake-timers.ts';
import { framesOf, readAnswer, responseOf, until } from '../../../support/server.ts';

const COMMENT = ': keep-alive\n\n';
const START = { provider: 'p', model: 'm' };
const DONE: ChatDone = { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, stopReason: 'end_turn' };
/** So long that it never comes within a test. */
const NEVER: SseTiming = { openAfterMs: 3_600_000, keepAliveMs: 3_600_000, stallMs: 3_600_000 };
const SOON: SseTiming = { ...NEVER, openAfterMs: 20, keepAliveMs: 20 };

interface Stream {
  readonly writer: SseWriter;
  readonly res: ServerResponse;
  /** What was handed to `res.write` and `res.end`, one entry a call. */
  readonly writes: string[];
  readonly response: Promise<IncomingMessage>;
}

/** A writer on a real response, with each of its writes recorded. */
async function open(t: Test, timing: SseTiming): Promise<Stream> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = responseOf(get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }));
  response.catch(() => undefined); // some tests look at the writes alone and end without an answer
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const writes: string[] = [];
  const { write, end } = res;
  res.write = ((chunk: string) => {
    writes.push(chunk);
    return write.call(res, chunk, 'utf8');
  }) as typeof res.write;
  res.end = ((chunk: string) => {
    writes.push(chunk);
    return end.call(res, chunk, 'utf8');
  }) as typeof res.end;
  const writer = new SseWriter(res, 'r1', timing);
  t.teardown(() => {
    writer.stop();
    server.closeAllConnections();
    server.close();
  });
  return { writer, res, writes, response };
}

t.test('nothing is sent before the first content, and then start comes first, in the same write', async (t) => {
  const { writer, writes, response } = await open(t, NEVER);
  writer.start(START);
  t.equal(writer.opened, false);
  t.strictSame(writes, []);
  writer.content(['a', 'b']);
  t.equal(writer.opened, true);
  writer.content(['c']);
  writer.done(DONE);
  t.strictSame(writes, [
    'event: start\ndata: {"provider":"p","model":"m"}\n\nevent: content\ndata: {"text":"a"}\n\nevent: content\ndata: {"text":"b"}\n\n',
    `event: content\ndata: {"text":"c"}\n\nevent: done\ndata: ${JSON.stringify(DONE)}\n\n`,
  ]);
  const answer = await readAnswer(await response);
  t.equal(answer.text, writes.join(''));
  t.match(answer, {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': 'r1',
      'x-content-type-options': 'nosniff',
    },
  });
});

t.test('an answer without text is one write of start and done', async (t) => {
  const { writer, writes } = await open(t, NEVER);
  writer.start(START);
  writer.done(DONE);
  t.strictSame(writes, [`event: start\ndata: ${JSON.stringify(START)}\n\nevent: done\ndata: ${JSON.stringify(DONE)}\n\n`]);
});

t.test('a failure before the first byte leaves the answer to its status', async (t) => {
  const pass = fakeTimers(t);
  const { writer, res, writes } = await open(t, SOON);
  writer.start(START);
  writer.fail(new BlockhouseError('UPSTREAM_FAILED', 'no'));
  await pass(100);
  t.equal(res.headersSent, false, 'no comment opens it later');
  t.strictSame(writes, []);
});

t.test('a failure after the first byte is one error frame, the last', async (t) => {
  const { writer, response } = await open(t, NEVER);
  writer.start(START);
  writer.content(['half']);
  writer.fail(new BlockhouseError('UPSTREAM_MALFORMED', 'cut short', { upstreamStatus: 200 }));
  const frames = framesOf((await readAnswer(await response)).text);
  t.strictSame(frames, [
    { event: 'start', data: START },
    { event: 'content', data: { text: 'half' } },
    {
      event: 'error',
      data: { error: 'cut short', status: 502, code: 'UPSTREAM_MALFORMED', requestId: 'r1', upstreamStatus: 200, retryable: true },
    },
  ]);
});

t.test('silence opens the stream by a comment and keeps it alive by more, only between frames', async (t) => {
  const { writer, writes, response } = await open(t, SOON);
  const comments = (): number => writes.filter((text) => text === COMMENT).length;
  await until(() => comments() >= 2, 'the opening comment and one more');
  t.equal(writer.opened, true);
  writer.start(START);
  await until(() => comments() >= 3, 'a comment while the start frame waits');
  writer.content(['a']);
  const before = comments();
  await until(() => comments() > before, 'a comment after content');
  writer.done(DONE);
  t.ok(
    writes.every((text) => text === COMMENT || /^(event: \w+\ndata: [^\n]*\n\n)+$/.test(text)),
    'each write is whole frames or one comment',
  );
  const answer = await readAnswer(await response);
  t.equal(answer.status, 200);
  t.strictSame(
    framesOf(answer.text).map(({ event }) => event),
    ['start', 'content', 'done'],
  );
});

t.test('a failure after the opening comment is an error frame in a 200', async (t) => {
  const { writer, writes, response } = await open(t, SOON);
  await until(() => writes.length > 0, 'the opening comment');
  writer.fail(new BlockhouseError('UPSTREAM_TIMEOUT', 'silent'));
  const answer = await readAnswer(await response);
  t.equal(answer.status, 200);
  t.match(framesOf(answer.text), [{ event: 'error', data: { code: 'UPSTREAM_TIMEOUT', status: 502 } }]);
});

t.test('no comment follows the end, whether or not the end opened the stream', async (t) => {
  const pass = fakeTimers(t);
  for (const prepare of [() => undefined, (writer: SseWriter) => void writer.content(['a'])]) {
    const { writer, res, writes } = await open(t, { ...NEVER, keepAliveMs: 5 });
    // As for a connection that is so slow that the answer is still leaving.
    Object.defineProperty(res, 'destroyed', { get: () => false, set: () => undefined });
    writer.start(START);
    prepare(writer);
    writer.done(DONE);
    const count = writes.length;
    await pass(100);
    t.equal(writes.length, count);
  }
});

t.test('a stream that nobody reads any more gets no comments', async (t) => {
  const pass = fakeTimers(t);
  const { writer, res, writes, response } = await open(t, SOON);
  writer.content(['a']);
  (await response).destroy();
  while (!res.destroyed) await someTurns();
  const count = writes.length;
  await pass(100);
  t.equal(writes.length, count);
  writer.stop();
});

/** More than all socket buffers of a loopback connection hold. */
const FLOOD = ['x'.repeat(16 * 1024 * 1024)];

t.test('a client that does not read is not sent comments; content says so, and resumes on drain', async (t) => {
  const pass = fakeTimers(t);
  const { writer, res, writes, response } = await open(t, { ...NEVER, keepAliveMs: 5 });
  t.equal(writer.content(FLOOD), false);
  const stalled = await response;
  t.equal(res.writableNeedDrain, true);
  const count = writes.length;
  await pass(100);
  t.equal(writes.length, count, 'no comment joins the full buffer');
  const resumed = new Promise<void>((resolve) => writer.onceWritable(resolve));
  stalled.resume();
  await resumed;
  t.equal(res.writableNeedDrain, false);
  writer.done(DONE);
});

t.test('text stays in its frame, whatever it holds', async (t) => {
  const fragments = [
    '\n\nevent: done\ndata: {}\n\n',
    '\r',
    '\r\n\r\n',
    'a\u2028b\u2029c',
    ': comment\n\n',
    '[DONE]',
    'data: x',
    '\u0000',
    'é😀',
    '\ufeff',
    'id: 1\nretry: 0\n',
  ];
  const { writer, response } = await open(t, NEVER);
  writer.start({ provider: 'p\n\nevent: done', model: 'm\r\ndata: x' });
  writer.content(fragments);
  writer.done(DONE);
  const { text } = await readAnswer(await response);
  t.notMatch(text, /\r/);
  const frames = framesOf(text);
  t.strictSame(
    frames.filter(({ event }) => event === 'content').map(({ data }) => data['text']),
    fragments,
  );
  t.equal(frames.filter(({ event }) => event === 'done').length, 1);
  t.strictSame(frames[0]?.data, { provider: 'p\n\nevent: done', model: 'm\r\ndata: x' });
});

t.test('a lone surrogate in a text becomes an escape, so that the stream stays UTF-8', async (t) => {
  const { writer, response } = await open(t, NEVER);
  writer.start(START);
  writer.content(['\ud800']);
  writer.done(DONE);
  t.match((await readAnswer(await response)).text, '"\\ud800"');
});

t.test('by default the stream opens after 10 s of silence, and a comment follows every 15 s', async (t) => {
  t.strictSame(DEFAULT_SSE_TIMING, { openAfterMs: 10_000, keepAliveMs: 15_000, stallMs: 30_000 });
});

t.test('a client that has not read for the stall time is cut off, and one that reads again is not', async (t) => {
  const stalled = await open(t, { ...NEVER, stallMs: 50 });
  t.equal(stalled.writer.content(FLOOD), false);
  stalled.writer.onceWritable(() => t.fail('nothing was read'));
  (await stalled.response).on('error', () => undefined);
  await until(() => stalled.res.destroyed, 'the stalled connection to be cut');
  stalled.writer.stop();

  const slow = await open(t, NEVER);
  t.equal(slow.writer.content(FLOOD), false);
  const resumed = new Promise<void>((resolve) => slow.writer.onceWritable(resolve));
  (await slow.response).resume();
  await resumed;
  t.equal(slow.res.destroyed, false);
  slow.writer.done(DONE);
});

t.test('it says how long it will stay unopened', async (t) => {
  const { writer } = await open(t, NEVER);
  t.ok(writer.opensInMs > 3_000_000);
  writer.content(['a']);
  t.equal(writer.opensInMs, 0);
  writer.done(DONE);
});

t.test('a client that leaves the end of its answer unread has a time to read it in', async (t) => {
  const { writer, res, response } = await open(t, NEVER);
  writer.start(START);
  writer.content(['a']);
  const answer = await response;
  answer.pause();
  const { socket } = res;
  t.equal(socket?.timeout ?? 0, 0);
  writer.content(FLOOD);
  writer.done(DONE);
  t.equal(socket?.timeout, 15_000, 'Node then ends the connection');
  answer.resume();
  await until(() => res.writableFinished, 'the answer is written');
  t.equal(socket?.timeout ?? 0, 0);
});
