// The machine of a block whose monitor was started, whose actors do what the test says, and whose time passes only when it says so.
import { type Actor, createActor, fromPromise, type NonReducibleUnknown, SimulatedClock, type Snapshot } from 'xstate';
import { type BlockMachine, createBlockMachine } from '../../core/block/actor/machine.ts';
import type { Answer, BlockEvent, Choice, ReplyOutcome } from '../../core/block/actor/types.ts';
import type { BlockMemory } from '../../core/schemas/block-memory.ts';
import { until } from './until.ts';

type Source = 'recover' | 'choose' | 'reply' | 'compact' | 'settle';
type Output = Choice | ReplyOutcome | undefined;

interface Task {
  readonly source: Source;
  readonly input: unknown;
  readonly signal: AbortSignal;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

export interface MonitorRig {
  readonly actor: Actor<BlockMachine>;
  /** What commands were answered. */
  readonly answers: readonly Answer[];
  /** Epoch milliseconds: what the machine takes for the present. */
  clock: { now: number };
  /** How often a reply was told to end. */
  readonly aborts: number;
  /** The state of the monitor as a path: `working.replying`. */
  state(): string;
  /** The work that is under way. */
  task(): Task;
  started(source: Source): number;
  send(event: BlockEvent): void;
  /** Ends the work under way and waits until the machine has heard of it. */
  done(output?: Output): Promise<void>;
  fault(error?: unknown): Promise<void>;
  /** Lets time pass for timers and for the present alike. */
  pass(ms: number): void;
  /** What `pass` does to timers only: somebody has set the clock back. */
  tick(ms: number): void;
}

export const EPOCH = 1_800_000_000_000;

export function monitorRig(snapshot?: Snapshot<unknown>): MonitorRig {
  const timers = new SimulatedClock();
  const clock = { now: EPOCH };
  const tasks: Task[] = [];
  const started: Source[] = [];
  let aborts = 0;
  const work = <O, I extends NonReducibleUnknown = void>(source: Source) =>
    fromPromise<O, I>(
      ({ input, signal }) =>
        new Promise<O>((resolve, reject) => {
          started.push(source);
          tasks.push({ source, input, signal, resolve: (output) => resolve(output as O), reject });
        }),
    );
  const machine = createBlockMachine(() => clock.now).provide({
    actors: {
      recover: work<Choice>('recover'),
      choose: work<Choice, { readonly isUrgent: boolean }>('choose'),
      reply: work<ReplyOutcome, { readonly messageId: string }>('reply'),
      compact: work<BlockMemory, { readonly trigger: 'threshold' | 'manual' }>('compact'),
      settle: work<void, { readonly isReplyLeft: boolean }>('settle'),
    },
    actions: {
      abortReply: () => {
        aborts += 1;
      },
      cancelReply: () => {
        aborts += 1;
      },
    },
  });
  const actor = createActor(machine, { input: { name: 'ada', archiveName: null }, clock: timers, ...(snapshot !== undefined && { snapshot }) });
  const answers: Answer[] = [];
  actor.on('answer', (answer) => void answers.push(answer));
  let steps = 0;
  actor.subscribe(() => {
    steps += 1;
  });
  actor.start();
  if (snapshot === undefined) actor.send(START);
  const end = async (settle: (task: Task) => void): Promise<void> => {
    const task = current();
    tasks.splice(tasks.indexOf(task), 1);
    const before = steps;
    settle(task);
    await until(`the machine has heard of ${task.source}`, () => steps > before);
  };
  const current = (): Task => {
    const task = tasks.findLast(({ signal }) => !signal.aborted);
    if (task === undefined) throw new Error(`nothing is under way in ${state()}`);
    return task;
  };
  const state = (): string => pathOf(actor.getSnapshot().value.monitor).replace(/^running\./, '');
  return {
    actor,
    answers,
    clock,
    get aborts() {
      return aborts;
    },
    state,
    task: current,
    started: (source) => started.filter((one) => one === source).length,
    send: (event) => actor.send(event),
    done: (output) => end(({ resolve }) => resolve(output)),
    fault: (error = new TypeError('x is not a function')) => end(({ reject }) => reject(error)),
    pass(ms) {
      clock.now += ms;
      timers.increment(ms);
    },
    tick: (ms) => timers.increment(ms),
  };
}

/** A state value as a path: `running.working.replying`. */
export function pathOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : Object.entries(value as object)
        .flatMap(([name, inner]) => [name, pathOf(inner)])
        .join('.');
}

export const STOP = { type: 'block.stop', cause: 'stop', actor: 'user' } as const;
export const START = { type: 'block.start', cause: 'start', actor: 'user' } as const;
export const SETTINGS = { type: 'settings.changed', cause: 'config changed', actor: 'user' } as const;
export const REPAIR = { type: 'file.repaired', cause: 'chat changed', actor: 'user' } as const;
export const DAMAGE = { type: 'file.damaged', cause: 'chat damaged', actor: 'server' } as const;
export const HALT = { type: 'halt.changed', cause: 'unhalt', actor: 'user' } as const;
export const CHAT = { type: 'chat.changed' } as const;
export const REASON = { code: 'X', message: 'Why.', fix: 'Do this.' } as const;

/** The ways into each state of the machine. */
const WAYS: Readonly<Record<string, (rig: MonitorRig) => Promise<void>>> = {
  starting: async () => undefined,
  choosing: (rig) => rig.done({ kind: 'nothing' }),
  idle: async (rig) => {
    await WAYS['choosing']?.(rig);
    await rig.done({ kind: 'nothing' });
  },
  'working.replying': async (rig) => {
    await WAYS['choosing']?.(rig);
    await rig.done({ kind: 'reply', messageId: 'm1' });
  },
  'working.finishing': async (rig) => {
    await WAYS['working.replying']?.(rig);
    rig.send(STOP);
  },
  'working.aborting': async (rig) => {
    await WAYS['working.finishing']?.(rig);
    rig.send(STOP);
  },
  compacting: async (rig) => {
    await WAYS['working.replying']?.(rig);
    await rig.done({ kind: 'answered', compact: true });
  },
  backoff: async (rig) => {
    await WAYS['working.replying']?.(rig);
    await rig.done({ kind: 'wait', until: EPOCH + 5000, reason: REASON });
  },
  paused: async (rig) => {
    await WAYS['working.replying']?.(rig);
    await rig.done({ kind: 'pause', until: EPOCH + 5000, reason: REASON, actor: 'budget' });
  },
  failed: async (rig) => {
    await WAYS['working.replying']?.(rig);
    await rig.done({ kind: 'fail', reason: REASON });
  },
  restarting: (rig) => rig.fault(),
  stopping: async (rig) => {
    await WAYS['idle']?.(rig);
    rig.send(STOP);
  },
  stopped: async (rig) => {
    await WAYS['stopping']?.(rig);
    await rig.done();
  },
};

export const MACHINE_STATES = Object.keys(WAYS);

export async function rigIn(state: string): Promise<MonitorRig> {
  const rig = monitorRig();
  await WAYS[state]?.(rig);
  if (rig.state() !== state) throw new Error(`meant to reach ${state}, came to ${rig.state()}`);
  return rig;
}
