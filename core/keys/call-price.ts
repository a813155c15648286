// Whether the price of a call is known, for keys that refuse calls without one. Pure: no I/O.
import { BlockhouseError } from '../errors.ts';
import type { AccountedCall } from '../gateway/account.ts';
import type { Pricer } from '../gateway/pricing.ts';
import type { Usage } from '../types.ts';
import type { NamedKey } from './named-key.ts';

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
/** A token that stays in the cache for an hour. */
const HOUR_IN_CACHE: Usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1, cacheWriteTokens: 1, cacheWrite1hTokens: 1 };
/** A token of audio. A model for audio answers nothing without any. */
const AUDIO: Usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1, inputAudioTokens: 1 };
/** The least answer of a model that writes. */
const LEAST_ANSWER: Usage = { ...HOUR_IN_CACHE, outputTokens: 1, totalTokens: 2 };

/** What decides whether a call has a price. */
type CallToPrice = Pick<AccountedCall, 'adapterId' | 'model' | 'hasOutput' | 'asksForHourInCache'>;

/** Throws PRICE_UNKNOWN for a call that surely has no price. One whose answer turns out to have none counts with what it costs at least. */
export function assertPriced(key: NamedKey, call: CallToPrice, pricer: Pricer, wasUncounted: boolean): void {
  const { exact } = pricer;
  if (exact(NO_USAGE) === null || (wasUncounted && !isBounded(call, pricer))) throw priceUnknown(key, call, '');
  if (lacksAudio(pricer)) throw priceUnknown(key, call, ' for audio');
  if (exact(HOUR_IN_CACHE) === null && call.asksForHourInCache()) throw priceUnknown(key, call, ' with an hour in its cache');
}

/** To look for a price takes as long as a small request, so the answer is kept for as long as the price is. */
const withoutAudio = new WeakMap<Pricer, boolean>();

/** True for a model for audio that has prices of text alone. */
function lacksAudio(pricer: Pricer): boolean {
  if (pricer.learn !== undefined) return false; // the answer tells what it costs
  const known = withoutAudio.get(pricer);
  if (known !== undefined) return known;
  const lacks = pricer.exact(AUDIO) === null;
  withoutAudio.set(pricer, lacks);
  return lacks;
}

/** True if it is known what an answer costs at least that tells nothing of that. */
export function isBounded({ hasOutput }: Pick<AccountedCall, 'hasOutput'>, { least }: Pricer): boolean {
  return least(hasOutput ? LEAST_ANSWER : HOUR_IN_CACHE) !== null;
}

function priceUnknown(key: NamedKey, { adapterId, model }: CallToPrice, what: string): BlockhouseError {
  const group = key.bounds.find(({ kind, unpriced }) => kind === 'group' && unpriced === 'refuse');
  const ofGroup = group === undefined ? '' : `, and \`blockhouse key group set ${group.name} --unpriced allow\``;
  const message = `The price of ${adapterId}/${model}${what} is not known, and the key ${key.name} refuses calls that its cap would not count. Ask a model with a known price, or allow such calls: \`blockhouse key set ${key.name} --unpriced allow\`${ofGroup}.`;
  return new BlockhouseError('PRICE_UNKNOWN', message);
}
