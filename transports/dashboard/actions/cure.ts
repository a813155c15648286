// Does what a cure says, or leads to where it is done.
import { navigate } from '../base/address.ts';
import { ownOf } from '../base/own.ts';
import { retryMessage, startBlock } from '../data/blocks.ts';
import type { Cure } from '../data/cures.ts';
import { setHalt } from '../data/halt.ts';
import { blockPath, pathOf } from '../data/route.ts';

/** The cures that this page can do, or lead to. Rejects with an ApiError. */
const CURES: Readonly<Record<string, (cure: Cure, block: string) => unknown>> = {
  'set-key': ({ adapter }) => navigate(pathOf('settings', { key: adapter })),
  'choose-model': ({ field }, block) => navigate(blockPath(block, 'config', { field: field ?? 'adapter' })),
  'raise-cap': ({ field }, block) => navigate(blockPath(block, 'config', { field: field ?? 'budget.dailyUsd' })),
  start: (_cure, block) => startBlock(block),
  unhalt: () => setHalt(undefined),
  'edit-config': ({ field }, block) => navigate(blockPath(block, 'config', { field })),
  'retry-message': ({ field }, block) => (field === undefined ? navigate(blockPath(block)) : retryMessage(block, field)),
};

/** True if the cure has a button here; `free-disk` and `open-file` are done elsewhere. */
export function canCure({ id }: Cure): boolean {
  return Object.hasOwn(CURES, id);
}

/** Rejects with an ApiError. */
export async function cure(action: Cure, block: string): Promise<void> {
  await ownOf(CURES, action.id)?.(action, action.block ?? block);
}
