// Words of the page of the gateway.
import { NONE, plural } from '../base/format.ts';
import type { Connection } from '../data/connections.ts';
import type { Credential } from '../data/credentials.ts';

export const gatewayText = {
  title: 'Gateway',
  provider: 'Provider',
  state: 'State',
  keyFrom: 'Key source',
  model: 'Default model',
  atWork: 'At work',
  waiting: 'Waiting',
  activity: 'Requests',
  firstText: 'First text',
  whole: 'Whole',
  errors: 'Errors',
  ready: 'Ready',
  notReady: 'Not ready',
  rate: 'Requests a minute',
  seconds: 'Seconds to first text',
  tokens: 'Thousand tokens a minute',
  median: 'Median',
  p95: '95th percentile',
  input: 'In',
  output: 'Out',
  live: 'Live',
  ended: 'Last 500',
  failed: 'Failed',
  began: 'Began',
  request: 'Request',
  for: 'For',
  soFar: 'Took',
  tokensShort: 'Tokens',
  end: 'End this request',
  noLive: 'No request is under way.',
  noEnded: 'No request has ended since the server started.',
  noFigures: 'No provider was called in this time.',
  waits: 'waits',
  toFirst: 'to first text',
  streams: 'answers',
  setKey: 'Set the key',
  showKeys: 'Show its keys',
  client: 'a client',
} as const;

export const WINDOW_NAMES = { '15m': '15 min', '90m': '90 min', '24h': '24 h' } as const;

/** `5 providers, 16 requests at work`. */
export function gatewayLead(providers: number, atWork: number): string {
  return `${plural(providers, 'provider', 'providers')}, ${plural(atWork, 'request', 'requests')} at work`;
}

/** A provider that is not called for a while; without `until`, one that is being tried. */
export function pausedText(until: string | undefined): string {
  return until === undefined ? 'Tried again, because its calls failed' : `Left alone until ${until}, because its calls fail`;
}

/** A model that is not called for a while, although its provider is. */
export function pausedModelText(model: string, until: string): string {
  return `${model} is left alone until ${until}, because its calls fail`;
}

/** `Requests, in steps of 5 s`; `Tokens, in steps of 8 min`. */
export function countText(of: string, ms: number): string {
  return `${of}, in steps of ${ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`}`;
}

/** `0 to 14 s`. */
export function scaleText(seconds: number): string {
  return `0 to ${seconds} s`;
}

/** Where the key of a provider or connection is: `GROQ_API_KEY`, `auth.json …abcd`, `3 keys, 1 not used now`. */
export function keyFromText(connection: Connection | undefined, credential: Credential | undefined): string {
  const keys = connection?.keys ?? [];
  if (keys.length > 1) {
    const resting = keys.filter(({ state }) => state !== 'ready').length;
    return `${keys.length} keys${resting === 0 ? '' : `, ${resting} not used now`}`;
  }
  const from = (credential?.source === 'env' ? credential.variable : credential?.source) ?? keys[0]?.source;
  const hint = credential?.hint ? ` …${credential.hint}` : '';
  return from === undefined ? NONE : `${from}${hint}`;
}
