import t, { type Test } from 'tap';
import type { ReplyStep } from '../../../core/index.ts';
import { RUNNABLE, type StartedCore, type StartOptions, startCore } from '../../support/blocks.ts';
import { type HeldDaemon, heldDaemon } from '../../support/held-daemon.ts';
import { until } from '../../support/until.ts';

const QUICK = { ...RUNNABLE, retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 2 } };

/** A running block, and a message that it has begun to answer. */
async function asked(t: Test, options: StartOptions = {}): Promise<{ one: StartedCore; daemon: HeldDaemon; id: string }> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const one = await startCore(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await one.create('ada', QUICK);
  await one.blocks.start('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'api');
  await daemon.call(0);
  return { one, daemon, id };
}

t.test('a wait ends with the answer, for everyone who waits', async (t) => {
  const { one, daemon, id } = await asked(t);
  const waits = [one.blocks.answer('ada', id), one.blocks.answer('ada', id, { waitMs: 60_000 })];
  (await daemon.call(0)).answer('Hello');
  for (const found of await Promise.all(waits))
    t.match(found, { entry: { id, status: 'done' }, answer: { replyTo: id, content: 'Hello', status: 'done' }, note: null, running: true });
});

t.test('an outcome from before the wait comes at once, also of an answer, and of a stopped block', async (t) => {
  const { one, daemon, id } = await asked(t);
  (await daemon.call(0)).answer('Hello');
  const { answer } = await one.blocks.answer('ada', id);
  const isTheSame = async (what: string) => t.match(await one.blocks.answer('ada', id), { answer: { content: 'Hello' }, note: null }, what);
  await isTheSame('running');
  t.match(await one.blocks.answer('ada', answer?.id ?? ''), { entry: { role: 'assistant' }, answer: null, note: null }, 'an answer');
  await one.blocks.stop('ada');
  await isTheSame('stopped');
});

t.test('a wait tells the steps of its own message, and the text so far at once', async (t) => {
  const { one, daemon, id } = await asked(t);
  const other = await one.blocks.post('ada', { message: 'later' }, 'api');
  const call = await daemon.call(0);
  call.say('Hel');
  await one.told('message.started', { id });
  const early: ReplyStep[] = [];
  const later: ReplyStep[] = [];
  const answers = [
    one.blocks.answer('ada', id, { onReply: (step) => void early.push(step) }),
    one.blocks.answer('ada', other.id, { onReply: (step) => void later.push(step) }),
  ];
  await until('the text so far', () => early.some(({ event }) => event === 'content'));
  call.say('lo');
  call.end();
  (await daemon.call(1)).answer('Later');
  await Promise.all(answers);
  const shown = (steps: readonly ReplyStep[]): string[] => [...new Set(steps.map(({ id }) => id)), ...new Set(steps.map(({ event }) => event))];
  t.same(
    [shown(early), shown(later)],
    [
      [id, 'start', 'content'],
      [other.id, 'start', 'content'],
    ],
  );
  const text = (steps: readonly ReplyStep[]): string => steps.map((step) => (step.event === 'content' ? step.text : '')).join('');
  t.same([text(early), text(later)], ['Hello', 'Later']);
});

t.test('an attempt that fails is a step when another follows, and the message waits on; its last failure is the outcome', async (t) => {
  const { one, daemon, id } = await asked(t);
  const steps: ReplyStep[] = [];
  const wait = one.blocks.answer('ada', id, { onReply: (step) => void steps.push(step) });
  (await daemon.call(0)).say('Hel');
  await until('text', () => steps.length > 1);
  (await daemon.call(0)).cut();
  (await daemon.call(1)).refuse(500, 'broken');
  const found = await wait;
  t.match(found, { entry: { status: 'failed', error: { code: 'UPSTREAM_FAILED', message: String } }, answer: null, note: null });
  t.same(
    steps.map(({ event }) => event),
    ['start', 'content', 'error', 'start'],
  );
});

t.test('the end of the wait resolves with the reason, and the message is answered all the same', async (t) => {
  const { one, daemon, id } = await asked(t);
  const pending = { entry: { id, status: 'processing' }, answer: null, running: true, note: /no answer yet/ };
  t.match(await one.blocks.answer('ada', id, { waitMs: 20 }), pending);
  t.match(await one.blocks.answer('ada', id, { waitMs: 0 }), pending);
  const enough = new AbortController();
  const wait = one.blocks.answer('ada', id, { until: enough.signal });
  enough.abort();
  t.match(await wait, pending);
  t.match(await one.blocks.answer('ada', id, { until: enough.signal }), pending);
  (await daemon.call(0)).answer('Hello');
  await one.told('message.finished', { id, status: 'done' });
});

t.test('a caller who aborts stops waiting, and the message goes on', async (t) => {
  const { one, daemon, id } = await asked(t);
  const leaving = new AbortController();
  const wait = one.blocks.answer('ada', id, { signal: leaving.signal });
  leaving.abort();
  await t.rejects(wait, { code: 'CANCELLED' });
  await t.rejects(one.blocks.answer('ada', id, { signal: leaving.signal }), { code: 'CANCELLED' });
  t.notOk((await daemon.call(0)).isClosed);
  (await daemon.call(0)).answer('Hello');
  t.match(await one.blocks.answer('ada', id), { answer: { content: 'Hello' } });
});

t.test('nobody waits for a block that does not answer', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'api');
  t.match(await one.blocks.answer('ada', id), { entry: { status: 'queued' }, answer: null, running: false, note: /stopped.*blockhouse start ada/ }, 'stopped');
  await one.blocks.halt();
  await one.blocks.start('ada');
  await one.inState('ada', 'paused');
  t.match(await one.blocks.answer('ada', id), { note: /paused.*blockhouse why ada/ }, 'paused');
});

t.test('a wait ends when the block stops answering', async (t) => {
  for (const [what, end] of [
    ['stop', (one: StartedCore) => one.blocks.stop('ada')],
    ['halt', (one: StartedCore) => one.blocks.halt()],
  ] as const) {
    const { one, daemon, id } = await asked(t);
    const next = await one.blocks.post('ada', { message: 'next' }, 'api');
    const wait = one.blocks.answer('ada', next.id);
    const ending = end(one);
    (await daemon.call(0)).answer('Hello');
    await ending;
    t.match(await wait, { entry: { id: next.id, status: 'queued' }, answer: null, note: /blockhouse (start|why) ada/ }, what);
    t.match(await one.blocks.answer('ada', id), { answer: { content: 'Hello' } }, what);
  }
});

t.test('a message that is cancelled has its outcome', async (t) => {
  const { one, daemon, id } = await asked(t);
  const next = await one.blocks.post('ada', { message: 'next' }, 'api');
  let text = '';
  const onReply = (step: ReplyStep): void => {
    if (step.event === 'content') text += step.text;
  };
  const waits = [one.blocks.answer('ada', id, { onReply }), one.blocks.answer('ada', next.id)];
  await one.blocks.cancel('ada', next.id);
  t.match(await waits[1], { entry: { status: 'cancelled' }, answer: null, note: null });
  (await daemon.call(0)).say('Hel');
  await until('text', () => text === 'Hel');
  await one.blocks.cancel('ada', id);
  t.match(await waits[0], { entry: { status: 'cancelled' }, answer: { status: 'interrupted', content: 'Hel' }, note: null });
});

t.test('an outcome that a person writes into chat.json ends the wait', async (t) => {
  const { one, id } = await asked(t);
  const wait = one.blocks.answer('ada', id);
  const entries = one.readJson('ada', 'chat') as object[];
  one.write(
    'ada',
    'chat',
    entries.map((entry) => ({ ...entry, status: 'cancelled', processed: true })),
  );
  t.match(await wait, { entry: { id, status: 'cancelled' }, note: null });
});

t.test('a block that is archived or renamed ends the wait with BLOCK_NOT_FOUND', async (t) => {
  for (const leave of [(one: StartedCore) => one.blocks.archive('ada'), (one: StartedCore) => one.blocks.rename('ada', { name: 'eva' })]) {
    const { one, daemon } = await asked(t);
    const next = await one.blocks.post('ada', { message: 'next' }, 'api');
    const wait = t.rejects(one.blocks.answer('ada', next.id), { code: 'BLOCK_NOT_FOUND', message: `still has the message ${next.id}` });
    const leaving = leave(one);
    (await daemon.call(0)).answer('Hello');
    await leaving;
    await wait;
    await t.rejects(one.blocks.answer('ada', next.id), { code: 'BLOCK_NOT_FOUND' });
  }
});

t.test('the end of the server ends every wait', async (t) => {
  const { one, daemon, id } = await asked(t);
  const next = await one.blocks.post('ada', { message: 'next' }, 'api');
  const waits = [one.blocks.answer('ada', id), one.blocks.answer('ada', next.id)];
  const closing = one.core.close();
  (await daemon.call(0)).answer('Hello');
  t.match(await waits[0], { answer: { content: 'Hello' }, note: null }, 'a reply under way may end');
  t.match(await waits[1], { entry: { status: 'queued' }, answer: null, note: /shutting down/ });
  await closing;
});

t.test('a wait for no message, no block or no time is refused', async (t) => {
  const { one, id } = await asked(t);
  await t.rejects(one.blocks.answer('ada', 'nobody'), { code: 'MESSAGE_NOT_FOUND' });
  await t.rejects(one.blocks.answer('nobody', id), { code: 'BLOCK_NOT_FOUND' });
  for (const waitMs of [-1, 600_001, Number.NaN, Number.POSITIVE_INFINITY, '5' as unknown as number, null as unknown as number, 1n as unknown as number])
    await t.rejects(one.blocks.answer('ada', id, { waitMs }), { code: 'INVALID_REQUEST', details: [{ path: 'waitMs' }], message: /600000/ }, String(waitMs));
});

t.test('a thousand callers wait for one block, and the next one waits in vain', async (t) => {
  const { one, daemon, id } = await asked(t);
  const waits = Array.from({ length: 1000 }, () => one.blocks.answer('ada', id));
  await new Promise(setImmediate);
  t.match(await one.blocks.answer('ada', id), { note: /1000 requests already wait/ });
  (await daemon.call(0)).answer('Hello');
  t.equal((await Promise.all(waits)).filter(({ answer }) => answer?.content === 'Hello').length, 1000);
  t.match(await one.blocks.answer('ada', id), { note: null });
});
