// The life, the memory and the server of a block, as its machine has them. The monitor is in monitor-region.spec.ts.

import t from 'tap';
import { type Actor, createActor, fromPromise, initialTransition, type NonReducibleUnknown, type Snapshot, transition } from 'xstate';
import { ask } from '../../../../core/block/actor/ask.ts';
import { type BlockMachine, createBlockMachine, isRunning, stateOf } from '../../../../core/block/actor/machine.ts';
import type { BlockEvent, Choice, MachineContext } from '../../../../core/block/actor/types.ts';
import type { BlockMemory } from '../../../../core/schemas/block-memory.ts';
import type { Stored, Unconfirmed } from '../../../../core/store/port.ts';
import { memoryOf } from '../../../support/block-files.ts';
import { pathOf, START, STOP } from '../../../support/monitor-rig.ts';
import { gate } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

type Work = 'archive' | 'restore' | 'remove' | 'compact';

interface Rig {
  readonly actor: Actor<BlockMachine>;
  /** What was begun, with its input. */
  readonly works: [Work, unknown][];
  /** Lets monitors end. */
  settle(): void;
  /** Ends the work that is under way. */
  done(output?: unknown): void;
  refused(error: unknown): void;
  send(event: BlockEvent): void;
  life(): string;
  monitor(): string;
  reaches(life: string): Promise<void>;
}

const ARCHIVE = { type: 'block.archive' } as const;
const RESTORE = { type: 'block.restore', name: 'bob' } as const;
const REMOVE = { type: 'block.remove' } as const;
const COMPACT = { type: 'block.compact' } as const;
const CLOSE = { type: 'block.close' } as const;
const STORED: Stored = { archiveName: 'ada_2026', unconfirmed: undefined };

function rigOf(archiveName: string | null, snapshot?: Snapshot<unknown>): Rig {
  const works: [Work, unknown][] = [];
  let done = (_output?: unknown): void => undefined;
  let refused = (_error: unknown): void => undefined;
  const settled = gate();
  const nothing = (): Promise<Choice> => Promise.resolve({ kind: 'nothing' });
  const work = <O, I extends NonReducibleUnknown>(name: Work) =>
    fromPromise<O, I>(
      ({ input }) =>
        new Promise<O>((resolve, reject) => {
          works.push([name, input]);
          done = (output) => resolve(output as O);
          refused = reject;
        }),
    );
  const machine = createBlockMachine(() => 0).provide({
    actors: {
      recover: fromPromise(nothing),
      choose: fromPromise(nothing),
      settle: fromPromise(() => settled.opened),
      compact: work<BlockMemory, { readonly trigger: 'threshold' | 'manual' }>('compact'),
      archive: work<Stored, { readonly wasRunning: boolean }>('archive'),
      restore: work<Unconfirmed, { readonly archiveName: string; readonly name: string }>('restore'),
      remove: work<Unconfirmed, { readonly archiveName: string }>('remove'),
    },
  });
  const actor = createActor(machine, { input: { name: 'ada', archiveName }, ...(snapshot !== undefined && { snapshot }) }).start();
  const life = (): string => actor.getSnapshot().value.life;
  return {
    actor,
    works,
    settle: settled.open,
    done: (output) => done(output),
    refused: (error) => refused(error),
    send: (event) => actor.send(event),
    life,
    monitor: () => pathOf(actor.getSnapshot().value.monitor),
    reaches: (wanted) => until(`the block is ${wanted}, not ${life()}`, () => life() === wanted),
  };
}

/** The ways into each state of its life. */
const WAYS: Readonly<Record<string, () => Promise<Rig>>> = {
  active: async () => rigOf(null),
  leaving: async () => sent(rigOf(null), START, ARCHIVE),
  archiving: async () => sent(rigOf(null), ARCHIVE),
  archived: async () => rigOf('ada_2025'),
  restoring: async () => sent(rigOf('ada_2025'), RESTORE),
  removing: async () => sent(rigOf('ada_2025'), REMOVE),
  removed: async () => {
    const rig = sent(rigOf('ada_2025'), REMOVE);
    rig.done();
    await rig.reaches('removed');
    return rig;
  },
};

function sent(rig: Rig, ...events: BlockEvent[]): Rig {
  for (const event of events) rig.send(event);
  return rig;
}

type Row = readonly [from: string, what: string, step: (rig: Rig) => void, to: string, context?: Partial<MachineContext>];

const ROWS: readonly Row[] = [
  ['active', 'archive', (rig) => rig.send(ARCHIVE), 'archiving', { wasRunning: false }],
  ['active', 'restore', (rig) => rig.send(RESTORE), 'active', { name: 'ada' }],
  ['active', 'remove', (rig) => rig.send(REMOVE), 'active'],
  ['leaving', 'the monitor has ended', (rig) => rig.settle(), 'archiving', { wasRunning: true }],
  ['archiving', 'moved', (rig) => rig.done(STORED), 'archived', { archiveName: 'ada_2026' }],
  ['archiving', 'refused', (rig) => rig.refused(new Error('EXDEV')), 'active', { archiveName: null }],
  ['archiving', 'start', (rig) => rig.send(START), 'archiving'],
  ['archived', 'restore', (rig) => rig.send(RESTORE), 'restoring', { name: 'bob' }],
  ['archived', 'remove', (rig) => rig.send(REMOVE), 'removing'],
  ['archived', 'start', (rig) => rig.send(START), 'archived'],
  ['restoring', 'moved', (rig) => rig.done(), 'active', { archiveName: null, name: 'bob' }],
  ['restoring', 'refused', (rig) => rig.refused('taken'), 'archived', { archiveName: 'ada_2025' }],
  ['restoring', 'remove', (rig) => rig.send(REMOVE), 'restoring'],
  ['removing', 'removed', (rig) => rig.done(), 'removed'],
  ['removing', 'refused', (rig) => rig.refused(new Error('EACCES')), 'archived'],
];

t.test('each state of a life goes to the next one by its events', async (t) => {
  for (const [from, what, step, to, context = {}] of ROWS) {
    const rig = await (WAYS[from] as () => Promise<Rig>)();
    t.equal(rig.life(), from);
    step(rig);
    await rig.reaches(to);
    t.match(rig.actor.getSnapshot().context, context, `${from}: ${what}`);
    rig.actor.stop();
  }
});

t.test('a block begins in the state that its input names', async (t) => {
  const machine = createBlockMachine(() => 0);
  const [active] = initialTransition(machine, { name: 'ada', archiveName: null });
  t.strictSame(active.value, { life: 'active', monitor: 'stopped', memory: 'settled', server: 'open' });
  const [archived] = initialTransition(machine, { name: 'ada', archiveName: 'ada_2025' });
  t.equal(archived.value.life, 'archived');
  const [running] = transition(machine, active, START);
  t.ok(isRunning(running));
});

t.test('a block moves only after its monitor and its compaction have ended, and may run again if the move fails', async (t) => {
  const rig = sent(rigOf(null), START);
  await until('it waits', () => rig.monitor() === 'running.idle');
  const compacted = t.rejects(ask(rig.actor, COMPACT), { message: 'ended' });
  const archived = t.rejects(ask(rig.actor, ARCHIVE), { message: 'EXDEV' });
  t.equal(rig.monitor(), 'running.stopping');
  t.strictSame(rig.works, [['compact', { trigger: 'manual' }]]);
  rig.settle();
  await until('the monitor has ended', () => rig.monitor() === 'stopped');
  t.equal(rig.life(), 'leaving');
  await t.rejects(ask(rig.actor, START), { code: 'WRONG_STATE', message: /being archived/ });
  rig.refused(new Error('ended'));
  await rig.reaches('archiving');
  t.strictSame(rig.works.at(-1), ['archive', { wasRunning: true }]);
  rig.refused(new Error('EXDEV'));
  await Promise.all([compacted, archived]);
  t.equal(rig.life(), 'active');
  await ask(rig.actor, START);
  t.equal(rig.monitor(), 'running.idle');
});

t.test('a command that does not fit the state is refused with the reason', async (t) => {
  const archived = rigOf('ada_2025');
  await t.rejects(ask(archived.actor, START), { code: 'WRONG_STATE' });
  await t.rejects(ask(archived.actor, COMPACT), { code: 'WRONG_STATE' });
  await t.rejects(ask(archived.actor, ARCHIVE), { code: 'BLOCK_NOT_FOUND' });
  await ask(archived.actor, STOP);
  const moving = sent(rigOf(null), ARCHIVE);
  await t.rejects(ask(moving.actor, START), { code: 'WRONG_STATE', status: 409 });
});

t.test('compactions are made one at a time, and each caller gets its answer', async (t) => {
  const rig = rigOf(null);
  const first = ask(rig.actor, COMPACT);
  t.equal(stateOf(rig.actor.getSnapshot()), 'compacting');
  await t.rejects(ask(rig.actor, COMPACT), { code: 'WRONG_STATE', message: /already being summarised/ });
  const memory = memoryOf();
  rig.done(memory);
  t.equal(await first, memory);
  t.equal(stateOf(rig.actor.getSnapshot()), 'stopped');
  const failing = ask(rig.actor, COMPACT);
  rig.refused(new Error('no model'));
  await t.rejects(failing, { message: 'no model' });
});

t.test('a stop does not end a compaction that a person has started', async (t) => {
  const rig = sent(rigOf(null), START);
  await until('it waits', () => rig.monitor() === 'running.idle');
  const compacted = ask(rig.actor, COMPACT);
  rig.settle();
  await ask(rig.actor, STOP);
  t.equal(stateOf(rig.actor.getSnapshot()), 'compacting');
  rig.done(memoryOf());
  await compacted;
});

t.test('when the server ends, the block waits for its work, and nothing starts any more', async (t) => {
  const rig = sent(rigOf(null), START);
  await until('it waits', () => rig.monitor() === 'running.idle');
  const order: string[] = [];
  const compacted = ask(rig.actor, COMPACT).catch(() => order.push('compacted'));
  const closed = Promise.all([ask(rig.actor, CLOSE), ask(rig.actor, CLOSE)]).then(() => order.push('closed'));
  await t.rejects(ask(rig.actor, START), { code: 'SHUTTING_DOWN', status: 503 }, 'while the monitor ends');
  rig.settle();
  await until('the monitor has ended', () => rig.monitor() === 'stopped');
  rig.refused(new Error('ended'));
  await Promise.all([compacted, closed]);
  t.strictSame(order, ['compacted', 'closed']);
  await t.rejects(ask(rig.actor, START), { code: 'SHUTTING_DOWN' });
  await t.rejects(ask(rig.actor, COMPACT), { code: 'SHUTTING_DOWN' });
  await ask(rig.actor, CLOSE);
});

t.test('callers of the same command share its answer', async (t) => {
  const rig = rigOf(null);
  const asked = [1, 2, 3].map(() => ask(rig.actor, ARCHIVE));
  rig.done(STORED);
  t.strictSame(await Promise.all(asked), [STORED, STORED, STORED]);
  t.equal(rig.works.length, 1);
});

t.test('every state can be written as JSON and read back', async (t) => {
  for (const [name, reach] of Object.entries(WAYS)) {
    const rig = await reach();
    const { context } = rig.actor.getSnapshot();
    t.strictSame(JSON.parse(JSON.stringify(context)), context, name);
    const copy = rigOf(null, JSON.parse(JSON.stringify(rig.actor.getPersistedSnapshot())));
    t.equal(copy.life(), name);
    t.strictSame(copy.actor.getSnapshot().context, context, name);
    rig.actor.stop();
    copy.actor.stop();
  }
});

t.test('a machine without its actors names the missing one', async (t) => {
  const create = (archiveName: string | null) =>
    createActor(
      createBlockMachine(() => 0),
      { input: { name: 'ada', archiveName } },
    ).start();
  await t.rejects(ask(create(null), ARCHIVE), { message: 'archive was not provided' });
  await t.rejects(ask(create(null), COMPACT), { message: 'compact was not provided' });
  await t.rejects(ask(create('ada_2025'), RESTORE), { message: 'restore was not provided' });
  await t.rejects(ask(create('ada_2025'), REMOVE), { message: 'remove was not provided' });
});
