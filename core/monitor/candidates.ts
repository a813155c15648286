// The models that may answer for a block. Pure: no I/O.
import { toBlockhouseError } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BlockConfig } from '../schemas/block.ts';
import type { ChatConfig } from '../schemas/chat.ts';

/** The longest answer where the configuration names none. */
export const DEFAULT_MAX_TOKENS = 4096;

/** A model that may answer: `adapter` or one of `fallbacks` of a configuration. */
export interface Candidate {
  readonly provider: string;
  readonly model: string;
  readonly config: ChatConfig;
}

/** The configured model first, then the fallbacks in their order. An address or a region of the first one is never used for another. */
export function candidatesOf({ adapter, fallbacks }: BlockConfig): Candidate[] {
  if (adapter === null) return [];
  const { provider, model, maxTokens, temperature, cacheControl, baseURL, region } = adapter;
  const common = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(cacheControl === true && { cacheControl }),
  };
  const place = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  return [{ provider, model, config: { ...common, ...place } }, ...fallbacks.map((other) => ({ ...other, config: common }))];
}

/** Those that can be called: their adapter exists, and has its credentials. */
export function usableCandidates(gateway: Pick<Gateway, 'readiness'>, config: BlockConfig): Candidate[] {
  return candidatesOf(config).filter((candidate) => isUsable(gateway, candidate));
}

function isUsable(gateway: Pick<Gateway, 'readiness'>, { provider, config }: Candidate): boolean {
  try {
    return gateway.readiness(provider, config, 'adapter.provider').missing === undefined;
  } catch (error) {
    // config.json names an unknown provider.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return false;
    throw error;
  }
}
