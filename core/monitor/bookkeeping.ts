// Writes a call into costs.json; the ledger has it already.
import type { BlockWorkshop } from '../block/workshop.ts';
import type { CallPurpose } from '../schemas/block.ts';
import { budgetStand } from './budget-check.ts';
import { addCall } from './costs.ts';
import type { Bill } from './model-call.ts';

export async function recordCall(shop: BlockWorkshop, bill: Bill, purpose: CallPurpose, messageId: string | null): Promise<void> {
  const budget = await budgetStand(shop, await shop.files.config.read());
  const call = { ...bill, purpose, messageId, ...(budget !== undefined && { budget }) };
  await shop.files.costs.update((costs) => ({ value: addCall(costs, call), result: undefined }));
}
