// Token counts as OpenAI's two endpoints report them. Counts of both include their details; the tier stands beside them. Pure: no I/O.
//
// reasoning-beside: xAI and Google's server for OpenAI's protocol leave reasoning out of `completion_tokens`, and count it in `total_tokens` alone.
// cached-anywhere: Servers tell cached tokens in the details, as OpenAI does, or beside the other counts (DeepSeek, Moonshot). Groq has its usage in `x_groq`, too.
// own-key-beside: OpenRouter tells what it charges itself. Where it calls a provider with the account's own key for that, the provider's bill stands beside it.
// citations-beside: Perplexity bills the tokens of its reasoning and citations, and has them beside all other counts.
import { isObject } from '../../core/base/json.ts';
import type { ReportedUsage } from '../../core/index.ts';
import type { Wanted } from '../shared/protocol.ts';
import { asArray, asCount, asObject, asPart, sumCounts } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';

/** What an answer of either endpoint says of itself at its top level. */
interface Metered {
  readonly usage?: unknown;
  readonly x_groq?: unknown;
  readonly service_tier?: unknown;
  readonly choices?: unknown;
}

/** Of an event of Responses, what says of a whole answer how it ended and what it used. Its first events and its last one repeat the request and the answer. */
export const EVENT_MEMBERS: Wanted = { type: 'whole', error: 'whole', response: ['usage', 'service_tier', 'error'] };

/** The same with the member of the response that tells what it costs. */
export function eventMembers(costField: string | undefined): Wanted {
  if (costField === undefined) return EVENT_MEMBERS;
  return { ...EVENT_MEMBERS, response: [...(EVENT_MEMBERS['response'] ?? []), topOf(costField)] };
}

/** The member at the top of an answer in which a field is. */
export function topOf(field: string): string {
  return field.split('.', 1)[0] ?? '';
}

type Fields = Readonly<Record<string, unknown>>;

/** Adds what the answer says that the call costs, where a connection reads it from there (`usage.cost`). The usage may be in another chunk. */
export function withCost(usage: ReportedUsage | undefined, answer: Fields, costField: string | undefined): ReportedUsage | undefined {
  if (costField === undefined) return usage;
  const path = costField.split('.');
  const holder = path.slice(0, -1).reduce<Fields>((value, name) => asObject(value[name]), answer);
  const costUsd = billIn(holder, path.at(-1) ?? '');
  return costUsd === undefined ? usage : { ...usage, costUsd };
}

/** own-key-beside: undefined if one of both is not told. */
function billIn(holder: Fields, name: string): number | undefined {
  const charged = amountOf(holder[name]);
  if (charged === undefined || holder['is_byok'] !== true) return charged;
  const ofProvider = amountOf(asObject(holder['cost_details'])['upstream_inference_cost']);
  return ofProvider === undefined ? undefined : charged + ofProvider;
}

function amountOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Of Responses; undefined if there is none. */
export function usageOfResponse({ usage, service_tier: tier }: Metered): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined;
  return usageOf(usage, usage['input_tokens'], usage['output_tokens'], usage['input_tokens_details'], usage['output_tokens_details'], tier);
}

/** Of Chat Completions, whole or one chunk; undefined if there is none. Groq also tells it in `x_groq`, and Moonshot streams it in the first choice. */
export function usageOfChat({ usage: told, x_groq: groq, service_tier: tier, choices }: Metered): ReportedUsage | undefined {
  const usage = [told, asObject(groq)['usage'], asObject(asArray(choices)[0])['usage']].find(isObject);
  if (!isObject(usage)) return undefined;
  return usageOf(usage, usage['prompt_tokens'], usage['completion_tokens'], usage['prompt_tokens_details'], usage['completion_tokens_details'], tier);
}

function usageOf(usage: Fields, input: unknown, output: unknown, ofInput: unknown, ofOutput: unknown, tier: unknown): ReportedUsage {
  const [inputDetails, outputDetails] = [asObject(ofInput), asObject(ofOutput)];
  const citations = asCount(usage['citation_tokens']);
  return {
    inputTokens: sumCounts(asCount(input), citations),
    outputTokens: sumCounts(outputOf(usage, asCount(input), asCount(output)), citations === undefined ? 0 : asCount(usage['reasoning_tokens'])), // citations-beside
    cacheReadTokens: asCount(inputDetails['cached_tokens']) ?? asCount(usage['prompt_cache_hit_tokens']) ?? asCount(usage['cached_tokens']), // cached-anywhere
    cacheWriteTokens: asCount(inputDetails['cache_write_tokens']),
    inputAudioTokens: asPart(inputDetails['audio_tokens']),
    outputAudioTokens: asPart(outputDetails['audio_tokens']),
    reasoningTokens: asCount(outputDetails['reasoning_tokens']),
    unpricedTier: mayCostMore(tier) || undefined,
  };
}

/** reasoning-beside. */
function outputOf({ total_tokens: reported }: Fields, input: number | undefined, output: number | undefined): number | undefined {
  const total = asCount(reported);
  return total === undefined || input === undefined ? output : Math.max(output ?? 0, total - input);
}
