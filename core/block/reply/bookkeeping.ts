// What is written after a call: its bill in costs.json (the ledger has it already), and in memory.json how full the window is.
import type { CallPurpose } from '../../schemas/block-costs.ts';
import { addCall } from '../costs/costs.ts';
import type { Bill } from './billing.ts';
import type { BlockContext } from './block-context.ts';
import { budgetStand } from './budget-check.ts';
import { isBlank, recoverCosts } from './costs-recovery.ts';
import { fittedConfig } from './fitted-config.ts';
import { needsCompaction, windowStand } from './window.ts';

/** Adds a call to costs.json, with the caps as they stand after it. */
export async function recordCall(
  context: Pick<BlockContext, 'name' | 'files' | 'world' | 'at'>,
  bill: Omit<Bill, 'latencyMs'> & { readonly latencyMs: number | null },
  purpose: CallPurpose,
  messageId: string | null,
): Promise<void> {
  // A file that was lost while the monitor ran is rebuilt from the ledger, which has this call already.
  const isCounted = isBlank(await context.files.costs.read()) && (await recoverCosts(context)) > 0;
  const budget = await budgetStand(context, await context.files.config.read());
  const call = { ...bill, purpose, messageId, budget };
  await context.files.costs.update((costs) => ({ value: isCounted ? { ...costs, budget } : addCall(costs, call), result: undefined }));
}

/** Counts the window again, as after each answer. `definitionTokens` of tools are part of it. Resolves with true when it has passed its threshold. */
export async function updateWindow(context: BlockContext, definitionTokens?: number): Promise<boolean> {
  const { files, claim } = context;
  const config = await fittedConfig(context);
  const history = await files.conversation.entries();
  return files.memory.update(
    (memory) => {
      const window = windowStand({ config, memory, history }, definitionTokens);
      return { value: { ...memory, window }, result: needsCompaction(window.tokens, config) };
    },
    { claim, isDerived: true },
  );
}
