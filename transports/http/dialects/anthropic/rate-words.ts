// What is left of the limits by the minute, in Anthropic's headers. Pure: no I/O.
import type { KeyRates } from '../../../../core/index.ts';

/** The last second that is written with four digits of a year: a provider may say that a call has used any number of tokens. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Adds `anthropic-ratelimit-requests-remaining` and the like; the times in RFC 3339. `now` in epoch milliseconds. */
export function anthropicRates(rates: KeyRates, now: () => number, list: string[]): void {
  for (const unit of ['requests', 'tokens'] as const) {
    const state = rates[unit];
    if (state === undefined) continue;
    const reset = new Date(Math.min(Math.ceil((now() + state.resetMs) / 1000) * 1000, LAST_MS)).toISOString().replace('.000', '');
    list.push(`anthropic-ratelimit-${unit}-limit`, String(state.limit));
    list.push(`anthropic-ratelimit-${unit}-remaining`, String(state.remaining));
    list.push(`anthropic-ratelimit-${unit}-reset`, reset);
  }
}
