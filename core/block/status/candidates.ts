// The models that may answer for a block. Pure: no I/O.
import { type BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { BlockAdapter, type BlockConfig } from '../../schemas/block-config.ts';
import type { ChatConfig } from '../../schemas/chat.ts';

type Readiness = Pick<Gateway, 'readiness'>;

/** A model that may answer: `adapter` or one of `fallbacks` of a configuration. */
export interface Candidate {
  readonly provider: string;
  readonly model: string;
  readonly config: ChatConfig;
}

const PLACE: readonly string[] = ['provider', 'model', 'baseURL', 'region'] satisfies (keyof BlockAdapter)[];
/** The fields of `adapter` that are settings of every request, also of one to a fallback. */
const SETTINGS = Object.keys(BlockAdapter.properties).filter((name) => !PLACE.includes(name));

/** The configured model first, then the fallbacks in their order. The address and region of the first are never used for a fallback. */
export function candidatesOf({ adapter, fallbacks }: BlockConfig): Candidate[] {
  if (adapter === null) return [];
  const { provider, model, baseURL, region } = adapter;
  const common: ChatConfig = Object.fromEntries(Object.entries(adapter).filter(([name, value]) => SETTINGS.includes(name) && value !== false));
  const place = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
  return [{ provider, model, config: { ...common, ...place } }, ...fallbacks.map((other) => ({ ...other, config: common }))];
}

/** What a provider still needs for the model; undefined if nothing is missing. Throws INVALID_REQUEST, which names the field, if it is unknown. */
export function missingFor(gateway: Readiness, { provider, config }: Candidate, field: string): BlockhouseError | undefined {
  return gateway.readiness(provider, config, field).missing;
}

/** The candidates that can be called: their provider is known and has its credentials. */
export function usableCandidates(gateway: Readiness, config: BlockConfig): Candidate[] {
  return candidatesOf(config).filter((candidate) => isUsable(gateway, candidate));
}

function isUsable(gateway: Readiness, candidate: Candidate): boolean {
  try {
    return missingFor(gateway, candidate, 'adapter.provider') === undefined;
  } catch (error) {
    // config.json names an unknown provider.
    if (toBlockhouseError(error).code === 'INVALID_REQUEST') return false;
    throw error;
  }
}
