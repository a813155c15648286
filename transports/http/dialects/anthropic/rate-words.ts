// What is left of the limits by the minute, in Anthropic's headers. Pure: no I/O.
import type { KeyRates } from '../../../../core/index.ts';

/** Adds `anthropic-ratelimit-requests-remaining` and the like; the times in RFC 3339. `now` in epoch milliseconds. */
export function anthropicRates(rates: KeyRates, now: () => number, list: string[]): void {
  for (const unit of ['requests', 'tokens'] as const) {
    const state = rates[unit];
    if (state === undefined) continue;
    const reset = new Date(Math.ceil((now() + state.resetMs) / 1000) * 1000).toISOString().replace('.000', '');
    list.push(`anthropic-ratelimit-${unit}-limit`, String(state.limit));
    list.push(`anthropic-ratelimit-${unit}-remaining`, String(state.remaining));
    list.push(`anthropic-ratelimit-${unit}-reset`, reset);
  }
}
