// The machine of a block, the only source of its state. It has four regions, which get the same events: the block's life (active, archived,
// removed), its monitor, its memory, and the server. setup.ts defines guards, actions and delays by name. Actors do the work. Pure: no I/O.
//
// at-rest-first: a block moves to the archive only when no monitor runs and no compaction is under way.
// stays-on-failure: a move that fails leaves the block where it was, and the caller gets the cause.
// one-compaction: compactions are made one at a time, because two summaries of the same exchanges would both be paid for, and only one kept.
// nothing-starts-at-end: once the server ends, nothing starts any more.
import { not, type SnapshotFrom } from 'xstate';
import type { BlockState } from '../../schemas/block-pulse.ts';
import { monitorRegion } from './monitor-region.ts';
import { initialContext, setUpMachine, type System } from './setup.ts';

/** The machine without its work, which is provided in blocks.ts. `now` in epoch milliseconds, by the actor system of a block. */
export function createBlockMachine(now: (system: System) => number) {
  const machine = setUpMachine(now);

  const life = machine.createStateConfig({
    id: 'life',
    initial: 'opening',
    states: {
      opening: { always: [{ guard: 'isInArchive', target: 'archived' }, { target: 'active' }] },
      active: {
        on: {
          'block.archive': [
            { guard: 'isRunning', target: 'leaving', actions: 'noteRunning' },
            { target: 'leaving', actions: 'noteStopped' },
          ],
        },
      },
      leaving: { always: { guard: 'isAtRest', target: 'archiving' } }, // at-rest-first
      archiving: {
        invoke: {
          src: 'archive',
          input: ({ context: { wasRunning } }) => ({ wasRunning }),
          onDone: {
            target: 'archived',
            actions: [
              { type: 'placeInArchive', params: ({ event }) => event.output.archiveName },
              { type: 'answer', params: ({ event }) => ({ to: 'block.archive', value: event.output }) },
            ],
          },
          onError: { target: 'active', actions: { type: 'answer', params: ({ event }) => ({ to: 'block.archive', error: event.error }) } }, // stays-on-failure
        },
      },
      archived: {
        on: {
          'block.archive': { actions: 'refuseInArchive' },
          'block.restore': { target: 'restoring', actions: { type: 'rename', params: ({ event }) => event.name } },
          'block.remove': 'removing',
        },
      },
      restoring: {
        invoke: {
          src: 'restore',
          input: ({ context }) => ({ name: context.name, archiveName: context.archiveName ?? '' }),
          onDone: { target: 'active', actions: ['takeFromArchive', { type: 'answer', params: ({ event }) => ({ to: 'block.restore', value: event.output }) }] },
          onError: { target: 'archived', actions: { type: 'answer', params: ({ event }) => ({ to: 'block.restore', error: event.error }) } }, // stays-on-failure
        },
      },
      removing: {
        invoke: {
          src: 'remove',
          input: ({ context }) => ({ archiveName: context.archiveName ?? '' }),
          onDone: { target: 'removed', actions: { type: 'answer', params: ({ event }) => ({ to: 'block.remove', value: event.output }) } },
          onError: { target: 'archived', actions: { type: 'answer', params: ({ event }) => ({ to: 'block.remove', error: event.error }) } }, // stays-on-failure
        },
      },
      removed: { type: 'final' },
    },
  });

  const memory = machine.createStateConfig({
    initial: 'settled',
    states: {
      settled: {
        on: {
          'block.compact': [
            {
              guard: 'isWorking',
              actions: { type: 'refuse', params: { code: 'WRONG_STATE', message: 'The block is writing a reply; try again when it is done.' } },
            },
            { guard: not('isActive'), actions: 'refuseWhileMoving' },
            { guard: not('isOpen'), actions: 'refuseAtEnd' },
            { target: 'compacting', actions: 'compactByHand' },
          ],
          'window.full': { target: 'compacting', actions: 'compactByThreshold' },
        },
      },
      compacting: {
        initial: 'summarising',
        invoke: {
          id: 'compaction',
          src: 'compact',
          input: ({ context: { trigger } }) => ({ trigger }),
          onDone: {
            target: 'settled',
            actions: [
              { type: 'answer', params: ({ event }) => ({ to: 'block.compact', value: event.output }) },
              { type: 'tellSettled', params: 'compacted' },
            ],
          },
          // The block still answers when its memory could not be summarised; memory.json says what happened.
          onError: {
            target: 'settled',
            actions: [
              { type: 'answer', params: ({ event }) => ({ to: 'block.compact', error: event.error }) },
              { type: 'tellSettled', params: 'compaction failed' },
            ],
          },
        },
        on: {
          'block.compact': { actions: { type: 'refuse', params: { code: 'WRONG_STATE', message: 'The memory of the block is already being summarised.' } } },
        }, // one-compaction
        states: {
          summarising: {
            on: {
              'block.archive': 'ending',
              'block.close': 'ending',
              'block.stop': { guard: 'isThreshold', target: 'ending' },
              'halt.changed': { guard: 'isHalt', target: 'ending' },
            },
          },
          ending: { entry: 'abortCompaction' },
        },
      },
    },
  });

  /** nothing-starts-at-end. */
  const server = machine.createStateConfig({
    initial: 'open',
    states: {
      open: { on: { 'block.close': 'closing' } },
      closing: { always: { guard: 'isAtRest', target: 'closed' } },
      closed: {
        entry: { type: 'answer', params: { to: 'block.close' } },
        on: { 'block.close': { actions: { type: 'answerAtOnce', params: undefined } } },
      },
    },
  });

  return machine.createMachine({
    id: 'block',
    type: 'parallel',
    context: ({ input }) => initialContext(input),
    on: {
      'task.changed': { actions: { type: 'takeTask', params: ({ event }) => event.task } },
      'task.ended': { actions: { type: 'endTask', params: ({ event }) => event.messageId } },
    },
    states: { life, monitor: monitorRegion(machine), memory, server },
  });
}

/** The machine of any block. */
export type BlockMachine = ReturnType<typeof createBlockMachine>;
/** The state of a block at one moment. */
export type BlockSnapshot = SnapshotFrom<BlockMachine>;

/** True from the first step of a monitor to its last. */
export function isRunning(snapshot: BlockSnapshot): boolean {
  return snapshot.matches({ monitor: 'running' });
}

/** The state that people see. A compaction hides every other state, except that of a monitor that starts or stops. */
export function stateOf(snapshot: BlockSnapshot): BlockState {
  const { shown } = snapshot.context;
  const isSteady = shown !== 'starting' && shown !== 'stopping';
  return isSteady && snapshot.matches({ memory: 'compacting' }) ? 'compacting' : shown;
}
