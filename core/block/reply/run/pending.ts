// Calls that wait for people. Pure: no I/O.
import { shortId } from '../../../base/short-id.ts';
import type { RunRecord } from '../../../types.ts';
import type { AskedFor, RunState } from '../../../tools/journal.ts';
import { taintText } from '../../../tools/taint.ts';
import type { ReplyOutcome } from '../../actor/types.ts';
import type { Called } from '../reply-machine.ts';

type Wait = Extract<ReplyOutcome, { readonly kind: 'approval' }>;

/** What the deadlines have decided by now. */
export function expired({ pending }: RunState, now: number): RunRecord[] {
  const at = new Date(now).toISOString();
  return pending
    .filter(({ approval }) => Date.parse(approval.expiresAt) <= now)
    .map(({ approval }): RunRecord => ({ t: 'decision', approval: approval.id, decision: 'expire', by: { channel: 'clock', name: 'deadline' }, at }));
}

/** The wait of a message for these. */
export function waitOf(pending: readonly AskedFor[]): Called & { readonly kind: 'waiting' } {
  return { kind: 'waiting', waitingFor: pending.map(({ approval }) => approval.id), outcome: holdFor(pending) };
}

/** Why the block waits, and until when at most. */
export function holdFor(pending: readonly AskedFor[]): Wait {
  const until = Math.min(...pending.map(({ approval }) => Date.parse(approval.expiresAt)));
  return { kind: 'approval', until, reason: { code: 'WAITING_APPROVAL', message: messageFor(pending), fix: fixFor(pending) } };
}

/** The id may be any unique beginning. */
function fixFor([first]: readonly AskedFor[]): string {
  if (first === undefined) return 'blockhouse approvals';
  const { id, kind } = first.approval;
  return `blockhouse ${kind === 'unknown' ? 'approvals --id' : 'approve'} ${shortId(id)}`;
}

const BECAUSE: Readonly<Record<Exclude<AskedFor['approval']['because'], 'tainted'>, string>> = {
  rule: 'a rule says so',
  default: 'no rule names it',
  repeat: 'it equals a call that has, or may have, taken effect before',
  unknown: 'its outcome is not known',
  input: 'the server asks for something',
};

/** tainted-asks (core/tools/policy.ts). */
function taintedBecause({ marks, taint = [] }: AskedFor['approval']): string {
  const what = marks.closedWorld ? 'it may change something' : 'it can send data out';
  const [first] = taint;
  if (first === undefined) return `${what}, and this run has read what somebody outside may have written`;
  return `${what}, and this run has read ${taintText(first)}`;
}

function messageFor(pending: readonly AskedFor[]): string {
  const [first] = pending;
  if (first === undefined) return 'A message waits for a decision.';
  const { tool, because, kind } = first.approval;
  const more = pending.length === 1 ? '' : ` and ${pending.length - 1} more`;
  if (kind === 'unknown') return `${tool}${more} may have run before it was cut off; say whether it did.`;
  return `A message waits for your decision: ${tool}${more}, because ${because === 'tainted' ? taintedBecause(first.approval) : BECAUSE[because]}.`;
}
