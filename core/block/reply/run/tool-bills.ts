// What calls of tools cost that have a price: their lines in the ledger, and whether the caps have room for them.
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import type { Pause } from '../../actor/call-refused.ts';
import type { BlockContext } from '../block-context.ts';
import { recordCall } from '../bookkeeping.ts';
import { pauseAt } from '../budget-check.ts';
import type { ReadyCall } from './check-calls.ts';
import type { JournalOptions, PaidCall } from './run-journal.ts';

/** The name in place of a provider's. */
const PROVIDER = 'tool';
const USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 } as const;

/** Writes the line of a call of this message. */
export function payerOf(
  context: Pick<BlockContext, 'name' | 'files' | 'world' | 'at'>,
  messageId: string,
  message: Pick<ChatEntry, 'chain'> | undefined,
): JournalOptions['pay'] {
  const { name, world } = context;
  const key = message?.chain?.find((link) => link.key !== undefined)?.key; // with which it was sent
  return async ({ place, tool, usd, maybeSince }: PaidCall) => {
    const id = `${name}/${messageId}/${place}`;
    if (maybeSince !== undefined && (await isPaid(context, id, maybeSince))) return;
    const call = { at: context.at(), provider: PROVIDER, model: tool, usage: USAGE, costUsd: usd };
    await world.calls.billing.writeTool({ ...call, id, block: name, messageId }, key);
    await recordCall(context, { ...call, latencyMs: null, ttftMs: null, failed: false }, 'tool', messageId);
  };
}

async function isPaid({ name, world }: Pick<BlockContext, 'name' | 'world'>, id: string, since: string): Promise<boolean> {
  for await (const line of world.store.ledger.newestFirst(name, Date.parse(since) - 1)) if (line.id === id) return true;
  return false;
}

/** The pause for calls that do not fit beside what was spent; undefined where they fit. */
export async function capPause(context: BlockContext, config: BlockConfig, ready: readonly ReadyCall[]): Promise<Pause | undefined> {
  const usd = ready.reduce((sum, { call, tool }) => sum + (call.tries > 0 ? 0 : (tool.usd ?? 0)), 0);
  return usd === 0 ? undefined : pauseAt(context, config, { usd, tokens: 0 });
}
