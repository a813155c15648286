// The order of things in a running monitor. It says what comes after what; the actors, provided where the core is put together, do
// the work and resolve with an outcome. Context is JSON and nothing else. Pure: no I/O.
//
// N1 One message at a time, and after each the next is chosen anew: what a person did in the meantime counts. What happens while something
//    is being looked at leads to a second look; what happens while a reply is made counts as if it had happened after it.
// N2 Every way out leads through `stopping`, whose actor leaves nothing half done.
// N3 A message that fails is no fault of the monitor; an actor that throws is. Five such faults in ten minutes, and it waits for a person.
// N4 A message whose attempt is over is not taken again at once, whatever made it the next one: the two could follow each other for ever.
import { assign, fromPromise, setup } from 'xstate';
import type { BlockState, Reason, TransitionActor } from '../schemas/block.ts';
import { stalledReason } from './reasons.ts';

export interface MonitorInput {
  readonly name: string;
  /** Who started it, and why. */
  readonly cause: string;
  readonly actor: TransitionActor;
}

/** What `choose` found to do. */
export type Choice =
  | { readonly kind: 'reply'; readonly messageId: string }
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'pause'; readonly until: number | null; readonly reason: Reason; readonly actor: TransitionActor }
  | { readonly kind: 'fail'; readonly reason: Reason }
  | { readonly kind: 'nothing' };

/** How a reply ended. */
export type ReplyOutcome =
  /** `compact`: the window has passed its threshold. */
  | { readonly kind: 'answered'; readonly compact: boolean }
  /** The message has its outcome, and it is no answer; also when there was nothing to do any more. */
  | { readonly kind: 'over'; readonly failed: boolean }
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'pause'; readonly until: number | null; readonly reason: Reason; readonly actor: TransitionActor }
  | { readonly kind: 'fail'; readonly reason: Reason };

export type MonitorEvent =
  | { readonly type: 'start'; readonly actor: TransitionActor }
  | { readonly type: 'stop'; readonly cause: string; readonly actor: TransitionActor }
  /** There may be something to do. */
  | { readonly type: 'chat.changed' }
  /** What kept it from working may be gone: configuration, credentials, a damaged file. */
  | { readonly type: 'settings.changed'; readonly cause: string; readonly actor: TransitionActor }
  /** The kill switch was set or released, which cures nothing that has failed. */
  | { readonly type: 'halt.changed'; readonly cause: string; readonly actor: TransitionActor };

export interface MonitorContext {
  readonly name: string;
  readonly messageId: string | null;
  readonly reason: Reason | null;
  /** Epoch milliseconds; null for no time of its own. */
  readonly wakeUpAt: number | null;
  /** Of the last step. */
  readonly cause: string;
  readonly actor: TransitionActor;
  readonly isStopping: boolean;
  /** Something changed while the next step was being chosen, the files were read, or a reply was made. */
  readonly chooseAgain: boolean;
  /** What changed while a reply was made may cure what it failed of. */
  readonly beginAgain: boolean;
  /** The message whose attempt has just ended without an answer (N4). */
  readonly overId: string | null;
  /** The wait of the message is over, or somebody wants no more of it. */
  readonly isUrgent: boolean;
  /** Epoch milliseconds of the last faults of its actors. */
  readonly crashes: readonly number[];
  readonly restarts: number;
  readonly consecutiveFailures: number;
}

/** Faults of an actor within this time, and as many of them, end in `failed`. */
const CRASH_WINDOW_MS = 600_000;
export const MAX_CRASHES = 5;
const CRASH_BASE_MS = 1000;
/** Timers take no longer waits; the choice is made anew then. */
const LONGEST_WAIT_MS = 86_400_000;
/** How long a message that came to nothing is left alone (N4). */
const STALLED_WAIT_MS = 60_000;
/** How long a reply may go on after a stop, and an aborted one then take to be saved. */
export const GRACE_MS = 10_000;
export const SAVING_MS = 5000;

function placeholder<T, I>(name: string) {
  return fromPromise<T, I>(() => Promise.reject(new Error(`${name} was not provided`)));
}

/** `now` in epoch milliseconds. */
export function createMonitorMachine(now: () => number) {
  return setup({
    types: {
      context: {} as MonitorContext,
      events: {} as MonitorEvent,
      input: {} as MonitorInput,
    },
    actors: {
      /** Brings the chat in order after whatever ended the last run. */
      recover: placeholder<Choice, { readonly name: string }>('recover'),
      /** `isUrgent`: no message waits for its time any longer. */
      choose: placeholder<Choice, { readonly name: string; readonly isUrgent: boolean }>('choose'),
      /** Makes one attempt at one message. */
      reply: placeholder<ReplyOutcome, { readonly name: string; readonly messageId: string }>('reply'),
      compact: placeholder<void, { readonly name: string }>('compact'),
      /** N2. */
      settle: placeholder<void, { readonly name: string }>('settle'),
    },
    actions: {
      /** Ends the reply that is being made, so that its text so far is kept. */
      abortReply: () => undefined,
    },
    delays: {
      wait: ({ context }) => Math.min(Math.max((context.wakeUpAt ?? Number.POSITIVE_INFINITY) - now(), 0), LONGEST_WAIT_MS),
      grace: GRACE_MS,
      saving: SAVING_MS,
      crashDelay: ({ context }) => CRASH_BASE_MS * 2 ** Math.max(0, context.crashes.length - 1),
    },
  }).createMachine({
    id: 'monitor',
    context: ({ input }) => ({
      name: input.name,
      messageId: null,
      reason: null,
      wakeUpAt: null,
      cause: input.cause,
      actor: input.actor,
      isStopping: false,
      chooseAgain: false,
      beginAgain: false,
      overId: null,
      isUrgent: false,
      crashes: [],
      restarts: 0,
      consecutiveFailures: 0,
    }),
    initial: 'starting',
    on: {
      stop: { target: '.stopping', actions: assign({ isStopping: true, cause: ({ event }) => event.cause, actor: ({ event }) => event.actor }) },
    },
    states: {
      starting: {
        entry: assign({ reason: null, wakeUpAt: null, chooseAgain: false }),
        on: { 'settings.changed': { actions: assign({ chooseAgain: true }) } },
        invoke: {
          src: 'recover',
          input: ({ context }) => ({ name: context.name }),
          onDone: [
            { guard: ({ context, event }) => context.chooseAgain && event.output.kind !== 'nothing', target: 'starting', reenter: true }, // N1
            { guard: ({ event }) => event.output.kind === 'fail', target: 'failed', actions: assign(({ event }) => hold(event.output)) },
            { guard: ({ event }) => event.output.kind === 'wait', target: 'backoff', actions: assign(({ event }) => hold(event.output)) },
            { target: 'choosing', actions: assign({ cause: 'recovered', actor: 'monitor' }) },
          ],
          onError: { target: 'crashed', actions: assign(({ event }) => crash(event.error)) },
        },
      },
      choosing: {
        entry: assign({ chooseAgain: false, messageId: null }),
        exit: assign({ overId: null }),
        invoke: {
          src: 'choose',
          input: ({ context }) => ({ name: context.name, isUrgent: context.isUrgent }),
          onDone: [
            {
              guard: ({ context, event }) => event.output.kind === 'reply' && event.output.messageId === context.overId && !context.chooseAgain, // N4
              target: 'backoff',
              actions: assign(() => hold({ kind: 'wait', until: now() + STALLED_WAIT_MS, reason: stalledReason() })),
            },
            {
              guard: ({ event }) => event.output.kind === 'reply',
              target: 'working',
              actions: assign(({ event }) => ({
                messageId: event.output.kind === 'reply' ? event.output.messageId : null,
                reason: null,
                wakeUpAt: null,
                cause: 'message',
                actor: 'monitor' as const,
              })),
            },
            { guard: ({ context }) => context.chooseAgain, target: 'choosing', reenter: true }, // N1
            { guard: ({ event }) => event.output.kind === 'wait', target: 'backoff', actions: assign(({ event }) => hold(event.output)) },
            { guard: ({ event }) => event.output.kind === 'pause', target: 'paused', actions: assign(({ event }) => hold(event.output)) },
            { guard: ({ event }) => event.output.kind === 'fail', target: 'failed', actions: assign(({ event }) => hold(event.output)) },
            { target: 'idle', actions: assign({ reason: null, wakeUpAt: null, isUrgent: false }) },
          ],
          onError: { target: 'crashed', actions: assign(({ event }) => crash(event.error)) },
        },
        on: {
          'chat.changed': { actions: assign({ chooseAgain: true }) },
          'settings.changed': { actions: assign({ chooseAgain: true }) },
          'halt.changed': { actions: assign({ chooseAgain: true }) },
        },
      },
      idle: {
        on: {
          'chat.changed': 'choosing',
          'settings.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
          'halt.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
        },
      },
      working: {
        entry: assign({ isUrgent: false, chooseAgain: false, beginAgain: false }),
        initial: 'replying',
        invoke: {
          src: 'reply',
          input: ({ context }) => ({ name: context.name, messageId: context.messageId ?? '' }),
          onDone: [
            { guard: ({ context }) => context.isStopping, target: 'stopping' },
            {
              guard: ({ event }) => event.output.kind === 'answered' && event.output.compact,
              target: 'compacting',
              actions: assign({ consecutiveFailures: 0, cause: 'window is full', actor: 'monitor' }),
            },
            {
              guard: ({ event }) => event.output.kind === 'answered' || event.output.kind === 'over',
              target: 'choosing',
              actions: assign(({ context, event }) => ({
                consecutiveFailures: event.output.kind === 'over' && event.output.failed ? context.consecutiveFailures + 1 : 0,
                cause: event.output.kind === 'over' && event.output.failed ? 'message failed' : 'answered',
                actor: 'monitor' as const,
                overId: event.output.kind === 'over' ? context.messageId : null,
              })),
            },
            {
              guard: ({ event }) => event.output.kind === 'wait',
              target: 'backoff',
              actions: assign(({ context, event }) => ({ ...hold(event.output), consecutiveFailures: context.consecutiveFailures + 1 })),
            },
            { guard: ({ context, event }) => event.output.kind === 'pause' && context.chooseAgain, target: 'choosing' }, // N1
            { guard: ({ event }) => event.output.kind === 'pause', target: 'paused', actions: assign(({ event }) => hold(event.output)) },
            {
              guard: ({ context }) => context.beginAgain, // N1
              target: 'starting',
              actions: assign(({ context }) => ({ consecutiveFailures: context.consecutiveFailures + 1 })),
            },
            { target: 'failed', actions: assign(({ context, event }) => ({ ...hold(event.output), consecutiveFailures: context.consecutiveFailures + 1 })) },
          ],
          onError: [
            { guard: ({ context }) => context.isStopping, target: 'stopping' },
            { target: 'crashed', actions: assign(({ event }) => crash(event.error)) },
          ],
        },
        states: {
          replying: {
            on: {
              stop: { target: 'finishing', actions: assign({ isStopping: true, cause: ({ event }) => event.cause, actor: ({ event }) => event.actor }) },
              'settings.changed': { actions: assign(({ event }) => ({ chooseAgain: true, beginAgain: true, cause: event.cause, actor: event.actor })) },
              'halt.changed': { actions: assign(({ event }) => ({ chooseAgain: true, cause: event.cause, actor: event.actor })) },
            },
          },
          finishing: {
            on: { stop: 'aborting' },
            after: { grace: 'aborting' },
          },
          aborting: {
            entry: 'abortReply',
            on: { stop: {} },
            after: { saving: '#monitor.stopping' },
          },
        },
      },
      compacting: {
        invoke: {
          src: 'compact',
          input: ({ context }) => ({ name: context.name }),
          // Memory that could not be summarised is no reason not to answer: memory.json says what happened.
          onDone: { target: 'choosing', actions: assign({ cause: 'compacted', actor: 'monitor' }) },
          onError: { target: 'choosing', actions: assign({ cause: 'compaction failed', actor: 'monitor' }) },
        },
      },
      backoff: {
        entry: assign({ isUrgent: false }),
        // The timer has measured the wait: what the clock says by then, if somebody has set it, does not matter.
        after: { wait: { target: 'choosing', actions: assign({ cause: 'time is up', actor: 'monitor', isUrgent: true }) } },
        on: {
          start: { target: 'choosing', actions: assign(({ event }) => ({ cause: 'start', actor: event.actor, isUrgent: true })) },
          // The message that waits may have been cancelled.
          'chat.changed': 'choosing',
          'settings.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor, isUrgent: true })) },
          // The kill switch says nothing about what the message waits for.
          'halt.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
        },
      },
      paused: {
        after: { wait: { target: 'choosing', actions: assign({ cause: 'time is up', actor: 'monitor' }) } },
        on: {
          start: { target: 'choosing', actions: assign(({ event }) => ({ cause: 'start', actor: event.actor })) },
          'settings.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
          'halt.changed': { target: 'choosing', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
        },
      },
      crashed: {
        entry: assign(({ context }) => ({
          crashes: [...context.crashes.filter((at) => now() - at < CRASH_WINDOW_MS), now()],
          restarts: context.restarts + 1,
          wakeUpAt: null,
        })),
        always: [
          {
            guard: ({ context }) => context.crashes.length >= MAX_CRASHES,
            target: 'failed',
            actions: assign(({ context }) => ({ reason: crashLoop(context) })),
          },
          { target: 'restarting', actions: assign(({ context }) => ({ wakeUpAt: now() + CRASH_BASE_MS * 2 ** (context.crashes.length - 1) })) },
        ],
      },
      restarting: {
        after: { crashDelay: { target: 'starting', actions: assign({ cause: 'restart', actor: 'monitor' }) } },
        on: { start: { target: 'starting', actions: assign(({ event }) => ({ cause: 'start', actor: event.actor })) } },
      },
      failed: {
        on: {
          start: { target: 'starting', actions: assign(({ event }) => ({ cause: 'start', actor: event.actor, crashes: [], consecutiveFailures: 0 })) },
          'settings.changed': { target: 'starting', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor })) },
        },
      },
      stopping: {
        entry: assign({ isStopping: true, wakeUpAt: null }),
        on: { stop: {} },
        invoke: {
          src: 'settle',
          input: ({ context }) => ({ name: context.name }),
          onDone: 'stopped',
          // What it could not write is told on the bus; the next start recovers.
          onError: 'stopped',
        },
      },
      stopped: { type: 'final', entry: assign({ reason: null, wakeUpAt: null, messageId: null }) },
    },
  });
}

export type MonitorMachine = ReturnType<typeof createMonitorMachine>;

function hold(output: Choice | ReplyOutcome): Pick<MonitorContext, 'reason' | 'wakeUpAt' | 'cause' | 'actor'> {
  const reason = 'reason' in output ? output.reason : null;
  return {
    reason,
    wakeUpAt: 'until' in output ? output.until : null,
    cause: reason?.code ?? output.kind,
    actor: output.kind === 'pause' ? output.actor : 'monitor',
  };
}

/** N3. What it threw is in the log; its text may hold anything. */
function crash(error: unknown): Pick<MonitorContext, 'reason' | 'cause' | 'actor'> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const fault = typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown';
  return {
    reason: { code: 'CRASHED', message: `The monitor met an unexpected fault (${fault}) and starts again.`, fix: null },
    cause: 'fault',
    actor: 'monitor',
  };
}

function crashLoop(context: MonitorContext): Reason {
  return {
    code: 'CRASH_LOOP',
    message: `The monitor met ${context.crashes.length} unexpected faults within ten minutes; the last one: ${context.reason?.message ?? 'unknown'}`,
    fix: `blockhouse logs ${context.name}, then blockhouse start ${context.name}`,
  };
}

/** States of the machine as people know them; undefined for one that is over before anybody could look. */
const WORDS: Readonly<Record<string, BlockState | undefined>> = {
  starting: 'starting',
  idle: 'idle',
  compacting: 'compacting',
  backoff: 'backoff',
  restarting: 'backoff',
  paused: 'paused',
  failed: 'failed',
  stopping: 'stopping',
  stopped: 'stopped',
};

/** The precise word for a state value of the machine. */
export function stateWord(value: unknown): BlockState | undefined {
  if (typeof value === 'string') return WORDS[value];
  const inner = (value as { readonly working?: string }).working;
  return inner === 'replying' ? 'working' : 'stopping';
}
