// Approvals as people see them: with their state, the decision and the ways in which they can be approved. Pure: no I/O.
//
// no-standing-repeat: a rule for later calls is offered only where the call waits because of a rule. What waits because it may have happened before, or because the
//   server asks, is decided each time; and what waits because the run is tainted, only where the tool just reads.
import type { AskedFor, Decision, RunState } from '../../../tools/journal.ts';
import type { Approval, ShownApproval } from '../../../types.ts';

type Scope = ShownApproval['scopes'][number];

const STATES: Readonly<Record<Decision['decision'], Exclude<ShownApproval['state'], 'pending'>>> = {
  approve: 'approved',
  ran: 'approved',
  'not-ran': 'approved',
  tell: 'approved',
  deny: 'denied',
  expire: 'expired',
  cancel: 'cancelled',
};

/** The state of an approval after a decision. */
export function stateAfter(decision: Decision['decision']): Exclude<ShownApproval['state'], 'pending'> {
  return STATES[decision];
}

/** How a call that waits may be approved (no-standing-repeat). */
export function scopesFor({ because, kind, marks }: Pick<Approval, 'because' | 'kind' | 'marks'>): readonly Scope[] {
  if (kind !== 'call') return [];
  if (because === 'repeat' || because === 'unknown' || because === 'input') return ['once'];
  return because === 'tainted' && !marks.readOnly ? ['once'] : ['once', 'always', 'same-arguments'];
}

/** Approvals of a run; without `ids`, all of them. `now` is in epoch milliseconds. */
export function shownIn(state: RunState, now: number): ShownApproval[] {
  return state.allAsked.map((asked) => shown(state, asked, now));
}

/** One of them. */
export function shown(state: RunState, asked: AskedFor, now: number): ShownApproval {
  const { approval, decision } = asked;
  if (decision !== undefined) {
    const { decision: said, by, at, note, scope } = decision;
    const more = { ...(note !== undefined && { note }), ...(scope !== undefined && { scope }) };
    return { ...approval, state: stateAfter(said), scopes: [], decision: said, decidedBy: by, decidedAt: at, ...more };
  }
  if (!state.pending.includes(asked)) return { ...approval, state: 'cancelled', scopes: [] };
  // The block writes that down when it goes on, at the latest when it is started.
  if (isOver(approval, now)) return { ...approval, state: 'expired', scopes: [] };
  return { ...approval, state: 'pending', scopes: [...scopesFor(approval)] };
}

/** True once its deadline is over. */
export function isOver({ expiresAt }: Pick<Approval, 'expiresAt'>, now: number): boolean {
  return Date.parse(expiresAt) <= now;
}
