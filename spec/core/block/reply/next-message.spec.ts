import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
// Which message comes next, and what is put in order before.
import t from 'tap';
import type { Block } from '../../../../core/block/block.ts';
import { choiceAfterFault } from '../../../../core/block/reply/next-message.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { answerEntry, userEntry } from '../../../support/block-files.ts';
import { RUNNABLE, startCore } from '../../../support/blocks.ts';
import { heldDaemon, pulseIn } from '../../../support/held-daemon.ts';
import { until } from '../../../support/until.ts';

const DAY_MS = 86_400_000;
const QUEUED = { status: 'queued', processed: false } as const;

t.test('at a start, messages that waited too long expire, and younger ones are answered', async (t) => {
  let now = Date.now();
  const one = await startCore(t, { clock: () => now });
  await one.create('ada');
  const { id } = await one.blocks.post('ada', { message: 'old' }, 'web');
  now += DAY_MS + 1;
  await one.blocks.post('ada', { message: 'young' }, 'web');
  await one.blocks.start('ada');
  await one.told('message.finished', { status: 'done' });
  t.match(await one.blocks.history('ada'), [
    { id, status: 'expired', processed: true, error: { code: 'EXPIRED', retryable: true }, finishedAt: String },
    { content: 'young', status: 'done' },
    { content: 'You said: young' },
  ]);
  t.match(one.factsOf('message.finished')[0], { id, status: 'expired', code: 'EXPIRED' });
  t.match((await one.blocks.logs('ada'))[0]?.content, /WARN message\.expired/);
  t.match(await one.blocks.retry('ada', id), { status: 'queued' });
});

t.test('nothing expires while a monitor runs, whatever the clock does', async (t) => {
  let now = Date.now();
  const one = await startCore(t, { clock: () => now });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.halt();
  await one.told('block.transitioned', { to: 'paused' });
  for (const [message, jump] of [
    ['a', -3_600_000],
    ['b', 3650 * DAY_MS],
    ['c', 0],
  ] as const) {
    await one.blocks.post('ada', { message }, 'web');
    now += jump;
  }
  await one.blocks.unhalt();
  await until('all are answered', () => one.factsOf('message.finished').length === 3);
  const chat = await one.blocks.history('ada');
  t.strictSame(
    chat.map(({ content }) => content),
    ['a', 'b', 'c', 'You said: a', 'You said: b', 'You said: c'],
  );
  t.ok(chat.every(({ latencyMs }) => (latencyMs ?? 0) >= 0));
  const ids = chat.map(({ id }) => id);
  t.strictSame([...ids].sort(), ids, 'ids sort in their order');
  t.ok((await one.blocks.details('ada')).pulse.uptimeSeconds >= 0);
});

t.test('a start repairs what a crash left behind', async (t) => {
  const at = new Date().toISOString();
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'chat', [
    userEntry('1', { status: 'processing', processed: false, attempts: 1, timestamp: at }),
    userEntry('2', { status: 'processing', processed: false, attempts: 5, timestamp: at }),
    userEntry('3', { status: 'processing', processed: false, attempts: 1, timestamp: at }),
    answerEntry('3a', '3'),
  ]);
  await one.blocks.start('ada');
  await one.told('message.finished', { id: '1', status: 'done' });
  t.match(await one.blocks.history('ada'), [
    { id: '1', status: 'done', attempts: 2 },
    { id: '2', status: 'failed', error: { code: 'CRASHED' } },
    { id: '3', status: 'done' },
    { id: '3a' },
    { replyTo: '1' },
  ]);
  t.match(one.factsOf('message.finished'), [{ id: '2', status: 'failed', code: 'CRASHED' }, { id: '1' }]);
  t.equal(one.upstream.requests.length, 1);
});

t.test('a message waits until nextAttemptAt, but never longer than maxDelayMs; an invalid time is ignored', async (t) => {
  let now = Date.now();
  const one = await startCore(t, { clock: () => now });
  await one.create('ada', { ...RUNNABLE, retry: { maxDelayMs: 120_000 } });
  const waits = { ...QUEUED, timestamp: new Date(now).toISOString() };
  one.write('ada', 'chat', [userEntry('1', { ...waits, nextAttemptAt: 'tomorrow' }), userEntry('2', { ...waits, nextAttemptAt: '2999-01-01T00:00:00.000Z' })]);
  await one.blocks.start('ada');
  await one.told('message.finished', { id: '1', status: 'done' });
  const { reason, nextWakeUp } = await pulseIn(one, 'ada', 'backoff');
  t.match(reason, { code: 'WAITING' });
  // The wait is measured by another clock, which goes on.
  const leftMs = Date.parse(nextWakeUp ?? '') - now;
  t.ok(leftMs <= 120_000 && leftMs > 60_000, `${leftMs}`);
  now += 1000;
  await one.blocks.start('ada');
  await one.told('message.finished', { id: '2', status: 'done' });
});

t.test('a clock that is set back by an hour makes no wait longer', async (t) => {
  let now = Date.now();
  const daemon = heldDaemon((call, index) => (index === 0 ? call.refuse(503, 'not now') : call.answer('At last.')));
  const one = await startCore(t, { answer: daemon.answer, clock: () => now });
  await one.create('ada', { ...RUNNABLE, retry: { baseMs: 1500, maxDelayMs: 1500 } });
  await one.blocks.start('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  await pulseIn(one, 'ada', 'backoff');
  now -= 3_600_000;
  await one.blocks.post('ada', { message: 'another' }, 'web');
  await one.told('message.finished', { id, status: 'done' });
  await until('both are answered', () => one.factsOf('message.finished').length === 2);
});

t.test('after a restart with a clock that was set back, a message waits no longer than its own maxDelayMs', async (t) => {
  let now = Date.now();
  const daemon = heldDaemon((call) => call.refuse(503, 'not now'));
  const one = await startCore(t, { answer: daemon.answer, clock: () => now });
  await one.create('ada', { ...RUNNABLE, retry: { baseMs: 30_000, maxDelayMs: 30_000 } });
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await pulseIn(one, 'ada', 'backoff');
  await one.core.close();
  now -= 3_600_000;
  const next = await startCore(t, { workspace: one.workspace, clock: () => now });
  await next.told('block.transitioned', { to: 'backoff' });
  await until('it is written', () => Date.parse(next.readJson('ada', 'pulse').nextWakeUp) <= now + 30_000);
});

t.test('the kill switch pauses every monitor, and its release wakes them', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  await one.blocks.start('ada');
  await one.blocks.halt({ reason: 'Too dear' });
  t.match(await pulseIn(one, 'ada', 'paused'), {
    status: 'SLEEPING',
    attention: true,
    reason: { code: 'HALTED', message: /Too dear/, fix: 'blockhouse unhalt' },
    nextWakeUp: null,
  });
  await one.blocks.start('bob');
  await one.blocks.post('bob', { message: 'hi' }, 'web');
  t.equal((await pulseIn(one, 'bob', 'paused')).transitions.at(-1)?.actor, 'user');
  t.equal(one.upstream.requests.length, 0);
  await one.blocks.unhalt();
  await one.told('message.finished', { block: 'bob', status: 'done' });
  await one.told('block.transitioned', { block: 'ada', from: 'paused', to: 'idle', cause: 'unhalt' });
});

t.test('the kill switch does not change a failed block', async (t) => {
  const daemon = heldDaemon((call) => call.refuse(401, 'no such key'));
  const one = await startCore(t, { answer: daemon.answer });
  for (const name of ['ada', 'bob']) {
    await one.create(name);
    await one.blocks.start(name);
  }
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  const { reason } = await pulseIn(one, 'ada', 'failed');
  await one.blocks.halt();
  await one.told('block.transitioned', { block: 'bob', to: 'paused' });
  await one.blocks.unhalt();
  await one.told('block.transitioned', { block: 'bob', from: 'paused', to: 'idle' });
  t.match((await one.blocks.details('ada')).pulse, { state: 'failed', reason });
  t.equal(
    one
      .factsOf('block.transitioned')
      .filter(({ block }) => block === 'ada')
      .at(-1)?.['to'],
    'failed',
  );
  t.equal(daemon.calls.length, 1);
});

t.test('a reason that changes while a monitor is paused is shown', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.halt({ reason: 'first' });
  await pulseIn(one, 'ada', 'paused');
  writeFileSync(join(one.workspace, 'halted.json'), JSON.stringify({ reason: 'second' }));
  await until('the edit is seen', () => one.blocks.halted().reason === 'second');
  await one.blocks.start('ada');
  await until('it is shown', () => /second/.test(one.readJson('ada', 'pulse').reason?.message));
  t.equal(one.factsOf('block.transitioned').filter(({ to }) => to === 'paused').length, 1);
});

t.test('a block that loses its model stops, and resumes when it has one again', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.updateConfig('ada', { adapter: null });
  t.match(await pulseIn(one, 'ada', 'failed'), { reason: { code: 'NOT_CONFIGURED', fix: /blockhouse config set ada/ } });
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.blocks.updateConfig('ada', RUNNABLE);
  await one.told('message.finished', { status: 'done' });
});

t.test('only enabled blocks start again with the server', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob', 'eve']) {
    await one.create(name);
    await one.blocks.start(name);
  }
  await one.blocks.stop('bob');
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  for (const block of ['ada', 'eve']) await next.told('block.transitioned', { block, to: 'idle' });
  t.match(next.factsOf('block.transitioned')[0], { block: 'ada', to: 'starting', cause: 'server start', actor: 'server' });
  t.equal((await next.blocks.counts()).monitorsRunning, 2);
  t.match((await next.blocks.details('bob')).pulse, { state: 'stopped', desired: 'stopped' });
});

t.test('a disk fault leads to a wait, a damaged file needs a person, and a defect is thrown', async (t) => {
  const one = await startCore(t);
  const context = { name: 'ada', world: { now: () => 1000 } } as unknown as Block;
  t.match(choiceAfterFault(context, new BlockhouseError('STORAGE_FULL', 'full')), { kind: 'wait', until: 16_000, reason: { code: 'STORAGE_FULL' } });
  t.match(choiceAfterFault(context, new BlockhouseError('STORAGE_FAILED', 'no')), { kind: 'wait' });
  t.match(choiceAfterFault(context, new BlockhouseError('WORKSPACE_DAMAGED', 'no')), { kind: 'wait', reason: { fix: /doctor/ } });
  t.match(choiceAfterFault(context, new BlockhouseError('BLOCK_DAMAGED', 'bad')), { kind: 'fail', reason: { fix: /doctor/ } });
  t.match(choiceAfterFault(context, new BlockhouseError('INVALID_REQUEST', 'timezone')), { kind: 'fail' });
  t.equal(choiceAfterFault(context, new TypeError('x')), undefined);
  t.equal((await one.blocks.counts()).blocks, 0);
});
