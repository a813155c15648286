// Checks whether a block could run.
import { toBlockhouseError } from '../../errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import { usableCandidates } from './candidates.ts';

/** True if a model is set and its credentials, or those of a fallback, are available. */
export function isConfigured(gateway: Pick<Gateway, 'readiness'>, config: BlockConfig): boolean {
  return usableCandidates(gateway, config).length > 0;
}

/** For `catch`: gives undefined for BLOCK_DAMAGED, and throws any other error again. */
export function unlessDamaged(error: unknown): undefined {
  if (toBlockhouseError(error).code !== 'BLOCK_DAMAGED') throw error;
}
