// Brings costs.json up to the ledger: the file is derived, and may be older than the last calls after a crash, or lost.
//
// ledger-is-the-truth: what is missing is counted from the ledger's own lines. Caps and reports never look at costs.json.
import type { BlockContext } from '../block/block-context.ts';
import type { BlockCosts } from '../schemas/block-costs.ts';
import type { LedgerLine } from '../workspace/ledger.ts';
import { addCall, mergeCosts, noCosts } from './costs.ts';

/** True for a file that knows nothing, not even that it was reset: it is new, or it was lost. */
export function isBlank({ lastUpdated, lastReset }: BlockCosts): boolean {
  return lastUpdated === null && lastReset === null;
}

/**
 * Adds the calls of the ledger that are newer than costs.json; for a blank file, all calls since the block was created. Resolves with their
 * number. Rejects with STORAGE_FAILED, or the system's own error, while a file can't be read.
 */
export async function recoverCosts(context: BlockContext): Promise<number> {
  const { files, world, name } = context;
  const costs = await files.costs.read();
  const since = await knownUntil(context, costs);
  const newest = (await world.ledger.book()).newest(name);
  if (!isBlank(costs) && (newest === undefined || newest <= since)) return 0;
  const missed = await sumOf(world.ledger.newestFirst(name, since));
  await files.costs.update((now) => {
    // A call that was recorded meanwhile is among those found.
    if (now.lastUpdated !== costs.lastUpdated || now.lastReset !== costs.lastReset) return { value: now, result: undefined };
    const value = mergeCosts(now, missed);
    return { value: { ...value, lastUpdated: value.lastUpdated ?? context.at() }, result: undefined };
  });
  return missed.calls;
}

/** Epoch milliseconds up to which costs.json has everything. */
async function knownUntil({ files }: BlockContext, { lastUpdated, lastReset }: BlockCosts): Promise<number> {
  const at = Date.parse(lastUpdated ?? lastReset ?? (await files.config.read()).createdAt);
  return Number.isNaN(at) ? 0 : at;
}

/** The newest line comes first, so that the first one is the last call. */
async function sumOf(lines: AsyncIterable<LedgerLine>): Promise<BlockCosts> {
  let sum = noCosts();
  let lastCall: BlockCosts['lastCall'] = null;
  for await (const line of lines) {
    sum = addCall(sum, { ...line, latencyMs: null, ttftMs: null, failed: line.failed === true });
    lastCall ??= sum.lastCall;
  }
  return { ...sum, lastCall };
}
