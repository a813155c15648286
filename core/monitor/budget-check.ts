// Whether the next call of a block fits its caps, by the ledger.
//
// Before each call, what was spent, what calls of the block that are under way may yet cost, and the worst case of this one must fit. A call
// that does not fit only because of those under way waits for them, because they mostly cost less than their worst case.
import type { BlockContext } from '../block/block-context.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BudgetStand } from '../schemas/block-costs.ts';
import type { Ledger } from '../workspace/ledger.ts';
import type { Reservation } from '../workspace/reservations.ts';
import { type BudgetVerdict, hasCaps, judgeBudget } from './budget.ts';
import { dayStart, monthStart } from './calendar.ts';
import { CallRefused, type Pause } from './call-refused.ts';
import type { Candidate } from './candidates.ts';

type WorstCase = { readonly usd: number | null; readonly tokens: number };

/** The pause that a reached cap demands; undefined when the call fits what was spent. */
export async function checkBudget(
  context: BlockContext,
  config: BlockConfig,
  candidate: Candidate | undefined,
  inputTokens: number,
): Promise<Pause | undefined> {
  if (!hasCaps(config.budget) || candidate === undefined) return undefined;
  const verdict = await judge(context, config, await context.world.calls.billing.worstCase(candidate, inputTokens));
  return verdict.kind === 'ok' ? undefined : pauseOf(context, verdict);
}

/** Holds room for a call that is about to be made; undefined where there is no cap, or `signal` has fired. Throws CallRefused. */
export async function reserveCall(context: BlockContext, candidate: Candidate, inputTokens: number, signal: AbortSignal): Promise<Reservation | undefined> {
  const { ledger, calls } = context.world;
  while (!signal.aborted) {
    const config = await context.files.config.read();
    if (!hasCaps(config.budget)) return undefined;
    const worst = await calls.billing.worstCase(candidate, inputTokens);
    const book = await ledger.book();
    // No turn is given up between this look and the reservation, so that of two calls the second knows of the first.
    const held = ledger.reservations.sum(context.name);
    const alone = judgeWith(context, config, book, worst);
    if (alone.kind === 'exceeded') throw new CallRefused(await pauseOf(context, alone));
    const beside = held === undefined ? alone : judgeWith(context, config, book, { usd: (worst.usd ?? 0) + held.usd, tokens: worst.tokens + held.tokens });
    if (beside.kind === 'ok') return ledger.reservations.hold(context.name, { usd: worst.usd ?? 0, tokens: worst.tokens });
    await ledger.reservations.changed(context.name, signal);
  }
  return undefined;
}

async function pauseOf(context: BlockContext, verdict: BudgetVerdict & { readonly kind: 'exceeded' }): Promise<Pause> {
  await context.files.costs.update((costs) => ({ value: { ...costs, budget: verdict.stand }, result: undefined }));
  context.log.write('WARN', 'budget.reached', { cap: verdict.cap, resets: new Date(verdict.resetsAt).toISOString() });
  const fix = `${verdict.fix} (blockhouse config set ${context.name} budget.${verdict.cap}=…)`;
  return { kind: 'pause', until: verdict.resetsAt, actor: 'budget', reason: { code: 'BUDGET_REACHED', message: verdict.message, fix } };
}

/** What the ledger says of today and this month, and how the caps stand to it, for costs.json. */
export async function budgetStand(context: BlockContext, config: BlockConfig): Promise<BudgetStand> {
  return (await judge(context, config, { usd: 0, tokens: 0 })).stand;
}

async function judge(context: BlockContext, config: BlockConfig, worstCase: WorstCase): Promise<BudgetVerdict> {
  return judgeWith(context, config, await context.world.ledger.book(), worstCase);
}

function judgeWith({ name, world }: BlockContext, { budget }: BlockConfig, book: Awaited<ReturnType<Ledger['book']>>, worstCase: WorstCase): BudgetVerdict {
  const now = world.now();
  const [day, month] = [book.spend(name, dayStart(now, budget.timezone)), book.spend(name, monthStart(now, budget.timezone))];
  return judgeBudget({ budget, day, month, worstCase, now });
}
