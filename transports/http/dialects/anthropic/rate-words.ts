// What is left of the limits by the minute, in Anthropic's headers. Pure: no I/O.
import type { KeyRates } from '../../../../core/index.ts';

/** `anthropic-ratelimit-requests-remaining` and the like; the times in RFC 3339. `now` in epoch milliseconds. */
export function anthropicRates(rates: KeyRates, now: () => number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const unit of ['requests', 'tokens'] as const) {
    const state = rates[unit];
    if (state === undefined) continue;
    headers[`anthropic-ratelimit-${unit}-limit`] = String(state.limit);
    headers[`anthropic-ratelimit-${unit}-remaining`] = String(state.remaining);
    headers[`anthropic-ratelimit-${unit}-reset`] = new Date(Math.ceil((now() + state.resetMs) / 1000) * 1000).toISOString().replace('.000', '');
  }
  return headers;
}
