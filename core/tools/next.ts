// Where a run goes on, by its records alone: after each step, and after a crash. Pure: no I/O.
//
// always-an-end: every run ends in an answer, or in a failure that lists what ran. When a limit is reached, the model gets one call more, without tools.
import { type CallState, type RunState, useOf } from './journal.ts';

/** What comes next. */
export type Next =
  /** `concludes`: without tools. */
  | { readonly kind: 'model'; readonly concludes: boolean }
  | { readonly kind: 'check' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'call' }
  | { readonly kind: 'ended' };

/** Where the last run goes on. It must have begun. */
export function nextIn(state: RunState): Next {
  if (state.end !== undefined) return { kind: 'ended' };
  const { last } = state;
  if (last === undefined) return { kind: 'model', concludes: mustConclude(state) };
  if (last.answer === undefined) return { kind: 'model', concludes: mustConclude(state) };
  if (last.calls.length === 0) return { kind: 'ended' };
  const open = last.calls.filter(({ outcome }) => outcome === undefined);
  if (open.length === 0) return { kind: 'model', concludes: mustConclude(state) };
  if (open.some(({ approval }) => approval !== undefined && approval.decision === undefined)) return { kind: 'wait' };
  return { kind: 'check' };
}

/** True once a limit of the run is reached. */
export function mustConclude(state: RunState): boolean {
  const { limits } = state;
  if (limits === undefined) return false;
  const use = useOf(state);
  return (
    use.steps >= limits.steps ||
    use.calls >= limits.calls ||
    use.seconds >= limits.seconds ||
    (limits.tokens !== null && use.tokens >= limits.tokens) ||
    (limits.usd !== null && use.usd >= limits.usd) ||
    refusedRepeats(state) >= MAX_REFUSED_REPEATS
  );
}

/** Equal calls that were refused: with this many, the model does not find its way out. */
const MAX_REFUSED_REPEATS = 2;

function refusedRepeats(state: RunState): number {
  const counts = new Map<string, number>();
  for (const { same, outcome, run } of state.calls) {
    if (run !== state.run?.run || outcome?.t !== 'refused' || outcome.code !== 'same-call') continue;
    counts.set(same, (counts.get(same) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** How many equal calls the run has had before this one. */
export function equalBefore(state: RunState, call: CallState): number {
  return state.calls.filter((other) => other !== call && other.run === call.run && other.same === call.same && isBefore(other, call)).length;
}

function isBefore(other: CallState, call: CallState): boolean {
  return other.step < call.step || (other.step === call.step && other.asked.n < call.asked.n);
}

/** True for a call that equals one whose outcome is not known, or one that had an effect in an earlier run of the message. */
export function isRepeatOf(state: RunState, call: CallState, isReadOnly: boolean): boolean {
  return state.calls.some((other) => {
    if (other === call || other.same !== call.same) return false;
    if (other.outcome?.t === 'unknown') return isBefore(other, call);
    return other.run !== call.run && !isReadOnly && other.outcome?.t === 'result';
  });
}
