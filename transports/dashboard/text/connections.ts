// Words of connections: named upstreams beside the five providers.
import type { Connection } from '../data/connections.ts';

export const connectionsText = {
  title: 'Connections',
  lead: 'Other services, further accounts and servers of your own, by names of yours. A model of one is name/model.',
  none: 'There is no connection yet.',
} as const;

/** `api.groq.com/openai/v1`. */
export function placeText(baseURL: string): string {
  return baseURL.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** What a connection's row says: ready and where, or what is missing. */
export function connectionText({ ready, detail, baseURL, keys }: Connection): string {
  if (!ready) return detail ?? 'Not ready.';
  const at = baseURL === null ? '' : ` at ${placeText(baseURL)}`;
  return `Ready${at}${keysText(keys)}.`;
}

function keysText(keys: Connection['keys']): string {
  const [only, ...others] = keys;
  if (only === undefined) return ', without a key';
  if (others.length === 0) return `, with the key in ${only.source}`;
  const resting = keys.filter(({ state }) => state !== 'ready').length;
  return `, with ${keys.length} keys${resting === 0 ? '' : `, ${resting} of them not used now`}`;
}
