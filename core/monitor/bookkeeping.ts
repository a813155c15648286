// What is written down after a call: its bill in costs.json, for the ledger has it already, and how full the window is in memory.json.
import type { BlockWorkshop } from '../block/workshop.ts';
import type { CallPurpose } from '../schemas/block.ts';
import { budgetStand } from './budget-check.ts';
import { addCall } from './costs.ts';
import { fittedConfig } from './fitted-config.ts';
import type { Bill } from './model-call.ts';
import { needsCompaction, windowStand } from './window.ts';

export async function recordCall(shop: BlockWorkshop, bill: Bill, purpose: CallPurpose, messageId: string | null): Promise<void> {
  const budget = await budgetStand(shop, await shop.files.config.read());
  const call = { ...bill, purpose, messageId, budget };
  await shop.files.costs.update((costs) => ({ value: addCall(costs, call), result: undefined }));
}

/** True when the window has passed its threshold. */
export async function updateWindow(shop: BlockWorkshop): Promise<boolean> {
  const { files } = shop;
  const config = await fittedConfig(shop);
  const history = await files.chat.read();
  return files.memory.update((memory) => {
    const window = windowStand({ config, memory, history });
    return { value: { ...memory, window }, result: needsCompaction(window.tokens, config) };
  });
}
