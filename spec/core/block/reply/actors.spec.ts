// The monitor's work as the machine calls for it, on real files.
import t from 'tap';
import { createActor, SimulatedClock } from 'xstate';
import { ask } from '../../../../core/block/actor/ask.ts';
import { createBlockMachine } from '../../../../core/block/actor/machine.ts';
import { SAVING_MS } from '../../../../core/block/actor/setup.ts';
import { monitorActors } from '../../../../core/block/reply/actors.ts';
import type { BlockContext } from '../../../../core/block/reply/block-context.ts';
import { type ModelCall, ModelCallFailure } from '../../../../core/block/reply/call-model.ts';
import { ReplyStream, StepCounter } from '../../../../core/block/reply/reply-stream.ts';
import { UnsavedAnswer } from '../../../../core/block/reply/unsaved-answer.ts';
import { RetryWait } from '../../../../core/block/status/retry-wait.ts';
import { createBus } from '../../../../core/bus.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { AT, configOf, memoryOf, userEntry } from '../../../support/block-files.ts';
import { RUNNABLE, startCore } from '../../../support/blocks.ts';
import { heldDaemon, pulseIn } from '../../../support/held-daemon.ts';
import { START, STOP } from '../../../support/monitor-rig.ts';
import { gate, steppedAdapter } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

t.test('fifty starts make one monitor, and fifty stops end it', async (t) => {
  const daemon = heldDaemon();
  const one = await startCore(t, { answer: daemon.answer });
  await one.create('ada');
  const started = await Promise.all(Array.from({ length: 50 }, () => one.blocks.start('ada')));
  t.ok(started.every(({ pulse }) => pulse.state === 'idle'));
  t.equal((await one.blocks.counts()).monitorsRunning, 1);
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  (await daemon.call(0)).answer('Hello.');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.equal(daemon.calls.length, 1);
  const stopped = await Promise.all(Array.from({ length: 50 }, () => one.blocks.stop('ada')));
  t.ok(stopped.every(({ pulse }) => pulse.state === 'stopped'));
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  const tos = one.factsOf('block.transitioned').map(({ to }) => to);
  t.strictSame(tos, ['starting', 'idle', 'working', 'idle', 'stopping', 'stopped']);
});

t.test('every accepted message is answered, and messages beyond the cap are refused', async (t) => {
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

t.test('a defect is logged with its cause, and the monitor restarts', async (t) => {
  const lines: [event: string, fields: object][] = [];
  const log = { write: (_level: string, event: string, fields: object) => lines.push([event, fields]) };
  for (const fault of [new TypeError('x is not a function'), 'no error at all']) {
    const context = { name: 'ada', log, world: { now: Date.now }, beginRun: () => Promise.reject(fault) } as unknown as BlockContext;
    const actor = createActor(machineOf(context), { input: { name: 'ada', archiveName: null } }).start();
    await ask(actor, START);
    t.strictSame(actor.getSnapshot().value.monitor, { running: 'restarting' });
    actor.stop();
  }
  t.match(lines, [
    ['monitor.fault', { error: /TypeError: x is not a function\n.*at / }],
    ['monitor.fault', { error: 'no error at all' }],
  ]);
});

t.test('a stop queues a message again that a defect left half done', async (t) => {
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

t.test("a monitor stops even if its files can't be written", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', '{');
  await one.blocks.stop('ada');
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  t.match((await one.blocks.logs('ada'))[0]?.content, /monitor\.stopped/);
});

t.test('a cancellation ends the reply only of the message that is being answered', async (t) => {
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

t.test('a configuration or file that a person repairs during a reply is tried after the reply', async (t) => {
  const cures = {
    config: { adapter: { ...RUNNABLE.adapter, model: 'good' } },
    memory: { summary: 'Repaired.' },
  } as const;
  for (const [file, fields] of Object.entries(cures)) {
    const daemon = heldDaemon();
    const one = await startCore(t, { answer: daemon.answer });
    await one.create('ada');
    await one.blocks.start('ada');
    const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
    const call = await daemon.call(0);
    one.write('ada', file, { ...one.readJson('ada', file), ...fields });
    await one.told('block.changed', { block: 'ada', file });
    call.refuse(404, 'no such model');
    (await daemon.call(1)).answer('Hello.');
    await one.told('message.finished', { id, status: 'done' });
    t.strictSame(
      one
        .factsOf('block.transitioned')
        .map(({ to }) => to)
        .slice(0, 4),
      ['starting', 'idle', 'working', 'starting'],
      file,
    );
  }
});

t.test('once the gateway is closed, no message is tried again', async (t) => {
  const adapter = steppedAdapter([new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.')]);
  const one = await startCore(t, { adapters: [adapter], env: { STEPPED_API_KEY: 'k' } });
  await one.create('ada', { adapter: { provider: 'stepped', model: 'm' } });
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await pulseIn(one, 'ada', 'paused'), { reason: { code: 'SHUTTING_DOWN' }, nextWakeUp: null });
  t.equal(adapter.calls.length, 1);
  t.match(await one.blocks.history('ada'), [{ status: 'queued', attempts: 0, error: null }]);
});

t.test('a message whose call reports a cancellation that nobody made waits before it is tried again', async (t) => {
  const adapter = steppedAdapter([new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.')]);
  const one = await startCore(t, { adapters: [adapter], env: { STEPPED_API_KEY: 'k' } });
  await one.create('ada', { adapter: { provider: 'stepped', model: 'm' } });
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await pulseIn(one, 'ada', 'backoff'), { reason: { code: 'WAITING' }, nextWakeUp: String });
  t.equal(adapter.calls.length, 1);
});

t.test('a reply that ends after its run does not affect the reply of the next run', async (t) => {
  const reads: { open(): void }[] = [];
  const entries = [userEntry('m1', { status: 'queued', processed: false, timestamp: new Date().toISOString() })];
  const held = async (): Promise<unknown> => {
    const next = gate();
    reads.push(next);
    await next.opened;
    return memoryOf();
  };
  const files = {
    config: { read: async () => configOf(RUNNABLE) },
    costs: { update: async () => undefined },
    memory: { read: held },
    conversation: {
      entries: async () => entries,
      recover: async () => ({ queued: 1, next: entries[0], over: [] }),
      begin: async () => undefined,
      requeueAll: async () => undefined,
    },
  };
  const gateway = { readiness: (id: string) => ({ id, missing: undefined }), contextTokens: async () => undefined };
  const world = { now: Date.now, halted: () => ({ halted: false }), member: () => ({ isDraining: false }), gateway };
  const at = (): string => new Date().toISOString();
  const retryWait = new RetryWait(() => 0);
  const run = { beginRun: async () => undefined, endRun: async () => undefined };
  const context = {
    name: 'ada',
    files,
    world,
    at,
    retryWait,
    log: { write: () => undefined },
    endTask: () => undefined,
    ...run,
  } as unknown as BlockContext;
  const clock = new SimulatedClock();
  const actor = createActor(machineOf(context), { clock, input: { name: 'ada', archiveName: null } }).start();
  void ask(actor, START);
  await until('the first reply is under way', () => reads.length === 1);
  const stopped = ask(actor, STOP);
  actor.send(STOP);
  clock.increment(SAVING_MS);
  await stopped;
  void ask(actor, START);
  await until('the second reply is under way', () => reads.length === 2);
  reads[0]?.open();
  await new Promise(setImmediate);
  let isOver = false;
  const cancelled = ask(actor, { type: 'message.cancel', messageId: 'm1' }).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  t.notOk(isOver, 'it is found, and waited for');
  reads[1]?.open();
  await cancelled;
  actor.stop();
});

t.test('a reply that a stop no longer waits for is saved when it ends', async (t) => {
  const message = userEntry('m1', { status: 'queued', processed: false, timestamp: new Date().toISOString() });
  const settled: unknown[] = [];
  const ended = gate();
  let isAsked = false;
  const files = {
    config: { read: async () => configOf(RUNNABLE) },
    costs: { update: async () => undefined },
    memory: { read: async () => memoryOf() },
    conversation: {
      entries: async () => [message],
      recover: async () => ({ queued: 1, next: message, over: [] }),
      begin: async () => ({ ...message, status: 'processing', attempts: 1 }),
      newId: () => 'a1',
      settle: async (_claim: unknown, ...outcome: unknown[]) => settled.push(outcome),
    },
  };
  const calls = {
    billing: { ready: async () => undefined },
    make: async ({ text, onText }: ModelCall) => {
      text?.append('Half');
      onText?.('Half');
      isAsked = true;
      await ended.opened;
      throw new ModelCallFailure(new BlockhouseError('CANCELLED', 'Ended.'), undefined);
    },
  };
  const gateway = { readiness: (id: string) => ({ id, missing: undefined }), contextTokens: async () => undefined };
  const world = { now: Date.now, random: () => 0, halted: () => ({ halted: false }), member: () => ({ isDraining: false }), gateway, calls, bus: createBus() };
  const tasks: string[] = [];
  const context = {
    name: 'ada',
    files,
    world,
    at: () => AT,
    failures: () => 0,
    retryWait: new RetryWait(() => 0),
    feed: new ReplyStream(new StepCounter(0)),
    unsaved: new UnsavedAnswer(),
    log: { write: () => undefined },
    setTask: ({ phase }: { phase: string }) => tasks.push(phase),
    endTask: (id: string) => tasks.push(`end of ${id}`),
    beginRun: async () => undefined,
    endRun: async () => undefined,
  } as unknown as BlockContext;
  const clock = new SimulatedClock();
  const actor = createActor(machineOf(context), { clock, input: { name: 'ada', archiveName: null } }).start();
  void ask(actor, START);
  await until('the model is asked', () => isAsked);
  const stopped = ask(actor, STOP);
  actor.send(STOP);
  clock.increment(SAVING_MS);
  await stopped;
  t.strictSame(settled, []);
  ended.open();
  await until('it is over', () => tasks.includes('end of m1'));
  t.match(settled, [['m1', { status: 'done', error: null }, { content: 'Half', status: 'interrupted', replyTo: 'm1' }]]);
  t.strictSame(tasks, ['waiting-model', 'streaming', 'end of m1']);
  actor.stop();
});

function machineOf(context: BlockContext): ReturnType<typeof createBlockMachine> {
  return createBlockMachine(Date.now).provide({ actors: monitorActors(() => context) });
}
