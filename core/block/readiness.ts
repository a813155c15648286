// Whether a block could run.
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
    // Somebody wrote the name of an unknown provider into config.json.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return false;
    throw error;
  }
}

/** For a reader that can do without the file: anything but damage is thrown again. */
export function unlessDamaged(error: unknown): undefined {
  if (toBlockhouseError(error).code !== 'BLOCK_DAMAGED') throw error;
}
