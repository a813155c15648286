import t from 'tap';
import { type Actor, createActor, fromPromise, initialTransition, type Snapshot, transition } from 'xstate';
import { type BlockContext, type BlockEvent, createBlockMachine } from '../../../core/block/machine.ts';
import { type Choice, createMonitorMachine } from '../../../core/monitor/machine.ts';
import { gate } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

type Move = 'archive' | 'restore' | 'remove';

interface Rig {
  readonly actor: Actor<ReturnType<typeof createBlockMachine>>;
  readonly moves: Move[];
  readonly heard: string[];
  settle(): void;
  /** Ends the move that is under way. */
  moved(): void;
  refused(error: unknown): void;
  send(event: BlockEvent): void;
  value(): string;
  reaches(value: string): Promise<void>;
}

const START = { type: 'block.start', cause: 'start', actor: 'user' } as const;
const STOP = { type: 'stop', cause: 'stop', actor: 'user' } as const;
const ARCHIVE = { type: 'block.archive' } as const;
const RESTORE = { type: 'block.restore', name: 'bob' } as const;
const REMOVE = { type: 'block.remove' } as const;

function rigOf(archiveName: string | null, snapshot?: Snapshot<unknown>): Rig {
  const moves: Move[] = [];
  const heard: string[] = [];
  let moved = (_name: string): void => undefined;
  let refused = (_error: unknown): void => undefined;
  const settled = gate();
  const nothing = (): Promise<Choice> => Promise.resolve({ kind: 'nothing' });
  const monitor = createMonitorMachine(() => 0).provide({
    actors: { recover: fromPromise(nothing), choose: fromPromise(nothing), settle: fromPromise(() => settled.opened) },
  });
  const move = <O>(name: Move) =>
    fromPromise<O, BlockContext>(
      () =>
        new Promise((resolve, reject) => {
          moves.push(name);
          moved = (archive) => resolve(archive as O);
          refused = reject;
        }),
    );
  const machine = createBlockMachine(monitor).provide({ actors: { archive: move('archive'), restore: move('restore'), remove: move('remove') } });
  const actor = createActor(machine, { input: { name: 'ada', archiveName }, ...(snapshot !== undefined && { snapshot }) });
  actor.subscribe((next) => void heard.push(JSON.stringify(next.value)));
  actor.start();
  const value = (): string => {
    const found = actor.getSnapshot().value;
    return typeof found === 'string' ? found : Object.entries(found).flat().join('.');
  };
  return {
    actor,
    moves,
    heard,
    settle: settled.open,
    moved: () => moved('ada_2026'),
    refused: (error) => refused(error),
    send: (event) => actor.send(event),
    value,
    reaches: (wanted) => until(`the block is ${wanted}, not ${value()}`, () => value() === wanted),
  };
}

/** The ways into each state. */
const WAYS: Readonly<Record<string, () => Promise<Rig>>> = {
  'active.stopped': async () => rigOf(null),
  'active.running': async () => {
    const rig = rigOf(null);
    rig.send(START);
    return rig;
  },
  archiving: async () => {
    const rig = rigOf(null);
    rig.send(ARCHIVE);
    return rig;
  },
  archived: async () => rigOf('ada_2025'),
  restoring: async () => {
    const rig = rigOf('ada_2025');
    rig.send(RESTORE);
    return rig;
  },
  removing: async () => {
    const rig = rigOf('ada_2025');
    rig.send(REMOVE);
    return rig;
  },
  removed: async () => {
    const rig = rigOf('ada_2025');
    rig.send(REMOVE);
    rig.moved();
    await rig.reaches('removed');
    return rig;
  },
};

type Row = readonly [from: string, what: string, step: (rig: Rig) => void, to: string, context?: Partial<BlockContext>];

const ROWS: readonly Row[] = [
  ['active.stopped', 'start', (rig) => rig.send({ ...START, cause: 'server start', actor: 'server' }), 'active.running', { cause: 'server start' }],
  ['active.stopped', 'archive', (rig) => rig.send(ARCHIVE), 'archiving'],
  ['active.stopped', 'stop', (rig) => rig.send(STOP), 'active.stopped'],
  ['active.stopped', 'a message', (rig) => rig.send({ type: 'chat.changed' }), 'active.stopped'],
  ['active.stopped', 'restore', (rig) => rig.send(RESTORE), 'active.stopped', { name: 'ada' }],
  ['active.running', 'start', (rig) => rig.send(START), 'active.running'],
  ['active.running', 'remove', (rig) => rig.send(REMOVE), 'active.running'],
  ['archiving', 'moved', (rig) => rig.moved(), 'archived', { archiveName: 'ada_2026', fault: null }],
  ['archiving', 'refused', (rig) => rig.refused(new Error('EXDEV')), 'active.stopped', { archiveName: null, fault: 'EXDEV' }],
  ['archiving', 'start', (rig) => rig.send(START), 'archiving'],
  ['archived', 'restore', (rig) => rig.send(RESTORE), 'restoring', { name: 'bob' }],
  ['archived', 'remove', (rig) => rig.send(REMOVE), 'removing'],
  ['archived', 'start', (rig) => rig.send(START), 'archived'],
  ['restoring', 'moved', (rig) => rig.moved(), 'active.stopped', { archiveName: null, fault: null, name: 'bob' }],
  ['restoring', 'refused', (rig) => rig.refused('taken'), 'archived', { archiveName: 'ada_2025', fault: 'taken' }],
  ['restoring', 'remove', (rig) => rig.send(REMOVE), 'restoring'],
  ['removing', 'removed', (rig) => rig.moved(), 'removed'],
  ['removing', 'refused', (rig) => rig.refused(new Error('EACCES')), 'archived', { fault: 'EACCES' }],
];

t.test('each state and what happens in it lead to the next state', async (t) => {
  for (const [from, what, step, to, context = {}] of ROWS) {
    const rig = await (WAYS[from] as () => Promise<Rig>)();
    t.equal(rig.value(), from);
    step(rig);
    await rig.reaches(to);
    t.match(rig.actor.getSnapshot().context, context, `${from}: ${what}`);
    rig.actor.stop();
  }
});

t.test('a block is where its input says, by a pure function', async (t) => {
  const machine = createBlockMachine(createMonitorMachine(() => 0));
  const [active] = initialTransition(machine, { name: 'ada', archiveName: null });
  t.strictSame(active.value, { active: 'stopped' });
  const [archived] = initialTransition(machine, { name: 'ada', archiveName: 'ada_2025' });
  t.equal(archived.value, 'archived');
  const [running] = transition(machine, active, START);
  t.strictSame(running.value, { active: 'running' });
});

t.test('a block moves only after its monitor has ended', async (t) => {
  const rig = await (WAYS['active.running'] as () => Promise<Rig>)();
  rig.send(ARCHIVE);
  const monitor = rig.actor.getSnapshot().children['monitor'];
  await until('the monitor is settling', () => (monitor?.getSnapshot() as { value?: unknown } | undefined)?.value === 'stopping');
  t.strictSame(rig.moves, []);
  rig.settle();
  await rig.reaches('archiving');
  t.strictSame(rig.moves, ['archive']);
  t.notOk(rig.actor.getSnapshot().context.isLeaving);
  rig.refused(new Error('EXDEV'));
  await rig.reaches('active.stopped');
  rig.send(START);
  t.equal(rig.value(), 'active.running', 'and runs again where it stayed');
  t.equal(rig.actor.getSnapshot().context.fault, null);
});

t.test('what is meant for the monitor reaches it', async (t) => {
  const rig = await (WAYS['active.running'] as () => Promise<Rig>)();
  const monitor = (): { value: unknown; context: Record<string, unknown> } =>
    rig.actor.getSnapshot().children['monitor']?.getSnapshot() as unknown as { value: unknown; context: Record<string, unknown> };
  await until('it is idle', () => monitor().value === 'idle');
  t.match(monitor().context, { name: 'ada', cause: 'recovered' });
  rig.send({ type: 'chat.changed' });
  t.equal(monitor().value, 'choosing');
  await until('it is idle', () => monitor().value === 'idle');
  rig.send({ type: 'settings.changed', cause: 'config changed', actor: 'user' });
  t.match(monitor(), { value: 'choosing', context: { cause: 'config changed' } });
  rig.send(STOP);
  t.equal(monitor().value, 'stopping');
  rig.settle();
  await rig.reaches('active.stopped');
  t.equal(rig.actor.getSnapshot().children['monitor'], undefined);
});

t.test('every state survives JSON, and its context is nothing but JSON', async (t) => {
  for (const [name, reach] of Object.entries(WAYS)) {
    const rig = await reach();
    const { context } = rig.actor.getSnapshot();
    t.strictSame(JSON.parse(JSON.stringify(context)), context, name);
    const copy = rigOf(null, JSON.parse(JSON.stringify(rig.actor.getPersistedSnapshot())));
    t.equal(copy.value(), name);
    t.strictSame(copy.actor.getSnapshot().context, context, name);
    rig.actor.stop();
    copy.actor.stop();
  }
});

t.test('a machine without its moves says which one is missing', async (t) => {
  const actor = createActor(createBlockMachine(createMonitorMachine(() => 0)), { input: { name: 'ada', archiveName: null } }).start();
  actor.send(ARCHIVE);
  await until('it has failed', () => actor.getSnapshot().context.fault !== null);
  t.equal(actor.getSnapshot().context.fault, 'archive was not provided');
});
