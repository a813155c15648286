// Whether the next call of a block fits its caps, by the ledger.
//
// Three amounts must fit together: what was spent, the worst case of the block's calls under way, and the worst case of the next call. A call that
// does not fit only because of calls under way waits for them, because they mostly cost less than their worst case.
import { dayStart, monthStart } from '../../base/calendar.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BudgetStand } from '../../schemas/block-costs.ts';
import type { BudgetVerdict, WorstCase } from '../../store/port.ts';
import { CallRefused, type Pause } from '../actor/call-refused.ts';
import { capsUsd, hasCaps, judgeBudget } from '../costs/budget.ts';
import type { Candidate } from '../status/candidates.ts';
import type { BlockContext } from './block-context.ts';

/** The pause for a call that does not fit beside what was spent; undefined when it fits. */
export async function checkBudget(
  context: BlockContext,
  config: BlockConfig,
  candidate: Candidate | undefined,
  inputTokens: number,
): Promise<Pause | undefined> {
  if (!hasCaps(config.budget) || candidate === undefined) return undefined;
  return pauseAt(context, config, await context.world.calls.billing.worstCase(candidate, inputTokens, capsUsd(config.budget)));
}

/** The same for what costs at most this. */
export async function pauseAt(context: BlockContext, config: BlockConfig, worstCase: WorstCase): Promise<Pause | undefined> {
  if (!hasCaps(config.budget)) return undefined;
  const verdict = await judge(context, config, worstCase);
  return verdict.kind === 'ok' ? undefined : pauseOf(context, verdict);
}

/** A call that needs room. */
export interface CallToFit {
  /** That of its line. */
  readonly id: string;
  readonly candidate: Candidate;
  readonly inputTokens: number;
  /** How many calls of this size must fit; 1 when left out. */
  readonly calls?: number;
}

/** Reserves the worst case of a call, unless there is no cap, or `signal` has fired. Throws CallRefused if the call does not fit. */
export async function reserveCall(context: BlockContext, { id, candidate, inputTokens, calls: many = 1 }: CallToFit, signal: AbortSignal): Promise<void> {
  const { store, calls } = context.world;
  while (!signal.aborted) {
    const { budget } = await context.files.config.read();
    if (!hasCaps(budget)) return;
    const { usd, tokens } = await calls.billing.worstCase(candidate, inputTokens, capsUsd(budget));
    const worstCase = { usd: usd === null ? null : usd * many, tokens: tokens * many };
    const reserved = await store.ledger.reserve({ id, block: context.name, budget, worstCase }, signal);
    if (reserved.kind === 'ok') return;
    if (reserved.kind === 'exceeded') throw new CallRefused(await pauseOf(context, reserved));
    await reserved.changed;
  }
}

async function pauseOf(context: BlockContext, verdict: BudgetVerdict & { readonly kind: 'exceeded' }): Promise<Pause> {
  await context.files.costs.update((costs) => ({ value: { ...costs, budget: verdict.stand }, result: undefined }));
  context.log.write('WARN', 'budget.reached', { cap: verdict.cap, resets: new Date(verdict.resetsAt).toISOString() });
  const fix = `${verdict.fix} (blockhouse config set ${context.name} budget.${verdict.cap}=…)`;
  return { kind: 'pause', until: verdict.resetsAt, actor: 'budget', reason: { code: 'BUDGET_REACHED', message: verdict.message, fix } };
}

/** The spend of today and this month by the ledger, and the state of the caps, for costs.json. */
export async function budgetStand(context: Pick<BlockContext, 'name' | 'world'>, config: BlockConfig): Promise<BudgetStand> {
  return (await judge(context, config, { usd: 0, tokens: 0 })).stand;
}

async function judge({ name, world }: Pick<BlockContext, 'name' | 'world'>, { budget }: BlockConfig, worstCase: WorstCase): Promise<BudgetVerdict> {
  const now = world.now();
  const [day, month] = await world.store.ledger.spend(name, [dayStart(now, budget.timezone), monthStart(now, budget.timezone)]);
  return judgeBudget({ budget, day, month, worstCase, now });
}
