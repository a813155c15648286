// Approvals as people see them: with their state, the decision and the ways in which they can be approved. Pure: no I/O.
//
// no-standing-repeat: a rule for later calls is offered only where the call waits because of a rule. What waits because it may have happened before, or because the
//   server asks, is decided each time; and what waits because the run is tainted, only where the tool just reads.
import type { StoredApproval } from '../../../store/approvals.ts';
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

/** The decisions after which an approval has this state. */
export function decisionsOf(state: Exclude<ShownApproval['state'], 'pending'>): readonly string[] {
  return Object.entries(STATES).flatMap(([decision, after]) => (after === state ? [decision] : []));
}

/** How a call that waits may be approved (no-standing-repeat). */
export function scopesFor({ because, kind, marks }: Pick<Approval, 'because' | 'kind' | 'marks'>): readonly Scope[] {
  if (kind !== 'call') return [];
  if (because === 'repeat' || because === 'unknown' || because === 'input') return ['once'];
  return because === 'tainted' && !marks.readOnly ? ['once'] : ['once', 'always', 'same-arguments'];
}

/** Approvals of a run; without `ids`, all of them. `now` is in epoch milliseconds. */
export function shownIn(state: RunState, now: number): ShownApproval[] {
  const pending = new Set(state.pending);
  return state.allAsked.map((asked) => shownAs(asked, pending.has(asked), now));
}

/** One of them. */
export function shown(state: RunState, asked: AskedFor, now: number): ShownApproval {
  return shownAs(asked, state.pending.includes(asked), now);
}

function shownAs({ approval, decision }: AskedFor, isPending: boolean, now: number): ShownApproval {
  if (decision !== undefined) return afterDecision(approval, decision);
  return isPending ? undecided(approval, now) : { ...approval, state: 'cancelled', scopes: [] };
}

/** One as a store that has all of them gives it, under the name that its block has now. */
export function shownStored({ approval, block, decision }: StoredApproval, now: number): ShownApproval {
  const named = { ...approval, block };
  return decision === undefined ? undecided(named, now) : afterDecision(named, decision);
}

type Said = Partial<Decision> & Pick<Decision, 'decision' | 'by' | 'at'>;

function afterDecision(approval: Approval, { decision, by, at, note, scope }: Said): ShownApproval {
  const more = { ...(note !== undefined && { note }), ...(scope !== undefined && { scope }) };
  return { ...approval, state: stateAfter(decision), scopes: [], decision, decidedBy: by, decidedAt: at, ...more };
}

function undecided(approval: Approval, now: number): ShownApproval {
  // The block writes that down when it goes on, at the latest when it is started.
  if (isOver(approval, now)) return { ...approval, state: 'expired', scopes: [] };
  return { ...approval, state: 'pending', scopes: [...scopesFor(approval)] };
}

/** True once its deadline is over. */
export function isOver({ expiresAt }: Pick<Approval, 'expiresAt'>, now: number): boolean {
  return Date.parse(expiresAt) <= now;
}
