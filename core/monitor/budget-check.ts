// Whether the next call of a block fits its caps, by the ledger.
import type { BlockWorkshop } from '../block/workshop.ts';
import type { BlockConfig, BudgetStand } from '../schemas/block.ts';
import { type BudgetVerdict, dayStart, hasCaps, judgeBudget, monthStart } from './budget.ts';
import type { ReplyOutcome } from './machine.ts';
import type { Candidate } from './model-call.ts';

/** The pause that a reached cap demands; undefined when the call may be made. */
export async function checkBudget(
  shop: BlockWorkshop,
  config: BlockConfig,
  candidates: readonly Candidate[],
  inputTokens: number,
): Promise<ReplyOutcome | undefined> {
  if (!hasCaps(config.budget)) return undefined;
  const worst = await Promise.all(candidates.map((candidate) => shop.world.calls.worstCase(candidate, inputTokens)));
  const verdict = await judge(shop, config, {
    usd: worst.reduce<number | null>((most, { usd }) => (usd === null ? most : Math.max(most ?? 0, usd)), null),
    tokens: Math.max(0, ...worst.map(({ tokens }) => tokens)),
  });
  if (verdict.kind === 'ok') return undefined;
  await shop.files.costs.update((costs) => ({ value: { ...costs, budget: verdict.stand }, result: undefined }));
  shop.log.write('WARN', 'budget.reached', { cap: verdict.cap, resets: new Date(verdict.resetsAt).toISOString() });
  const fix = `${verdict.fix} (blockhouse config set ${shop.name} budget.${verdict.cap}=…)`;
  return { kind: 'pause', until: verdict.resetsAt, actor: 'budget', reason: { code: 'BUDGET_REACHED', message: verdict.message, fix } };
}

/** What the ledger says of today and this month, and how the caps stand to it, for costs.json. */
export async function budgetStand(shop: BlockWorkshop, config: BlockConfig): Promise<BudgetStand> {
  return (await judge(shop, config, { usd: 0, tokens: 0 })).stand;
}

async function judge(shop: BlockWorkshop, { budget }: BlockConfig, worstCase: { usd: number | null; tokens: number }): Promise<BudgetVerdict> {
  const { ledger, now } = shop.world;
  const at = now();
  const [day, month] = await Promise.all([ledger.spend(shop.name, dayStart(at, budget.timezone)), ledger.spend(shop.name, monthStart(at, budget.timezone))]);
  return judgeBudget({ budget, day, month, worstCase, now: at });
}
