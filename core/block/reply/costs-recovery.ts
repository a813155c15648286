// Updates costs.json from the ledger. The file is derived from it, and may lack the last calls after a crash, or be lost.
//
// ledger-is-the-truth: what is missing is counted from the ledger's own lines. Caps and reports never look at costs.json.
import type { BlockCosts } from '../../schemas/block-costs.ts';
import type { LedgerLine } from '../../store/port.ts';
import { addCall } from '../costs/costs.ts';
import type { BlockContext } from './block-context.ts';

/** True for a file without a call or a reset: it is new or was lost. */
export function isBlank({ lastUpdated, lastReset }: BlockCosts): boolean {
  return lastUpdated === null && lastReset === null;
}

/**
 * Adds the calls of the ledger that are newer than costs.json; for a blank file, all calls since the block was created. Resolves with their
 * number. Rejects with STORAGE_FAILED, or the system's own error, while a file can't be read.
 */
export async function recoverCosts(context: Pick<BlockContext, 'name' | 'files' | 'world' | 'at'>): Promise<number> {
  const { files, world, name } = context;
  const costs = await files.costs.read();
  const since = await knownUntil(context, costs);
  const newest = await world.store.ledger.newest(name);
  if (!isBlank(costs) && (newest === undefined || newest <= since)) return 0;
  const { sum, calls } = await addCalls(costs, world.store.ledger.newestFirst(name, since));
  const isKept = await files.costs.update((now) => {
    // Another call or a reset was recorded meanwhile. It is in the file, but perhaps not in the sum.
    if (now.lastUpdated !== costs.lastUpdated || now.lastReset !== costs.lastReset) return { value: now, result: false };
    // The calls belong to no session.
    const { sessionInput, sessionOutput, sessionCost, budget } = now;
    return { value: { ...sum, sessionInput, sessionOutput, sessionCost, budget, lastUpdated: sum.lastUpdated ?? context.at() }, result: true };
  });
  return isKept ? calls : 0;
}

/** Epoch milliseconds up to which costs.json has everything. */
async function knownUntil({ files }: Pick<BlockContext, 'files'>, { lastUpdated, lastReset }: BlockCosts): Promise<number> {
  const at = Date.parse(lastUpdated ?? lastReset ?? (await files.config.read()).createdAt);
  return Number.isNaN(at) ? 0 : at;
}

/** `lines` are newest first, so the first one is the last call. */
async function addCalls(costs: BlockCosts, lines: AsyncIterable<LedgerLine>): Promise<{ sum: BlockCosts; calls: number }> {
  let sum = costs;
  let calls = 0;
  let lastCall: BlockCosts['lastCall'] = null;
  for await (const line of lines) {
    sum = addCall(sum, { ...line, latencyMs: null, ttftMs: null, failed: line.failed === true });
    if (line.purpose !== 'tool') lastCall ??= sum.lastCall;
    calls += 1;
  }
  return { sum: { ...sum, lastCall: lastCall ?? costs.lastCall }, calls };
}
