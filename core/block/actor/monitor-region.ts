// The monitor region of a block's machine. It defines the order of steps; actors, which blocks.ts provides, do the work and resolve with an
// outcome. Pure: no I/O.
//
// one-message: one message is answered at a time, and the next is chosen only after it, so that changes by people in the meantime count.
// look-again: if something changes while files are read, they are read again. A change while a reply is made counts as if it came after the reply.
// settle-last: every run ends through `stopping`, whose actor finishes what a reply left behind.
// crash-loop: an actor that throws is a fault of the monitor; a message that fails is not. After five faults in ten minutes the monitor waits for a
//   person.
// not-at-once: a message whose attempt has just ended is not taken again at once, because that could repeat for ever.
// no-reply-while-compacting: no reply begins while the memory is being compacted.
import type { BlockState } from '../../schemas/block-pulse.ts';
import type { MachineSetup } from './setup.ts';
import type { Cause } from './types.ts';

const output = <O>({ event }: { readonly event: { readonly output: O } }): O => event.output;
const error = ({ event }: { readonly event: { readonly error: unknown } }): unknown => event.error;
const causeOf = ({ event }: { readonly event: Cause }): Cause => ({ cause: event.cause, actor: event.actor });
const starter = ({ event }: { readonly event: Cause }): Cause => ({ cause: 'start', actor: event.actor });
const byMonitor = (cause: string) => ({ type: 'note', params: { cause, actor: 'monitor' } }) as const;

const noteCause = { type: 'note', params: causeOf } as const;
const noteStarter = { type: 'note', params: starter } as const;
const holdOutput = { type: 'hold', params: output } as const;
const toCrashed = { target: 'crashed', actions: { type: 'crash', params: error } } as const;
const answerAtOnce = { type: 'answerAtOnce', params: undefined } as const;
const answerStart = { type: 'answer', params: { to: 'block.start' } } as const;
const answerStop = { type: 'answer', params: { to: 'block.stop' } } as const;
const refuseStart = [{ guard: 'isOpen', actions: 'refuseWhileMoving' }, { actions: 'refuseAtEnd' }] as const;
/** A start that comes while a run ends begins another run after it. */
const startAfterwards = [{ guard: 'mayStart', actions: { type: 'startAgain', params: causeOf } }, ...refuseStart] as const;
const toStoppedOrNextRun = [
  { guard: 'startsAgain', target: '#monitor.between', actions: 'noteEnd' },
  { target: '#monitor.stopped', actions: 'noteEnd' },
] as const;
/** Shows a state and answers the callers of a start, which wait for the first state after `starting`. */
const shows = (state: BlockState) => [{ type: 'show', params: state }, answerStart] as const;

/** The monitor region, built from the machine's setup. */
export function monitorRegion(machine: MachineSetup) {
  return machine.createStateConfig({
    id: 'monitor',
    initial: 'stopped',
    on: { 'message.cancel': { actions: { type: 'answerAtOnce', params: false } } },
    states: {
      stopped: {
        entry: [{ type: 'show', params: 'stopped' }, 'clearReason', 'letGo', answerStop, 'refuseStarts'],
        on: {
          'block.start': [{ guard: 'mayStart', target: 'running', actions: { type: 'beginRun', params: causeOf } }, ...refuseStart],
          'block.stop': { actions: answerAtOnce },
        },
      },
      /** Between two runs, so that the end of the first is visible. */
      between: {
        entry: [{ type: 'show', params: 'stopped' }, 'clearReason', 'letGo', answerStop],
        after: {
          nextTurn: [
            { guard: 'mayStart', target: 'running', actions: { type: 'beginRun', params: ({ context: { next } }) => next ?? FIRST_CAUSE } },
            { target: 'stopped' },
          ],
        },
        on: { 'block.start': {}, 'block.stop': 'stopped' },
      },
      running: {
        entry: 'openRun',
        exit: 'closeRun',
        initial: 'starting',
        on: {
          'block.start': { actions: answerAtOnce },
          'block.stop': { target: '.stopping', actions: [{ type: 'leave', params: causeOf }, answerStart] },
          'block.archive': { target: '.stopping', actions: [{ type: 'leave', params: FOR_ARCHIVE }, answerStart] },
          'block.close': { target: '.stopping', actions: [{ type: 'leave', params: AT_END }, answerStart] },
        },
        states: {
          starting: {
            entry: [{ type: 'show', params: 'starting' }, 'clearReason', 'forgetChanges'],
            on: {
              'block.start': {},
              'settings.changed': { actions: 'chooseAnew' },
              'file.repaired': { actions: 'chooseAnew' },
              'file.damaged': { actions: 'chooseAnew' },
            },
            invoke: {
              src: 'recover',
              onDone: [
                { guard: { type: 'isToReadAgain', params: output }, target: 'starting', reenter: true }, // look-again
                { guard: { type: 'isFailure', params: output }, target: 'failed', actions: holdOutput },
                { guard: { type: 'isWait', params: output }, target: 'backoff', actions: holdOutput },
                { target: 'choosing', actions: byMonitor('recovered') },
              ],
              onError: toCrashed,
            },
          },
          /** one-message. */
          choosing: {
            entry: ['forgetChanges', 'letGo'],
            exit: 'forgetOver',
            invoke: {
              src: 'choose',
              input: ({ context: { isUrgent } }) => ({ isUrgent }),
              onDone: [
                { guard: { type: 'isStalled', params: output }, target: 'backoff', actions: 'holdStalled' }, // not-at-once
                { guard: { type: 'isReply', params: output }, target: 'chosen', actions: { type: 'take', params: output } },
                { guard: 'chooseAgain', target: 'choosing', reenter: true }, // look-again
                { guard: { type: 'isWait', params: output }, target: 'backoff', actions: holdOutput },
                { guard: { type: 'isPause', params: output }, target: 'paused', actions: holdOutput },
                { guard: { type: 'isApproval', params: output }, target: 'waitingApproval', actions: holdOutput },
                { guard: { type: 'isFailure', params: output }, target: 'failed', actions: holdOutput },
                { target: 'idle', actions: ['clearReason', 'takeTime'] },
              ],
              onError: toCrashed,
            },
            on: {
              'block.start': [{ guard: 'isStartingShown' }, { actions: answerAtOnce }],
              'chat.changed': { actions: 'chooseAnew' },
              'approval.decided': { actions: 'chooseAnew' },
              'settings.changed': { actions: 'chooseAnew' },
              'file.repaired': { actions: 'chooseAnew' },
              'file.damaged': { actions: 'chooseAnew' },
              'halt.changed': { actions: 'chooseAnew' },
            },
          },
          /** no-reply-while-compacting. */
          chosen: {
            always: [
              { guard: 'isCompacting', target: 'compacting' },
              { target: 'working', actions: byMonitor('message') },
            ],
          },
          idle: {
            entry: shows('idle'),
            on: {
              'chat.changed': 'choosing',
              'settings.changed': { target: 'choosing', actions: noteCause },
              'file.damaged': { target: 'choosing', actions: noteCause },
              'halt.changed': { target: 'choosing', actions: noteCause },
            },
          },
          working: {
            entry: ['takeTime', 'forgetChanges'],
            exit: 'tellCancelled',
            initial: 'replying',
            invoke: {
              id: 'reply',
              src: 'reply',
              input: ({ context }) => ({ messageId: context.messageId ?? '' }),
              onDone: [
                { guard: 'isStopping', target: 'stopping' },
                { guard: { type: 'isFullAfter', params: output }, target: 'compacting', actions: ['clearFailures', byMonitor('window is full'), 'tellFull'] },
                { guard: { type: 'isAnswered', params: output }, target: 'choosing', actions: ['clearFailures', byMonitor('answered')] },
                { guard: { type: 'isCutOff', params: output }, target: 'choosing' }, // by the kill switch, which may be released by now
                { guard: { type: 'isMessageFailed', params: output }, target: 'choosing', actions: ['countFailure', byMonitor('message failed'), 'noteOver'] },
                { guard: { type: 'isOver', params: output }, target: 'choosing', actions: ['clearFailures', byMonitor('answered'), 'noteOver'] },
                { guard: { type: 'isRetryInDoubt', params: output }, target: 'choosing', actions: ['countFailure', 'hurry'] }, // look-again
                { guard: { type: 'isWait', params: output }, target: 'backoff', actions: [holdOutput, 'countFailure'] },
                { guard: { type: 'isWaitInDoubt', params: output }, target: 'choosing' }, // look-again
                { guard: { type: 'isPause', params: output }, target: 'paused', actions: holdOutput },
                { guard: { type: 'isApproval', params: output }, target: 'waitingApproval', actions: holdOutput },
                { guard: 'beginAgain', target: 'starting', actions: 'countFailure' }, // look-again
                { target: 'failed', actions: [holdOutput, 'countFailure'] },
              ],
              onError: [{ guard: 'isStopping', target: 'stopping' }, toCrashed],
            },
            on: {
              'approval.decided': { actions: 'chooseAnew' }, // before the message is left waiting
              'message.cancel': { guard: 'isReplyTo', actions: 'cancelReply' },
              'message.gone': { guard: 'isReplyTo', actions: 'cancelReply' },
            },
            states: {
              replying: {
                entry: shows('working'),
                on: {
                  'block.stop': { target: 'finishing', actions: { type: 'leave', params: causeOf } },
                  'block.archive': { target: 'finishing', actions: { type: 'leave', params: FOR_ARCHIVE } },
                  'block.close': { target: 'finishing', actions: { type: 'leave', params: AT_END } },
                  'settings.changed': { actions: ['beginAnew', noteCause] },
                  'file.repaired': { actions: ['beginAnew', noteCause] },
                  'file.damaged': { actions: ['beginAnew', noteCause] },
                  // The text so far is kept; without any, the message waits for the release.
                  'halt.changed': [{ guard: 'isHalt', actions: ['abortReply', 'chooseAnew', noteCause] }, { actions: ['chooseAnew', noteCause] }],
                },
              },
              finishing: {
                entry: { type: 'show', params: 'stopping' },
                on: { 'block.stop': 'aborting', 'block.close': 'aborting', 'block.start': startAfterwards, 'block.archive': {} },
                after: { grace: 'aborting' },
              },
              aborting: {
                entry: 'abortReply',
                on: {
                  'block.stop': { actions: 'startNoMore' },
                  'block.close': { actions: 'startNoMore' },
                  'block.start': startAfterwards,
                  'block.archive': {},
                },
                after: { saving: { target: '#monitor.running.stopping', actions: 'noteReplyLeft' } },
              },
            },
          },
          /** Waits for the end of the compaction. */
          compacting: {
            entry: shows('compacting'),
            on: { 'memory.settled': { target: 'choosing', actions: { type: 'note', params: ({ event }) => ({ cause: event.cause, actor: 'monitor' }) } } },
          },
          backoff: {
            entry: [...shows('backoff'), 'takeTime'],
            // The timer has measured the wait, so a changed clock doesn't matter.
            after: { wait: { target: 'choosing', actions: [byMonitor('time is up'), 'hurry'] } },
            on: {
              'block.start': { target: 'choosing', actions: [noteStarter, 'hurry', answerAtOnce] },
              // The message that waits may have been cancelled.
              'chat.changed': 'choosing',
              'settings.changed': { target: 'choosing', actions: [noteCause, 'hurry'] },
              'file.damaged': { target: 'choosing', actions: [noteCause, 'hurry'] },
              // The kill switch doesn't end the wait of the message.
              'halt.changed': { target: 'choosing', actions: noteCause },
            },
          },
          paused: {
            entry: shows('paused'),
            after: { wait: { target: 'choosing', actions: byMonitor('time is up') } },
            on: {
              'block.start': {
                target: 'choosing',
                actions: [noteStarter, answerAtOnce],
              },
              'settings.changed': { target: 'choosing', actions: noteCause },
              'file.damaged': { target: 'choosing', actions: noteCause },
              'halt.changed': { target: 'choosing', actions: noteCause },
            },
          },
          /** The next message waits for people. Nothing may overtake a plan that is half done. */
          waitingApproval: {
            entry: shows('waiting-approval'),
            after: { wait: { target: 'choosing', actions: byMonitor('time is up') } },
            on: {
              'block.start': { target: 'choosing', actions: [noteStarter, answerAtOnce] },
              'approval.decided': { target: 'choosing', actions: byMonitor('decided') },
              'chat.changed': 'choosing',
              'settings.changed': { target: 'choosing', actions: noteCause },
              'file.damaged': { target: 'choosing', actions: noteCause },
              'halt.changed': { target: 'choosing', actions: noteCause },
            },
          },
          /** crash-loop. */
          crashed: {
            entry: 'countCrash',
            always: [
              { guard: 'hasCrashedTooOften', target: 'failed', actions: 'giveUp' },
              { target: 'restarting', actions: 'holdCrash' },
            ],
          },
          restarting: {
            entry: shows('backoff'),
            after: { crashDelay: { target: 'starting', actions: byMonitor('restart') } },
            on: { 'block.start': { target: 'starting', actions: noteStarter } },
          },
          failed: {
            entry: shows('failed'),
            on: {
              'block.start': { target: 'starting', actions: [noteStarter, 'clearCrashes'] },
              'settings.changed': { target: 'starting', actions: noteCause },
              'file.repaired': { target: 'starting', actions: noteCause },
            },
          },
          /** settle-last. */
          stopping: {
            entry: [{ type: 'show', params: 'stopping' }, 'clearWait'],
            on: { 'block.start': startAfterwards, 'block.stop': { actions: 'startNoMore' }, 'block.close': { actions: 'startNoMore' }, 'block.archive': {} },
            invoke: {
              src: 'settle',
              input: ({ context: { isReplyLeft } }) => ({ isReplyLeft }),
              onDone: toStoppedOrNextRun,
              // The bus reports what could not be written; the next start recovers it.
              onError: toStoppedOrNextRun,
            },
          },
        },
      },
    },
  });
}

const FIRST_CAUSE: Cause = { cause: 'start', actor: 'user' };
const FOR_ARCHIVE: Cause = { cause: 'archive', actor: 'user' };
const AT_END: Cause = { cause: 'server stops', actor: 'server' };
