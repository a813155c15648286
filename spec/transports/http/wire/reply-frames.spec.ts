import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { AwaitedMessage, ChatEntry } from '../../../../core/index.ts';
import { ReplyFrames } from '../../../../transports/http/wire/reply-frames.ts';
import { SseWriter } from '../../../../transports/http/wire/sse.ts';
import { answerEntry, userEntry } from '../../../support/block-files.ts';
import { type Frame, framesOf, readAnswer, responseOf, until } from '../../../support/server.ts';

const NEVER = { openAfterMs: 3_600_000, keepAliveMs: 3_600_000, stallMs: 3_600_000 };
const start = (attempt = 1, provider = 'p') => ({ id: 'm1', seq: 1, event: 'start', provider, model: 'm', attempt }) as const;
const content = (text: string) => ({ id: 'm1', seq: 2, event: 'content', text }) as const;
const failed = { id: 'm1', seq: 3, event: 'error', code: 'UPSTREAM_FAILED', error: 'no', willRetry: true } as const;
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const reply = (fields: Partial<ChatEntry> = {}): ChatEntry => answerEntry('a1', 'm1', { content: 'Hello', usage, stopReason: 'end_turn', ...fields });
const found = (entry: Partial<ChatEntry>, answer: ChatEntry | null = null, note: string | null = null): AwaitedMessage => ({
  entry: userEntry('m1', { status: 'done', processed: true, ...entry }),
  answer,
  running: true,
  note,
});

async function open(t: Test) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const response = responseOf(get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }));
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const writer = new SseWriter(res, 'req_1', NEVER);
  return { writer, res, response, frames: new ReplyFrames(writer) };
}

/** The frames of a stream that plays these steps and ends with this outcome. */
async function play(t: Test, steps: readonly Parameters<ReplyFrames['step']>[0][], outcome: AwaitedMessage): Promise<Frame[]> {
  const { frames, response } = await open(t);
  for (const step of steps) frames.step(step);
  t.ok(frames.finish(outcome));
  return framesOf((await readAnswer(await response)).text);
}

t.test('a whole answer ends with done', async (t) => {
  t.same(await play(t, [start(), content('Hel'), content('lo')], found({}, reply())), [
    { event: 'start', data: { provider: 'p', model: 'm', id: 'm1', attempt: 1 } },
    { event: 'content', data: { text: 'Hel' } },
    { event: 'content', data: { text: 'lo' } },
    { event: 'done', data: { usage, stopReason: 'end_turn', answerId: 'a1' } },
  ]);
});

t.test('an answer whose steps did not come is one piece, also one without any figures', async (t) => {
  const bare = { provider: undefined, model: undefined, usage: null, stopReason: undefined } as unknown as Partial<ChatEntry>;
  for (const steps of [[], [start(), content('Hel'), failed], [start(), failed]]) {
    const frames = await play(t, steps, found({}, reply(bare)));
    t.match(frames.slice(-3), [
      { event: 'start', data: { provider: '', model: '' } },
      { event: 'content', data: { text: 'Hello' } },
      { event: 'done', data: { usage: { totalTokens: 0, estimated: true }, stopReason: 'unknown' } },
    ]);
  }
  t.match(
    await play(t, [], { ...found({}), entry: reply() }),
    [{ event: 'start', data: { id: 'm1' } }, { event: 'content' }, { event: 'done', data: { answerId: 'a1' } }],
    'an answer that was asked for itself names its message',
  );
});

t.test('an attempt without text leaves no trace, and one with text is made void by the next start', async (t) => {
  const events = async (...steps: Parameters<typeof play>[1]) => (await play(t, steps, found({}, reply()))).map(({ event, data }) => data['attempt'] ?? event);
  t.same(await events(start(1), failed, start(2), content('Hello')), [2, 'content', 'done']);
  t.same(await events(start(1), content('Hel'), failed, start(2), content(''), content('Hello')), [1, 'content', 2, 'content', 'done']);
  t.same(await events(start(1), content('Hel'), failed, start(2)), [1, 'content', 2, 'done']);
});

t.test('whatever is no whole answer ends with an error that says so', async (t) => {
  const broken = { code: 'UPSTREAM_AUTH', message: 'The key was refused.', retryable: false };
  const cases: [AwaitedMessage, object][] = [
    [found({ status: 'failed', error: broken }), { code: 'UPSTREAM_AUTH', status: 502, error: 'The key was refused.' }],
    [found({ status: 'failed', error: { ...broken, code: 'UPSTREAM_UNREACHABLE' } }), { code: 'UPSTREAM_UNREACHABLE', retryable: false }],
    [found({ status: 'failed', error: { ...broken, code: 'UPSTREAM_RATE_LIMITED', retryable: true } }), { code: 'UPSTREAM_RATE_LIMITED', retryable: true }],
    [found({ status: 'failed', error: { ...broken, code: 'CRASHED' } }), { code: 'NOT_ANSWERED', error: 'The key was refused.' }],
    [found({ status: 'failed', error: { ...broken, code: '__proto__' } }), { code: 'NOT_ANSWERED' }],
    [found({ status: 'failed', error: null }), { code: 'NOT_ANSWERED', error: 'The message has failed.' }],
    [found({ status: 'cancelled' }), { code: 'NOT_ANSWERED', error: 'The message was cancelled.' }],
    [found({ status: 'cancelled' }, reply({ status: 'interrupted' })), { code: 'NOT_ANSWERED', error: /cancelled\. The text so far is kept/ }],
    [found({ status: 'expired' }), { code: 'NOT_ANSWERED', error: /expired/ }],
    [found({}, reply({ status: 'interrupted' })), { code: 'NOT_ANSWERED', status: 409, error: /interrupted/ }],
    [found({}), { code: 'NOT_ANSWERED', error: 'There is no answer to the message.' }],
  ];
  for (const [outcome, data] of cases) {
    const frames = await play(t, [], outcome);
    t.match(frames.at(-1), { event: 'error', data: { requestId: 'req_1', ...data } });
    t.notOk(frames.some(({ event }) => event === 'done'));
  }
  t.match((await play(t, [start(), content('Hel')], found({ status: 'processing' }, null, 'No answer yet.'))).at(-1), {
    event: 'error',
    data: { code: 'ANSWER_PENDING', error: 'No answer yet. The id of the message is m1.' },
  });
});

t.test('frames of the run stand where they came, and stay when the attempt starts over', async (t) => {
  const of = { type: 'run', block: 'a', id: 'm1' } as const;
  const { frames, response, writer } = await open(t);
  const takesMore = writer.content.bind(writer);
  writer.content = (texts) => takesMore(texts) && false; // as a client that reads slowly: what comes now is held back
  frames.run({ type: 'approval', id: 'a1', block: 'a', state: 'pending' });
  frames.step(start());
  frames.step(content('Let me look.'));
  frames.run({ ...of, event: 'step', n: 1 });
  frames.step(content('void'));
  frames.step(failed);
  frames.step(start(2));
  frames.run({ ...of, event: 'tool', call: '1.1', tool: 'x/y', state: 'done', ms: 3 });
  frames.step(content('Hello'));
  frames.finish(found({}, reply()));
  t.same(framesOf((await readAnswer(await response)).text), [
    { event: 'approval', data: { id: 'a1', block: 'a', state: 'pending' } },
    { event: 'start', data: { provider: 'p', model: 'm', id: 'm1', attempt: 1 } },
    { event: 'content', data: { text: 'Let me look.' } },
    { event: 'start', data: { provider: 'p', model: 'm', id: 'm1', attempt: 2 } },
    { event: 'run', data: { block: 'a', id: 'm1', event: 'step', n: 1 } },
    { event: 'run', data: { block: 'a', id: 'm1', event: 'tool', call: '1.1', tool: 'x/y', state: 'done', ms: 3 } },
    { event: 'content', data: { text: 'Hello' } },
    { event: 'done', data: { usage, stopReason: 'end_turn', answerId: 'a1' } },
  ]);
});

t.test('a message without an outcome leaves a stream that is not open to another answer', async (t) => {
  const { frames, res, response } = await open(t);
  frames.step(start());
  t.notOk(frames.finish(found({ status: 'processing' }, null, 'No answer yet.')));
  t.notOk(res.headersSent);
  res.writeHead(202).end();
  t.equal((await response).statusCode, 202);
});

t.test('what a client does not take is held back, and comes in order when it reads again', async (t) => {
  const { frames, res, response } = await open(t);
  const large = 'x'.repeat(16 * 1024 * 1024); // more than the system holds
  frames.step(start());
  frames.step(content(large));
  t.ok(res.writableNeedDrain);
  const before = res.writableLength;
  for (let n = 0; n < 100; n += 1) frames.step(content(`${n},`));
  await new Promise(setImmediate);
  t.ok(res.writableLength <= before, 'nothing is added to what is not read');
  const answer = readAnswer(await response);
  await until(() => !res.writableNeedDrain, 'the client to read');
  frames.step(content('end'));
  frames.finish(found({}, reply()));
  const text = framesOf((await answer).text)
    .map(({ data }) => data['text'] ?? '')
    .join('');
  t.equal(text.slice(large.length), `${Array.from({ length: 100 }, (_, n) => `${n},`).join('')}end`);
});
