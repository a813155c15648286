// The life of a block: active, archived, removed; while it is active, its monitor is stopped or running. Actors do the
// work. Context is JSON and nothing else. Pure: no I/O.
//
// L1 A block moves to the archive only when its monitor has ended.
// L2 A move that fails leaves the block where it was, and says why.
import { assign, forwardTo, fromPromise, sendTo, setup } from 'xstate';
import type { MonitorEvent, MonitorInput, MonitorMachine } from '../monitor/machine.ts';
import type { TransitionActor } from '../schemas/block.ts';

export interface BlockInput {
  readonly name: string;
  /** The name in the archive, when that is where the block is. */
  readonly archiveName: string | null;
}

export interface BlockContext extends BlockInput {
  readonly isLeaving: boolean;
  /** Who started the monitor last, and why. */
  readonly cause: string;
  readonly actor: TransitionActor;
  /** Text of the last move that failed. */
  readonly fault: string | null;
}

export type BlockEvent =
  | { readonly type: 'block.start'; readonly cause: string; readonly actor: TransitionActor }
  | { readonly type: 'block.archive' }
  | { readonly type: 'block.restore'; readonly name: string }
  | { readonly type: 'block.remove' }
  | MonitorEvent;

/** The monitor is handed in with its actors. */
export function createBlockMachine(monitor: MonitorMachine) {
  const move = <O>(name: string) => fromPromise<O, BlockContext>(() => Promise.reject(new Error(`${name} was not provided`)));
  return setup({
    types: { context: {} as BlockContext, events: {} as BlockEvent, input: {} as BlockInput },
    actors: {
      monitor,
      /** Moves the folder; resolves with the archive name. */
      archive: move<string>('archive'),
      restore: move<void>('restore'),
      remove: move<void>('remove'),
    },
    actions: { forget: assign({ isLeaving: false }) },
  }).createMachine({
    id: 'block',
    context: ({ input }) => ({ ...input, isLeaving: false, cause: 'start', actor: 'user', fault: null }),
    initial: 'opening',
    states: {
      opening: { always: [{ guard: ({ context }) => context.archiveName === null, target: 'active' }, { target: 'archived' }] },
      active: {
        initial: 'stopped',
        states: {
          stopped: {
            on: {
              'block.start': { target: 'running', actions: assign(({ event }) => ({ cause: event.cause, actor: event.actor, fault: null })) },
              'block.archive': '#block.archiving',
            },
          },
          running: {
            invoke: {
              id: 'monitor',
              src: 'monitor',
              input: ({ context }): MonitorInput => ({ name: context.name, cause: context.cause, actor: context.actor }),
              onDone: [{ guard: ({ context }) => context.isLeaving, target: '#block.archiving' }, { target: 'stopped' }], // L1
            },
            on: {
              'block.start': { actions: sendTo('monitor', ({ event }) => ({ type: 'start' as const, actor: event.actor })) },
              'block.archive': {
                actions: [assign({ isLeaving: true }), sendTo('monitor', { type: 'stop', cause: 'archive', actor: 'user' } as const)],
              },
              stop: { actions: forwardTo('monitor') },
              'chat.changed': { actions: forwardTo('monitor') },
              'settings.changed': { actions: forwardTo('monitor') },
              'halt.changed': { actions: forwardTo('monitor') },
            },
          },
        },
      },
      archiving: {
        entry: 'forget',
        invoke: {
          src: 'archive',
          input: ({ context }) => context,
          onDone: { target: 'archived', actions: assign(({ event }) => ({ archiveName: event.output, fault: null })) },
          onError: { target: 'active', actions: assign(({ event }) => ({ fault: textOf(event.error) })) }, // L2
        },
      },
      archived: {
        on: {
          'block.restore': { target: 'restoring', actions: assign(({ event }) => ({ name: event.name })) },
          'block.remove': 'removing',
        },
      },
      restoring: {
        invoke: {
          src: 'restore',
          input: ({ context }) => context,
          onDone: { target: 'active', actions: assign({ archiveName: null, fault: null }) },
          onError: { target: 'archived', actions: assign(({ event }) => ({ fault: textOf(event.error) })) }, // L2
        },
      },
      removing: {
        invoke: {
          src: 'remove',
          input: ({ context }) => context,
          onDone: 'removed',
          onError: { target: 'archived', actions: assign(({ event }) => ({ fault: textOf(event.error) })) }, // L2
        },
      },
      removed: { type: 'final' },
    },
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
