// The calls of a run as the conversation shows them. Pure: no I/O.
import type { EntryStep } from '../types.ts';
import type { CallState, RunState } from './journal.ts';
import { beginningOf } from './results.ts';

const MAX_ARGUMENTS = 2048;
const MAX_PREVIEW = 500;

/** The steps of an answer's entry, over all runs of its message. */
export function entrySteps(state: RunState): EntryStep[] {
  return state.calls.flatMap((call) => (call.outcome === undefined ? [] : [stepOf(call)]));
}

function stepOf({ place, asked, approval, outcome }: CallState): EntryStep {
  const decided = approval?.decision;
  return {
    call: place,
    tool: asked.tool,
    arguments: beginningOf(JSON.stringify(asked.arguments), MAX_ARGUMENTS),
    outcome: outcome?.t === 'refused' ? outcome.code : outcome?.t === 'result' ? 'done' : 'unknown',
    isError: outcome?.t === 'result' && outcome.isError,
    ms: outcome?.t === 'result' ? outcome.ms : null,
    ...(decided?.decision === 'approve' && { approvedBy: `${decided.by.channel}:${decided.by.name}` }),
    preview:
      outcome?.t === 'result'
        ? beginningOf(outcome.text, MAX_PREVIEW)
        : beginningOf(outcome?.t === 'unknown' ? outcome.why : (outcome?.note ?? ''), MAX_PREVIEW),
  };
}

/** True if a call may have changed something: it was sent, and it is not known that it did not run. */
export function mayHaveEffect({ tries, outcome }: CallState): boolean {
  return tries > 0 && outcome?.t !== 'refused';
}

/** effects-are-told: what an entry says in place of an answer, where calls had or may have had effects; undefined where none had. */
export function effectsText(state: RunState, what: string): string | undefined {
  const sent = state.calls.filter(mayHaveEffect);
  if (sent.length === 0) return undefined;
  const lines = sent.map(({ asked: { tool, arguments: args }, outcome }) => {
    const how = outcome?.t === 'result' ? (outcome.isError ? 'ran, with an error' : 'ran') : 'may have run: its outcome is not known';
    return `- ${tool} ${beginningOf(JSON.stringify(args), 200)} ${how}`;
  });
  return `${what} Before that, it had called:\n${lines.join('\n')}`;
}
