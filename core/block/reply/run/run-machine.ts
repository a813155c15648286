// The order of a run: the model is called, its calls are checked, then made, and the model is called with their results, until it answers without calls.
// opening → callingModel → checkingCalls → callingTools → callingModel → … → concluding → done. The work of each state is in run.ts. The context is plain JSON: all
// else is in the journal, which also says where a run goes on after a crash. Pure: no I/O.
//
// Laws of the loop:
// - intent-first: no byte of a call leaves before its `call` record is on disk. Calls that are made side by side share one sync. (call-tools.ts)
// - one-outcome: each call has exactly one of `result`, `refused`, `unknown`, and the model sees exactly one result for each of its calls. (core/tools/journal.ts)
// - decide-all-then-act: of several calls in one answer none is made before each is decided. (check-calls.ts)
// - no-silent-repeat: a call is sent again only if its tool is repeatable, at most twice, with the same id. The two count over restarts. (check-calls.ts)
// - one-id-one-call: steps go on counting over the runs of a message. (core/tools/journal.ts)
// - always-an-end: every run ends in an answer, or in a failure that lists what ran. Each call of the model reserves one concluding call more. (core/tools/next.ts)
// - effects-are-told: after a message that was cancelled or has failed, an entry names the effects; after one that was retried, its answer does. (close.ts)
// - same-list: the tools of a run are fixed when it begins. (core/tools/offer.ts)
import { assign, type SnapshotFrom, sendTo, setup } from 'xstate';
import { type ActorSystem, fromAbortable } from '../../../base/abortable.ts';
import type { Called } from '../reply-machine.ts';

/** What comes after a step. */
export type After =
  | { readonly kind: 'model' | 'conclude'; readonly step: number }
  | { readonly kind: 'check' | 'call'; readonly step: number }
  | { readonly kind: 'over'; readonly called: Called };

/** The work of the states. Each rejects with a fault of the disk, or a defect. */
export interface RunSteps {
  /** Reads the journal, and begins a run or goes on with one. */
  open(signal: AbortSignal): Promise<After>;
  callModel(concludes: boolean, signal: AbortSignal): Promise<After>;
  checkCalls(signal: AbortSignal): Promise<After>;
  /** Ends with what has come when `signal` fires. */
  callTools(signal: AbortSignal): Promise<After>;
}

/** The machine's data besides its states. */
export interface RunContext {
  readonly messageId: string;
  readonly step: number;
  readonly called: Called | null;
}

const output = ({ event }: { readonly event: { readonly output: After } }): After => event.output;

/** The machine. `stepsOf` finds the work of a run by the actor system of that run. */
export function createRunMachine(stepsOf: (system: ActorSystem) => RunSteps) {
  const machine = setup({
    types: { context: {} as RunContext, events: {} as { readonly type: 'abort'; readonly cause: string }, input: {} as { readonly messageId: string } },
    actors: {
      open: fromAbortable<After>(({ system, signal }) => stepsOf(system).open(signal)),
      callModel: fromAbortable<After, { readonly concludes: boolean }>(({ system, input, signal }) => stepsOf(system).callModel(input.concludes, signal)),
      checkCalls: fromAbortable<After>(({ system, signal }) => stepsOf(system).checkCalls(signal)),
      callTools: fromAbortable<After>(({ system, signal }) => stepsOf(system).callTools(signal)),
    },
    guards: {
      is: (_, { after, kind }: { readonly after: After; readonly kind: After['kind'] }) => after.kind === kind,
    },
    actions: {
      take: assign((_, after: After) => (after.kind === 'over' ? { called: after.called } : { step: after.step })),
      abortStep: sendTo('step', ({ event }) => event),
    },
  });
  const when = <K extends After['kind']>(kind: K) =>
    ({ type: 'is', params: ({ event }: { readonly event: { readonly output: After } }) => ({ after: event.output, kind }) }) as const;
  const take = { type: 'take', params: output } as const;
  /** After each step it is the journal that says what comes next. */
  const onDone = [
    { guard: when('model'), target: '#run.callingModel', reenter: true, actions: take },
    { guard: when('conclude'), target: '#run.concluding', reenter: true, actions: take },
    { guard: when('check'), target: '#run.checkingCalls', reenter: true, actions: take },
    { guard: when('call'), target: '#run.callingTools', reenter: true, actions: take },
    { target: '#run.done', actions: take },
  ] as const;
  return machine.createMachine({
    id: 'run',
    context: ({ input: { messageId } }) => ({ messageId, step: 0, called: null }),
    initial: 'opening',
    on: { abort: { actions: 'abortStep' } },
    states: {
      opening: { invoke: { id: 'step', src: 'open', onDone } },
      callingModel: { invoke: { id: 'step', src: 'callModel', input: { concludes: false }, onDone } },
      checkingCalls: { invoke: { id: 'step', src: 'checkCalls', onDone } },
      callingTools: { invoke: { id: 'step', src: 'callTools', onDone } },
      concluding: { invoke: { id: 'step', src: 'callModel', input: { concludes: true }, onDone } },
      done: { type: 'final' },
    },
  });
}

/** A run at one moment. */
export type RunSnapshot = SnapshotFrom<ReturnType<typeof createRunMachine>>;
