// Words of a run: what an answer has done on the way.
import { plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';

export const runText = {
  calls: 'calls',
  model: 'Asked the model',
  run: 'Asked again',
  resume: 'Went on after an interruption',
  wholeResult: 'Whole result',
  waits: 'waits for a decision',
  open: 'is being called',
  again: 'tries',
  total: 'In all',
  by: 'Found by',
  task: 'The server goes on with it as a task',
  asked: 'The server asked',
} as const;

const OUTCOMES: Readonly<Record<string, string>> = {
  done: 'done',
  error: 'done, with an error',
  unknown: 'outcome not known',
  denied: 'denied',
  expired: 'denied: nobody decided in time',
  'invalid-arguments': 'not sent: its arguments were wrong',
  'not-offered': 'not sent: there is no such tool here',
  'server-failed': 'its server failed',
  changed: 'not sent: the tool has changed',
  'not-run': 'did not run',
  limit: 'not sent: a limit was reached',
  'same-call': 'not sent: the same call again',
};

/** What became of a call, in words. */
export function callOutcomeText(outcome: string, isError: boolean): string {
  return ownOf(OUTCOMES, outcome === 'done' && isError ? 'error' : outcome) ?? outcome;
}

/** `3 calls of tools`. */
export function toolCallsText(calls: number): string {
  return plural(calls, 'call of a tool', 'calls of tools');
}
