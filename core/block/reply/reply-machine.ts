// The steps of one attempt at one message: preparing → checkingBudget → beginning → calling → saving → done. reply.ts does the work of each. The
// context is plain JSON. Pure: no I/O.
//
// counted-first: the attempt is counted on disk, in `beginning`, before a model is called.
// no-call-no-attempt: an attempt counts only if a provider may have worked on it, not if the kill switch or a cap prevented the call.
// fallbacks-last: a fallback is asked only after the first model has failed permanently, and the failure of the first one decides.
// by-class: no fallback is asked after a failure that says that the request itself is wrong (gateway/fallback-classes.ts).
// text-is-kept: an attempt that a stop ended keeps the text so far as an interrupted answer. Without any text the message waits for the next run.
// one-end: every attempt ends in exactly one outcome for the monitor. Only a fault of the disk, or a defect, is thrown, through `broken`.
import { assign, fromPromise, type SnapshotFrom, sendTo, setup } from 'xstate';
import { type ActorSystem, fromAbortable } from '../../base/abortable.ts';
import { textOf } from '../../gateway/parts.ts';
import type { CurrentTask, Reason } from '../../schemas/block-pulse.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { ContentPart } from '../../types.ts';
import type { FailureKind } from '../actor/backoff.ts';
import type { Pause, Wait } from '../actor/call-refused.ts';
import type { ReplyOutcome } from '../actor/types.ts';
import type { Candidate } from '../status/candidates.ts';
import { type Attempt, ENDED_EARLY, type Fault, NOT_CALLED } from './attempt.ts';
import type { Bill } from './billing.ts';
import type { ModelAnswer } from './call-model.ts';

/** Why a reply was ended before its time. */
export type AbortCause = 'stop' | 'cancel';

/** What an attempt begins with. */
export type Plan = Omit<Attempt, 'message'>;

/** A call that brought no answer, judged. */
export interface CallFailure extends Fault {
  readonly kind: FailureKind;
  /** For the block. */
  readonly reason: Reason;
  readonly mayHaveRun: boolean;
  readonly countsAsAttempt: boolean;
  /** True if another model may answer; false where the request itself is at fault. */
  readonly mayAskNext: boolean;
  /** Until the next attempt at the same model; null if this was the last. */
  readonly retryMs: number | null;
}

/** A run with tools waits for people to decide. */
export interface Waiting {
  readonly kind: 'waiting';
  /** Ids of what is to be decided. */
  readonly waitingFor: readonly string[];
  readonly outcome: ReplyOutcome;
}

/** How the call of a model ended. */
export type Called =
  | { readonly kind: 'answered'; readonly answer: ModelAnswer }
  | { readonly kind: 'refused'; readonly pause: Pause | Wait }
  | Waiting
  /** A person had cancelled the message, and a crash or another server came before its outcome. */
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: CallFailure; readonly bill: Bill | null; readonly content: readonly ContentPart[] };

/** What becomes of the message. */
export type Ending =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer }
  | { readonly kind: 'interrupted'; readonly content: readonly ContentPart[]; readonly bill: Bill | null; readonly isCancelled: boolean }
  | { readonly kind: 'cancelled' }
  | Waiting
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'retry'; readonly failure: CallFailure; readonly delayMs: number; readonly countsAsAttempt: boolean }
  /** Back to the queue, for a cause that is not the message's. */
  | { readonly kind: 'requeue'; readonly fault: Fault; readonly countsAsAttempt: boolean; readonly outcome: ReplyOutcome };

/** A call to make, or that was made. */
export interface Asked {
  readonly attempt: Attempt;
  /** Undefined if no model is set. */
  readonly candidate: Candidate | undefined;
}

/** The work of the steps. It rejects with a fault of the disk, or a defect. */
export interface ReplySteps {
  /** Reads the files and makes the prompt; null if the message is gone. */
  prepare(signal: AbortSignal): Promise<Plan | null>;
  /** Null if the kill switch and the caps allow a call. */
  checkBudget(plan: Plan): Promise<Pause | null>;
  /** Counts the attempt; null if the message no longer waits. */
  begin(): Promise<ChatEntry | null>;
  /** Ends with what has come when `signal` fires. */
  callModel(asked: Asked, signal: AbortSignal): Promise<Called>;
  /** Readers discard the text of the model that failed, because another one is asked. */
  discard(fault: Fault): void;
  /** Writes what becomes of the message, and reports it. */
  save(asked: Asked, ending: Ending): Promise<ReplyOutcome>;
  /** Puts the message back after an error, which it then throws. */
  breakOff(error: unknown, attempt: Attempt | null): Promise<never>;
}

/** The machine's data besides its states. */
export interface ReplyContext {
  readonly messageId: string;
  readonly plan: Plan | null;
  /** As it was when the attempt began; null before that. */
  readonly message: ChatEntry | null;
  /** The index of the model that is asked. */
  readonly asked: number;
  /** The failure of the first model. */
  readonly first: CallFailure | null;
  /** A provider may have worked on a call of this attempt that failed. */
  readonly mayHaveRun: boolean;
  /** The first cause counts. */
  readonly endedBy: AbortCause | null;
  readonly ending: Ending | null;
  readonly outcome: ReplyOutcome;
}

/** The events of a reply. */
export type ReplyEvent = { readonly type: 'abort'; readonly cause: AbortCause } | { readonly type: 'text.began' };

const OVER: ReplyOutcome = { kind: 'over', failed: false };

const output = <O>({ event }: { readonly event: { readonly output: O } }): O => event.output;
const toBroken = { target: '#reply.broken' } as const;

function attemptOf({ plan, message }: ReplyContext): Attempt | null {
  return plan === null || message === null ? null : { ...plan, message };
}

function askedOf(context: ReplyContext): Asked {
  const attempt = attemptOf(context);
  if (attempt === null) throw new Error('No model is asked before the attempt has begun.');
  return { attempt, candidate: attempt.candidates[context.asked] };
}

/** What becomes of the message after the last call of the attempt. */
function endingAfter(context: ReplyContext, called: Called): Ending {
  if (called.kind === 'answered') return { kind: 'answer', answer: called.answer };
  if (called.kind === 'waiting' || called.kind === 'cancelled') return called;
  const { first, mayHaveRun } = context;
  if (called.kind === 'refused') return { kind: 'requeue', fault: NOT_CALLED, countsAsAttempt: mayHaveRun, outcome: called.pause }; // no-call-no-attempt
  const failure = first ?? called.failure; // fallbacks-last
  const hasRun = mayHaveRun || called.failure.mayHaveRun;
  if (called.failure.kind === 'cancelled') return endedEarly(context, called, hasRun);
  if (failure.retryMs !== null) return { kind: 'retry', failure, delayMs: failure.retryMs, countsAsAttempt: hasRun || failure.countsAsAttempt };
  if (failure.kind !== 'block') return { kind: 'failed', fault: failure };
  return { kind: 'requeue', fault: failure, countsAsAttempt: hasRun, outcome: { kind: 'fail', reason: failure.reason } };
}

/** text-is-kept. */
function endedEarly({ endedBy }: ReplyContext, { failure, bill, content }: Called & { readonly kind: 'failed' }, countsAsAttempt: boolean): Ending {
  const isCancelled = endedBy === 'cancel';
  if (content.length > 0) return { kind: 'interrupted', content, bill, isCancelled };
  if (isCancelled) return { kind: 'cancelled' };
  // After the gateway has closed, no call is possible: the monitor waits for its own stop.
  const isClosed = failure.code === 'SHUTTING_DOWN';
  const outcome: ReplyOutcome = isClosed ? { kind: 'pause', until: null, reason: failure.reason, actor: 'server' } : OVER;
  return { kind: 'requeue', fault: ENDED_EARLY, countsAsAttempt, outcome };
}

function setUpReply(stepsOf: (system: ActorSystem) => ReplySteps) {
  return setup({
    types: { context: {} as ReplyContext, events: {} as ReplyEvent, input: {} as { readonly messageId: string }, output: {} as ReplyOutcome },
    actors: {
      prepare: fromAbortable<Plan | null>(({ system, signal }) => stepsOf(system).prepare(signal)),
      checkBudget: fromPromise<Pause | null, Plan>(({ system, input }) => stepsOf(system).checkBudget(input)),
      begin: fromPromise<ChatEntry | null>(({ system }) => stepsOf(system).begin()),
      callModel: fromAbortable<Called, Asked & { readonly isEnded: boolean }>(({ system, input, signal }) =>
        stepsOf(system).callModel(input, input.isEnded ? AbortSignal.abort() : signal),
      ),
      save: fromPromise<ReplyOutcome, Asked & { readonly ending: Ending }>(({ system, input }) => stepsOf(system).save(input, input.ending)),
      breakOff: fromPromise<never, { readonly error: unknown; readonly attempt: Attempt | null }>(({ system, input }) =>
        stepsOf(system).breakOff(input.error, input.attempt),
      ),
    },
    guards: {
      isNull: (_, value: unknown) => value === null,
      isNotNull: (_, value: unknown) => value !== null,
      /** fallbacks-last. */
      asksNext: ({ context: { asked, first, plan } }, called: Called) =>
        called.kind === 'failed' &&
        called.failure.kind !== 'cancelled' &&
        called.failure.mayAskNext && // by-class
        (first ?? called.failure).retryMs === null &&
        asked + 1 < (plan?.candidates.length ?? 0),
    },
    actions: {
      takePlan: assign((_, plan: Plan | null) => ({ plan })),
      takeMessage: assign((_, message: ChatEntry | null) => ({ message })),
      takeNext: assign(({ context: { asked, first, mayHaveRun } }, called: Called) =>
        called.kind !== 'failed' ? {} : { asked: asked + 1, first: first ?? called.failure, mayHaveRun: mayHaveRun || called.failure.mayHaveRun },
      ),
      discard: ({ system }, called: Called) => called.kind === 'failed' && stepsOf(system).discard(called.failure),
      decide: assign(({ context }, called: Called) => ({ ending: endingAfter(context, called) })),
      end: assign((_, outcome: ReplyOutcome | null) => (outcome === null ? {} : { outcome })),
      noteEnd: assign(({ context, event }) => (event.type === 'abort' ? { endedBy: context.endedBy ?? event.cause } : {})),
      /** Only `prepare` and `callModel` take it. */
      abortStep: sendTo('step', ({ event }) => event),
    },
  });
}

/** The machine. `stepsOf` finds the work of a reply by the actor system of that reply. */
export function createReplyMachine(stepsOf: (system: ActorSystem) => ReplySteps) {
  return setUpReply(stepsOf).createMachine({
    id: 'reply',
    context: ({ input }) => ({
      messageId: input.messageId,
      plan: null,
      message: null,
      asked: 0,
      first: null,
      mayHaveRun: false,
      endedBy: null,
      ending: null,
      outcome: OVER,
    }),
    output: ({ context: { outcome, endedBy } }) =>
      endedBy === 'stop' && outcome.kind === 'over' && !outcome.failed ? { ...outcome, isCutOff: true } : outcome,
    initial: 'preparing',
    on: { abort: { actions: ['noteEnd', 'abortStep'] } },
    states: {
      preparing: {
        invoke: {
          id: 'step',
          src: 'prepare',
          onDone: [
            { guard: { type: 'isNull', params: output }, target: 'done' },
            { target: 'checkingBudget', actions: { type: 'takePlan', params: output } },
          ],
          onError: toBroken,
        },
      },
      checkingBudget: {
        invoke: {
          id: 'step',
          src: 'checkBudget',
          input: ({ context: { plan } }) => plan as Plan,
          onDone: [{ guard: { type: 'isNotNull', params: output }, target: 'done', actions: { type: 'end', params: output } }, { target: 'beginning' }],
          onError: toBroken,
        },
      },
      /** counted-first. */
      beginning: {
        invoke: {
          id: 'step',
          src: 'begin',
          onDone: [
            { guard: { type: 'isNull', params: output }, target: 'done' },
            { target: 'calling', actions: { type: 'takeMessage', params: output } },
          ],
          onError: toBroken,
        },
      },
      calling: {
        invoke: {
          id: 'step',
          src: 'callModel',
          input: ({ context }) => ({ ...askedOf(context), isEnded: context.endedBy !== null }),
          onDone: [
            {
              guard: { type: 'asksNext', params: output },
              target: 'calling',
              reenter: true,
              actions: [
                { type: 'discard', params: output },
                { type: 'takeNext', params: output },
              ],
            },
            { target: 'saving', actions: { type: 'decide', params: output } },
          ],
          onError: toBroken,
        },
        initial: 'waiting',
        states: { waiting: { on: { 'text.began': 'streaming' } }, streaming: {} },
      },
      saving: {
        invoke: {
          id: 'step',
          src: 'save',
          input: ({ context }) => ({ ...askedOf(context), ending: context.ending as Ending }),
          onDone: { target: 'done', actions: { type: 'end', params: output } },
          onError: toBroken,
        },
      },
      done: { type: 'final' },
      /** Its error, which nothing handles, is that of the machine. */
      broken: {
        invoke: { id: 'step', src: 'breakOff', input: ({ context, event }) => ({ error: (event as { error?: unknown }).error, attempt: attemptOf(context) }) },
      },
    },
  });
}

/** A reply at one moment. */
export type ReplySnapshot = SnapshotFrom<ReturnType<typeof createReplyMachine>>;

/** The task that people see; null while there is none, or none of another phase than before. */
export function taskOf(snapshot: ReplySnapshot): CurrentTask | null {
  const { message, messageId, ending } = snapshot.context;
  const phase = phaseOf(snapshot);
  if (phase === undefined || message === null) return null;
  const outputChars = ending?.kind === 'answer' ? textOf(ending.answer.message.content, 'assistant').length : 0;
  return { messageId, startedAt: message.startedAt ?? message.timestamp, attempt: message.attempts ?? 1, phase, outputChars };
}

function phaseOf(snapshot: ReplySnapshot): CurrentTask['phase'] | undefined {
  if (snapshot.matches({ calling: 'waiting' })) return 'waiting-model';
  if (snapshot.matches({ calling: 'streaming' })) return 'streaming';
  return snapshot.matches('saving') && snapshot.context.ending?.kind === 'answer' ? 'saving' : undefined;
}
