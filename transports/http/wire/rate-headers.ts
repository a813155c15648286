// The headers that tell a client what is left of the limits of its key. Pure: no I/O.
//
// own-limits: they take the place of the provider's, which are those of all clients together.
import type { KeyRates } from '../../../core/index.ts';

/** Makes the headers of the answer that is written now. */
export type RateHeaders = () => Readonly<Record<string, string>>;

/** How a protocol writes what is left. `now` in epoch milliseconds. */
export type RateWords = (rates: KeyRates, now: () => number) => Readonly<Record<string, string>>;

const OF_PROVIDER = /^[a-z]+-ratelimit-/;

/** Headers of an answer to a key with limits by the minute; those of any other answer stay as they are. */
export function withRates(headers: Readonly<Record<string, string>> | undefined, rates: RateHeaders): Readonly<Record<string, string>> {
  if (headers === undefined) return rates();
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (!OF_PROVIDER.test(name)) kept[name] = value; // own-limits
  return Object.assign(kept, rates());
}

/** As OpenAI writes it: `x-ratelimit-remaining-requests` and the like; the times as `6m0s`. */
export function usualRates({ requests, tokens }: KeyRates): Record<string, string> {
  const headers: Record<string, string> = {}; // each name written out: one that is put together costs as much as to write the header
  if (requests !== undefined) {
    headers['x-ratelimit-limit-requests'] = String(requests.limit);
    headers['x-ratelimit-remaining-requests'] = String(requests.remaining);
    headers['x-ratelimit-reset-requests'] = durationOf(requests.resetMs);
  }
  if (tokens !== undefined) {
    headers['x-ratelimit-limit-tokens'] = String(tokens.limit);
    headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining);
    headers['x-ratelimit-reset-tokens'] = durationOf(tokens.resetMs);
  }
  return headers;
}

/** By their number; none is longer than a minute unless a limit was lowered. */
const SECONDS = Array.from({ length: 60 }, (_, seconds) => `${seconds}s`);

function durationOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return SECONDS[seconds] ?? `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
