// Token counts as OpenAI's two endpoints report them. Counts of both include their details; the tier stands beside them. Pure: no I/O.
//
// reasoning-beside: xAI and Google's server for OpenAI's protocol leave reasoning out of `completion_tokens`, and count it in `total_tokens` alone. Where more is
//   reasoning than output, the output is without it.
// any-place: Groq has its usage in `x_groq`, too, and Moonshot in each choice. Servers name counts as either endpoint does. What is told twice counts once, the larger.
// cached-anywhere: Servers tell cached tokens in the details, as OpenAI does, or beside the other counts (DeepSeek, Moonshot).
// own-key-beside: OpenRouter tells what it charges itself. Where it calls a provider with the account's own key for that, the provider's bill stands beside it.
// no-empty-request: no request has 0 tokens. A server that says so beside an answer has not counted it, so it is left to the estimate.
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
export const EVENT_MEMBERS: Wanted = {
  type: 'whole',
  error: 'whole',
  response: ['usage', 'service_tier', 'error', 'id', 'model', 'status', 'incomplete_details'],
};

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

const DECIMAL = /^\d{1,9}(?:\.\d{1,20})?(?:e-\d{1,2})?$/i;

function amountOf(value: unknown): number | undefined {
  if (typeof value === 'string' && DECIMAL.test(value)) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Of Responses; undefined if there is none. */
export function usageOfResponse({ usage, service_tier: tier }: Metered): ReportedUsage | undefined {
  return isObject(usage) ? usageOf(usage, tier) : undefined;
}

/** Of Chat Completions, whole or one chunk; undefined if there is none. any-place. */
export function usageOfChat({ usage: told, x_groq: groq, service_tier: tier, choices }: Metered): ReportedUsage | undefined {
  const places = [told, asObject(groq)['usage']].filter(isObject).map((usage) => usageOf(usage, tier));
  const ofChoices = usagesOfChoices({ choices, service_tier: tier }).map(({ usage }) => usage);
  const all = ofChoices.length === 0 ? places : [...places, sumOfChoices(ofChoices)];
  const [first, ...others] = all;
  return others.length === 0 ? first : all.reduce<ReportedUsage>(larger, {});
}

/** What the choices of an answer or of a chunk say that each of them has used; none where they say nothing, as most do. */
export function usagesOfChoices({ choices, service_tier: tier }: Metered): { readonly choice: unknown; readonly usage: ReportedUsage }[] {
  return asArray(choices).flatMap((one) => {
    const { usage, index } = asObject(one);
    return isObject(usage) ? [{ choice: index, usage: usageOf(usage, tier) }] : [];
  });
}

/** What choices have used together: each has an output of its own, and all have the same input. */
export function sumOfChoices(usages: Iterable<ReportedUsage>): ReportedUsage {
  let sum: ReportedUsage = {};
  for (const usage of usages) sum = { ...larger(sum, usage), outputTokens: sumCounts(usage.outputTokens, sum.outputTokens) ?? sum.outputTokens };
  return sum;
}

/** The larger of each count. */
function larger(one: ReportedUsage, other: ReportedUsage): ReportedUsage {
  const counts: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = counts[name];
    counts[name] = typeof known === 'number' && typeof value === 'number' ? Math.max(known, value) : (known ?? value);
  }
  return counts as ReportedUsage;
}

function usageOf(usage: Fields, tier: unknown): ReportedUsage {
  const inputDetails = { ...asObject(usage['input_tokens_details']), ...asObject(usage['prompt_tokens_details']) };
  const outputDetails = { ...asObject(usage['output_tokens_details']), ...asObject(usage['completion_tokens_details']) };
  const citations = asCount(usage['citation_tokens']);
  const { input, output } = countsOf(usage, asCount(outputDetails['reasoning_tokens']) ?? 0);
  return {
    inputTokens: sumCounts(input, citations),
    outputTokens: sumCounts(output, citations === undefined ? 0 : asCount(usage['reasoning_tokens'])), // citations-beside
    cacheReadTokens: asCount(inputDetails['cached_tokens']) ?? asCount(usage['prompt_cache_hit_tokens']) ?? asCount(usage['cached_tokens']), // cached-anywhere
    cacheWriteTokens: asCount(inputDetails['cache_write_tokens']),
    inputAudioTokens: asPart(inputDetails['audio_tokens']),
    outputAudioTokens: asPart(outputDetails['audio_tokens']),
    reasoningTokens: asCount(outputDetails['reasoning_tokens']),
    unpricedTier: mayCostMore(tier) || undefined,
  };
}

/** any-place, reasoning-beside. Of a total alone nobody knows how much is input, so it counts as output, which costs more. */
function countsOf(usage: Fields, reasoning: number): { readonly input: number | undefined; readonly output: number | undefined } {
  const total = asCount(usage['total_tokens']);
  const input = asCount(usage['prompt_tokens']) ?? asCount(usage['input_tokens']);
  const told = asCount(usage['completion_tokens']) ?? asCount(usage['output_tokens']);
  const output = told !== undefined && reasoning > told ? sumCounts(told, reasoning) : told;
  if (input === 0 && output !== undefined && output > 0 && (total ?? output) === output) return { input: undefined, output }; // no-empty-request
  if (total === undefined) return { input, output };
  if (input !== undefined) return { input, output: Math.max(output ?? 0, total - input) };
  return output === undefined ? { input: 0, output: total } : { input: Math.max(0, total - output), output };
}
