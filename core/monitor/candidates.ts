// The models that may answer for a block. Pure: no I/O.
import type { BlockConfig } from '../schemas/block-config.ts';
import type { ChatConfig } from '../schemas/chat.ts';

/** `maxTokens` when the configuration sets none. */
export const DEFAULT_MAX_TOKENS = 4096;

/** A model that may answer: `adapter` or one of `fallbacks` of a configuration. */
export interface Candidate {
  readonly provider: string;
  readonly model: string;
  readonly config: ChatConfig;
}

/** The configured model first, then the fallbacks in their order. The address and region of the first are never used for a fallback. */
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
