// The headers that tell a client what is left of the limits of its key. Pure: no I/O.
//
// own-limits: they take the place of the provider's, which are those of all clients together.
// flat-list: they are added to the list of names and values that Node takes as it is; an object of them would be made and taken apart for each answer.
import type { KeyRates } from '../../../core/index.ts';

/** Adds the headers of the answer that is written now to a list, names and values in turn (flat-list). */
export type RateHeaders = (list: string[]) => void;

/** How a protocol writes what is left. `now` in epoch milliseconds. */
export type RateWords = (rates: KeyRates, now: () => number, list: string[]) => void;

const OF_PROVIDER = /^[a-z]+-ratelimit-/;

/** True for a header that says what is left of the limits of the provider (own-limits). */
export function isOfProvider(name: string): boolean {
  return OF_PROVIDER.test(name);
}

/** Headers of an answer to a key with limits by the minute; those of any other answer stay as they are. */
export function withRates(headers: Readonly<Record<string, string>> | undefined, rates: RateHeaders): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) if (!isOfProvider(name)) all[name] = value; // own-limits
  const list: string[] = [];
  rates(list);
  for (let at = 0; at < list.length; at += 2) all[list[at] ?? ''] = list[at + 1] ?? '';
  return all;
}

/** As OpenAI writes it: `x-ratelimit-remaining-requests` and the like; the times as `6m0s`. */
export function usualRates({ requests, tokens }: KeyRates, _now: () => number, list: string[]): void {
  // Each name written out: one that is put together costs as much as to write the header.
  if (requests !== undefined) {
    list.push('x-ratelimit-limit-requests', String(requests.limit), 'x-ratelimit-remaining-requests', String(requests.remaining));
    list.push('x-ratelimit-reset-requests', durationOf(requests.resetMs));
  }
  if (tokens !== undefined) {
    list.push('x-ratelimit-limit-tokens', String(tokens.limit), 'x-ratelimit-remaining-tokens', String(tokens.remaining));
    list.push('x-ratelimit-reset-tokens', durationOf(tokens.resetMs));
  }
}

/** By their number; none is longer than a minute unless a limit was lowered. */
const SECONDS = Array.from({ length: 60 }, (_, seconds) => `${seconds}s`);

function durationOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return SECONDS[seconds] ?? `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
