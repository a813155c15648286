// How a run begins and ends, as its records and the conversation say it. Pure: no I/O.
import { textParts } from '../../../gateway/parts.ts';
import type { CurrentTask, TaskPhase } from '../../../schemas/block-pulse.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { entrySteps } from '../../../tools/entry-steps.ts';
import { type RunState, totalOf } from '../../../tools/journal.ts';
import { taintOfRun } from '../../../tools/taint.ts';
import type { Bill } from '../billing.ts';
import type { ModelAnswer } from '../call-model.ts';

/** A message that was asked again since its run ended begins another one. Where the end is in the journal only, a crash came before the conversation had it. */
export function isNewRun({ run, end }: RunState, message: ChatEntry): boolean {
  if (run === undefined) return true;
  return end !== undefined && (message.run === run.run || message.timestamp > end.at);
}

/** The answer as the records have it, so that one is saved after a crash without another call. */
export function answerOf(state: RunState, messageId: string): ModelAnswer {
  const last = state.steps.at(-1);
  const { usage, costUsd, latencyMs, ttftMs } = totalOf(state);
  const bill: Bill = {
    at: last?.answer?.at ?? '',
    provider: last?.provider ?? '',
    model: last?.model ?? '',
    usage: usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true },
    costUsd,
    latencyMs,
    ttftMs,
    failed: false,
  };
  const stopReason = (last?.answer?.stopReason ?? 'unknown') as ModelAnswer['stopReason'];
  return {
    message: { role: 'assistant', content: textParts(last?.answer?.text ?? '') },
    stopReason,
    bill,
    isCut: false,
    run: { run: state.run?.run ?? 1, steps: entrySteps(state), taint: taintOfRun(state, messageId) },
  };
}

/** What people see of a run that goes on. `called`: the tool that is called, and since when. */
export function taskOf(
  { id: messageId, startedAt, timestamp, attempts = 1 }: ChatEntry,
  phase: TaskPhase,
  { ownSteps, limits }: RunState,
  called: { readonly tool: string; readonly at: string } | undefined,
): CurrentTask {
  const isNext = phase === 'waiting-model' || phase === 'concluding';
  return {
    messageId,
    startedAt: startedAt ?? timestamp,
    attempt: attempts,
    phase,
    outputChars: 0,
    step: Math.max(1, isNext ? ownSteps.length + 1 : ownSteps.length),
    steps: limits?.steps ?? 0,
    ...(called !== undefined && { tool: called.tool, toolSince: called.at }),
  };
}
