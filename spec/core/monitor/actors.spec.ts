// The monitor's work as the machine calls for it, on real files.
import t from 'tap';
import { createActor } from 'xstate';
import type { BlockWorkshop } from '../../../core/block/workshop.ts';
import { MonitorActors } from '../../../core/monitor/actors.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { heldDaemon } from '../../support/held-daemon.ts';
import { until } from '../../support/until.ts';

t.test('fifty starts make one monitor, and fifty stops end it', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  const started = await Promise.all(Array.from({ length: 50 }, () => one.blocks.start('ada')));
  t.ok(started.every(({ pulse }) => pulse.state === 'idle'));
  t.equal(one.blocks.counts().monitorsRunning, 1);
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  (await daemon.call(0)).answer('Hello.');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.equal(daemon.calls.length, 1);
  const stopped = await Promise.all(Array.from({ length: 50 }, () => one.blocks.stop('ada')));
  t.ok(stopped.every(({ pulse }) => pulse.state === 'stopped'));
  t.equal(one.blocks.counts().monitorsRunning, 0);
  const tos = one.factsOf('block.transitioned').map(({ to }) => to);
  t.strictSame(tos, ['starting', 'idle', 'working', 'idle', 'stopping', 'stopped']);
});

t.test('what was accepted is answered, and what is too much is refused', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, queue: { cap: 20 } });
  await one.blocks.start('ada');
  const posts = await Promise.allSettled(Array.from({ length: 400 }, (_, index) => one.blocks.post('ada', { message: `${index}` }, 'api')));
  const accepted = posts.flatMap((post) => (post.status === 'fulfilled' ? [post.value.id] : []));
  const refused = posts.flatMap((post) => (post.status === 'rejected' ? [post.reason as { code: string; retryAfterMs: number }] : []));
  t.equal(accepted.length + refused.length, 400);
  t.ok(accepted.length >= 20);
  t.ok(refused.every(({ code, retryAfterMs }) => code === 'QUEUE_FULL' && retryAfterMs > 0));
  await until('all that was accepted is answered', () => one.factsOf('message.finished').length === accepted.length);
  const answered = (await one.blocks.history('ada')).filter(({ role }) => role === 'assistant').map(({ replyTo }) => replyTo);
  t.strictSame(answered, accepted);
});

t.test('a defect is in the log with its cause, and the monitor begins again', async (t) => {
  const lines: [event: string, fields: object][] = [];
  const log = { write: (_level: string, event: string, fields: object) => lines.push([event, fields]) };
  const shop = { name: 'ada', log, world: { now: Date.now } } as unknown as BlockWorkshop;
  for (const fault of [new TypeError('x is not a function'), 'no error at all']) {
    const onBegin = (): Promise<void> => Promise.reject(fault);
    const monitor = new MonitorActors(shop, { onBegin, onEnd: () => Promise.resolve() });
    const actor = createActor(monitor.machine(), { input: { name: 'ada', cause: 'start', actor: 'user' } }).start();
    await until('it is to begin again', () => actor.getSnapshot().value === 'restarting');
    actor.stop();
  }
  t.match(lines, [
    ['monitor.fault', { error: /TypeError: x is not a function\n.*at / }],
    ['monitor.fault', { error: 'no error at all' }],
  ]);
});

t.test('what a defect left half done is queued again by the stop', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, adapter: { ...RUNNABLE.adapter, provider: 'ollama' } });
  await one.blocks.start('ada');
  await one.blocks.halt();
  await one.told('block.transitioned', { to: 'paused' });
  const at = new Date().toISOString();
  const left = { id: 'm1', role: 'user', content: 'hi', timestamp: at, processed: false, status: 'processing', channel: 'web', attempts: 2, startedAt: at };
  one.write('ada', 'chat', [left]);
  await one.blocks.stop('ada');
  t.match(await one.blocks.history('ada'), [{ status: 'queued', attempts: 2 }]);
});

t.test('a monitor stops also when its files can not be written', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', '{');
  await one.blocks.stop('ada');
  t.equal(one.blocks.counts().monitorsRunning, 0);
  t.match((await one.blocks.logs('ada'))[0]?.content, /monitor\.stopped/);
});

t.test('only the message whose answer is being made is cancelled by ending it', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  await one.blocks.start('ada');
  const first = await one.blocks.post('ada', { message: 'a' }, 'web');
  const second = await one.blocks.post('ada', { message: 'b' }, 'web');
  const call = await daemon.call(0);
  t.match(await one.blocks.cancel('ada', second.id), { status: 'cancelled' });
  call.say('A');
  call.end();
  await one.told('message.finished', { id: first.id, status: 'done' });
  await t.rejects(one.blocks.cancel('ada', first.id), { code: 'WRONG_STATE' });
});
