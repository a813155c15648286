// Checks whether a block could run.
import { toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BlockConfig } from '../schemas/block-config.ts';

/** True if a model is set and its credentials are available. */
export function isConfigured(gateway: Pick<Gateway, 'readiness'>, adapter: BlockConfig['adapter']): boolean {
  if (adapter === null) return false;
  const { provider, baseURL, region } = adapter;
  const overrides = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  try {
    return gateway.readiness(provider, overrides, 'adapter.provider').missing === undefined;
  } catch (error) {
    // config.json names an unknown provider.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return false;
    throw error;
  }
}

/** For `catch`: gives undefined for BLOCK_DAMAGED, and throws any other error again. */
export function unlessDamaged(error: unknown): undefined {
  if (toBlockhouseError(error).code !== 'BLOCK_DAMAGED') throw error;
}
