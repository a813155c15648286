// Whether a block could run, and what can be said of one that could not.
import { toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BlockConfig } from '../schemas/block.ts';

/** True when a model is set, and its credentials are there. */
export function isConfigured(gateway: Pick<Gateway, 'readiness'>, adapter: BlockConfig['adapter']): boolean {
  if (adapter === null) return false;
  const { provider, baseURL, region } = adapter;
  const overrides = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  try {
    return gateway.readiness(provider, overrides, 'adapter.provider').missing === undefined;
  } catch (error) {
    // A provider that there is not, written by hand.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return false;
    throw error;
  }
}

/** For the reader of a file that it can do without. */
export function unlessDamaged(error: unknown): undefined {
  if (toBlockhouseError(error).code !== 'BLOCK_DAMAGED') throw error;
}
