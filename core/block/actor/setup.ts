// The named guards, actions, delays and actors of a block's machine. The states are in machine.ts (life, memory, server) and in
// monitor-region.ts; the events and the context are in types.ts. Pure: no I/O.

import { type AnyActorRef, and, assign, emit, fromPromise, raise, sendTo, setup, stateIn } from 'xstate';
import { BlockhouseError, type ErrorCode } from '../../errors.ts';
import type { BlockMemory } from '../../schemas/block-memory.ts';
import type { BlockState, CurrentTask } from '../../schemas/block-pulse.ts';
import type { Stored, Unconfirmed } from '../../store/port.ts';
import { crashLoopReason, crashReason, stalledReason } from '../status/reasons.ts';
import type { Answer, BlockEvent, BlockInput, Cause, Choice, Command, MachineContext, ReplyOutcome, Ticketed } from './types.ts';

const FRESH_RUN = {
  messageId: null,
  task: null,
  reason: null,
  wakeUpAt: null,
  isStopping: false,
  next: null,
  chooseAgain: false,
  beginAgain: false,
  overId: null,
  isUrgent: false,
  isReplyLeft: false,
  crashes: [],
  restarts: 0,
  consecutiveFailures: 0,
} as const satisfies Partial<MachineContext>;

/** The context of a block whose monitor has not run yet. */
export function initialContext({ name, archiveName }: BlockInput): MachineContext {
  const times = { startedAt: null, stoppedAt: null, lastRun: null };
  return { name, archiveName, shown: 'stopped', cause: 'start', actor: 'user', trigger: 'manual', wasRunning: false, ...times, ...FRESH_RUN };
}

/** Older faults of an actor don't count. */
const CRASH_WINDOW_MS = 600_000;
/** So many faults within ten minutes end in `failed`. */
export const MAX_CRASHES = 5;
const CRASH_BASE_MS = 1000;
/** The longest wait of a timer; after it the choice is made again. */
const LONGEST_WAIT_MS = 86_400_000;
/** How long a message waits after an attempt without an outcome (not-at-once). */
const STALLED_WAIT_MS = 60_000;
/** How long a reply may go on after a stop. */
export const GRACE_MS = 10_000;
/** How long an aborted reply may then take to be saved. */
export const SAVING_MS = 5000;

function placeholder<T, I>(name: string) {
  return fromPromise<T, I>(() => Promise.reject(new Error(`${name} was not provided`)));
}

function held(output: Choice | ReplyOutcome): Pick<MachineContext, 'reason' | 'wakeUpAt' | 'cause' | 'actor'> {
  const reason = 'reason' in output ? output.reason : null;
  return {
    reason,
    wakeUpAt: 'until' in output ? output.until : null,
    cause: reason?.code ?? output.kind,
    actor: output.kind === 'pause' ? output.actor : 'monitor',
  };
}

/** How a command ended, for all its callers. */
export type Settled = Omit<Answer, 'type' | 'ticket'>;

/** Doubles with each fault of an actor. */
function crashDelay({ crashes }: MachineContext): number {
  return CRASH_BASE_MS * 2 ** Math.max(0, crashes.length - 1);
}

function refusal(event: BlockEvent, code: ErrorCode, message: string): Answer {
  const { type, ticket } = event as Ticketed<Command>;
  return { type: 'answer', to: type, ticket, error: new BlockhouseError(code, message) };
}

/** Reads the result of a reply from its actor's done event, whose type the setup can't name. */
function wasCancelled(event: object): boolean {
  return 'output' in event && (event.output as { readonly cancelled?: boolean }).cancelled === true;
}

/** xstate's system of the actor of a block and of those that it has invoked. */
export type System = AnyActorRef['system'];

/** The xstate setup of the machine. `now` in epoch milliseconds, by the actor system of a block. */
export function setUpMachine(now: (system: System) => number) {
  const at = (system: System): string => new Date(now(system)).toISOString();
  return setup({
    types: {
      context: {} as MachineContext,
      events: {} as BlockEvent,
      input: {} as BlockInput,
      emitted: {} as Answer,
    },
    actors: {
      /** Repairs the chat after the last run, however that ended. */
      recover: placeholder<Choice, void>('recover'),
      /** `isUrgent`: a message doesn't wait for its next attempt any longer. */
      choose: placeholder<Choice, { readonly isUrgent: boolean }>('choose'),
      /** Makes one attempt at one message. Takes `{type: 'abort', cause}`. */
      reply: placeholder<ReplyOutcome, { readonly messageId: string }>('reply'),
      /** Finishes what a reply left behind, and ends the run. */
      settle: placeholder<void, { readonly isReplyLeft: boolean }>('settle'),
      /** Takes `{type: 'abort', cause}`. */
      compact: placeholder<BlockMemory, Pick<MachineContext, 'trigger'>>('compact'),
      archive: placeholder<Stored, Pick<MachineContext, 'wasRunning'>>('archive'),
      restore: placeholder<Unconfirmed, { readonly archiveName: string; readonly name: string }>('restore'),
      remove: placeholder<Unconfirmed, { readonly archiveName: string }>('remove'),
    },
    guards: {
      isInArchive: ({ context }) => context.archiveName !== null,
      isActive: stateIn({ life: 'active' }),
      isOpen: stateIn({ server: 'open' }),
      mayStart: and([stateIn({ life: 'active' }), stateIn({ server: 'open' })]),
      isRunning: stateIn({ monitor: 'running' }),
      isCompacting: stateIn({ memory: 'compacting' }),
      isAtRest: and([stateIn({ monitor: 'stopped' }), stateIn({ memory: 'settled' })]),
      isWorking: stateIn({ monitor: { running: 'working' } }),
      isThreshold: ({ context }) => context.trigger === 'threshold',
      isStopping: ({ context }) => context.isStopping,
      startsAgain: ({ context }) => context.next !== null,
      chooseAgain: ({ context }) => context.chooseAgain,
      beginAgain: ({ context }) => context.beginAgain,
      hasCrashedTooOften: ({ context }) => context.crashes.length >= MAX_CRASHES,
      isHalt: ({ event }) => event.type === 'halt.changed' && event.cause === 'halt',
      isReplyTo: ({ context, event }) => 'messageId' in event && event.messageId === context.messageId,
      isReply: (_, output: Choice) => output.kind === 'reply',
      isWait: (_, output: Choice | ReplyOutcome) => output.kind === 'wait',
      isPause: (_, output: Choice | ReplyOutcome) => output.kind === 'pause',
      isApproval: (_, output: Choice | ReplyOutcome) => output.kind === 'approval',
      isFailure: (_, output: Choice | ReplyOutcome) => output.kind === 'fail',
      /** look-again. */
      isToReadAgain: ({ context }, output: Choice) => context.chooseAgain && output.kind !== 'nothing',
      isWaitInDoubt: ({ context }, output: ReplyOutcome) => (output.kind === 'pause' || output.kind === 'approval') && context.chooseAgain,
      isRetryInDoubt: ({ context }, output: ReplyOutcome) => output.kind === 'wait' && context.beginAgain,
      isCutOff: (_, output: ReplyOutcome) => output.kind === 'over' && output.isCutOff === true,
      isMessageFailed: (_, output: ReplyOutcome) => output.kind === 'over' && output.failed,
      isAnswered: (_, output: ReplyOutcome) => output.kind === 'answered',
      isOver: (_, output: ReplyOutcome) => output.kind === 'over',
      isStartingShown: ({ context }) => context.shown === 'starting',
      isFullAfter: (_, output: ReplyOutcome) => output.kind === 'answered' && output.compact,
      /** not-at-once: the only choice is the message whose attempt has just ended without an outcome. */
      isStalled: ({ context }, output: Choice) => output.kind === 'reply' && output.messageId === context.overId && !context.chooseAgain,
    },
    actions: {
      /** Called before everything else of a run; `closeRun` is called after everything else. Both are provided in blocks.ts. */
      openRun: () => undefined,
      closeRun: () => undefined,
      beginRun: assign(({ system }, cause: Cause) => ({ ...FRESH_RUN, ...cause, startedAt: at(system) })),
      noteEnd: assign(({ system }) => ({ stoppedAt: at(system) })),
      takeTask: assign((_, task: CurrentTask) => ({ task })),
      /** Does nothing for a reply that was left, when another task has begun. */
      endTask: assign(({ context: { task }, system }, messageId: string | null) =>
        task?.messageId === messageId ? { task: null, ...(messageId !== null && { lastRun: at(system) }) } : {},
      ),
      show: assign((_, shown: BlockState) => ({ shown })),
      /** Records who or what causes the next step. */
      note: assign((_, { cause, actor }: Cause) => ({ cause, actor })),
      hold: assign((_, output: Choice | ReplyOutcome) => held(output)),
      holdStalled: assign(({ system }) => held({ kind: 'wait', until: now(system) + STALLED_WAIT_MS, reason: stalledReason() })),
      clearReason: assign({ reason: null, wakeUpAt: null }),
      clearWait: assign({ wakeUpAt: null }),
      take: assign((_, output: Choice) => ({ messageId: output.kind === 'reply' ? output.messageId : null, reason: null, wakeUpAt: null })),
      letGo: assign({ messageId: null }),
      chooseAnew: assign({ chooseAgain: true }),
      forgetChanges: assign({ chooseAgain: false, beginAgain: false }),
      beginAnew: assign({ chooseAgain: true, beginAgain: true }),
      hurry: assign({ isUrgent: true }),
      takeTime: assign({ isUrgent: false }),
      countFailure: assign(({ context }) => ({ consecutiveFailures: context.consecutiveFailures + 1 })),
      clearFailures: assign({ consecutiveFailures: 0 }),
      clearCrashes: assign({ crashes: [], consecutiveFailures: 0 }),
      /** not-at-once. */
      noteOver: assign(({ context }) => ({ overId: context.messageId })),
      forgetOver: assign({ overId: null }),
      leave: assign((_, { cause, actor }: Cause) => ({ isStopping: true, next: null, cause, actor })),
      startAgain: assign((_, next: Cause) => ({ next })),
      startNoMore: assign({ next: null }),
      noteReplyLeft: assign({ isReplyLeft: true }),
      /** The log has the error itself; its text may contain anything. */
      crash: assign((_, error: unknown) => ({ reason: crashReason(error), cause: 'fault', actor: 'monitor' as const })),
      countCrash: assign(({ context, system }) => ({
        crashes: [...context.crashes.filter((at) => Math.abs(now(system) - at) < CRASH_WINDOW_MS), now(system)],
        restarts: context.restarts + 1,
        wakeUpAt: null,
      })),
      giveUp: assign(({ context }) => ({ reason: crashLoopReason(context.name, context.crashes.length, context.reason) })),
      holdCrash: assign(({ context, system }) => ({ wakeUpAt: now(system) + crashDelay(context) })),
      /** Ends the reply under way; its text so far is kept. */
      abortReply: sendTo('reply', { type: 'abort', cause: 'stop' }),
      cancelReply: sendTo('reply', { type: 'abort', cause: 'cancel' }),
      abortCompaction: sendTo('compaction', { type: 'abort', cause: 'stop' }),
      compactByThreshold: assign({ trigger: 'threshold' as const }),
      compactByHand: assign({ trigger: 'manual' as const }),
      tellFull: raise({ type: 'window.full' }),
      tellSettled: raise((_, cause: string) => ({ type: 'memory.settled' as const, cause })),
      noteRunning: assign({ wasRunning: true }),
      noteStopped: assign({ wasRunning: false }),
      rename: assign((_, name: string) => ({ name })),
      placeInArchive: assign((_, archiveName: string) => ({ archiveName })),
      takeFromArchive: assign({ archiveName: null }),
      /** Answers all callers that wait for the end of this command. */
      answer: emit((_, settled: Settled) => ({ type: 'answer' as const, ...settled })),
      /** Answers only this caller, because there is nothing to wait for. */
      answerAtOnce: emit(({ event }, value: unknown) => ({
        type: 'answer' as const,
        to: event.type as Command['type'],
        ticket: (event as Ticketed<Command>).ticket,
        value,
      })),
      refuseWhileMoving: emit(({ context, event }) => refusal(event, 'WRONG_STATE', `${context.name} is being archived.`)),
      refuseInArchive: emit(({ context, event }) => refusal(event, 'BLOCK_NOT_FOUND', `${context.name} is in the archive.`)),
      /** Answers the callers of a start that a stop has overtaken. */
      refuseStarts: emit(({ context: { name } }) => ({
        type: 'answer' as const,
        to: 'block.start' as const,
        error: new BlockhouseError('WRONG_STATE', `${name} was stopped again before it could start.`),
      })),
      refuseAtEnd: emit(({ event }) => refusal(event, 'SHUTTING_DOWN', 'The server is shutting down.')),
      refuse: emit(({ event }, { code, message }: { readonly code: ErrorCode; readonly message: string }) => refusal(event, code, message)),
      /** Sent exactly once for each reply: true if a command ended it. */
      tellCancelled: emit(({ event }) => ({ type: 'answer' as const, to: 'message.cancel' as const, value: wasCancelled(event) })),
    },
    delays: {
      wait: ({ context, system }) => Math.min(Math.max((context.wakeUpAt ?? Number.POSITIVE_INFINITY) - now(system), 0), LONGEST_WAIT_MS),
      grace: GRACE_MS,
      saving: SAVING_MS,
      crashDelay: ({ context }) => crashDelay(context),
      nextTurn: 0,
    },
  });
}

/** The setup that the regions of the machine use. */
export type MachineSetup = ReturnType<typeof setUpMachine>;
