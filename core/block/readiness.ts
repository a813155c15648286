// Checks whether a block could run.
import { type BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BlockAdapter, BlockConfig } from '../schemas/block-config.ts';

type Readiness = Pick<Gateway, 'readiness'>;

/** What a provider still needs for the model; undefined if nothing is missing. Throws INVALID_REQUEST, which names the field, for an unknown one. */
export function missingFor(gateway: Readiness, { provider, baseURL, region }: BlockAdapter, field: string): BlockhouseError | undefined {
  const overrides = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  return gateway.readiness(provider, overrides, field).missing;
}

/** True if a model is set and its credentials are available. */
export function isConfigured(gateway: Readiness, adapter: BlockConfig['adapter']): boolean {
  if (adapter === null) return false;
  try {
    return missingFor(gateway, adapter, 'adapter.provider') === undefined;
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
