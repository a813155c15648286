// How many servers like this one a request has passed, so that a loop of them ends. Pure: no I/O.
//
// bounded-hops: A request to a host that may be such a server says how many it has passed. One that has passed too many is refused, since it goes round in a loop.
import { BlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { originOf } from '../auth/settings.ts';
import type { ClientHeaders } from './conversation.ts';

/** The header with the number of servers. */
export const HOP_HEADER = 'x-blockhouse-hop';
/** More than people put one behind the other. */
const MAX_HOPS = 4;

/** How many servers a request has passed; 0 for one that does not say it. */
export function hopsIn(headers: ClientHeaders | undefined): number {
  const said = headers?.[HOP_HEADER];
  return typeof said === 'string' && /^\d{1,6}$/.test(said) ? Number(said) : 0;
}

/** Throws INVALID_REQUEST. bounded-hops. */
export function assertFewHops(headers: ClientHeaders | undefined): void {
  if (headers?.[HOP_HEADER] === undefined || hopsIn(headers) <= MAX_HOPS) return;
  throw new BlockhouseError(
    'INVALID_REQUEST',
    `The request has passed more than ${MAX_HOPS} servers (${HOP_HEADER}), so it goes round in a loop. Look at where the connections of these servers lead.`,
  );
}

/** The origins of services that are no such server: those of providers, and of presets that nobody runs on a machine of their own. */
export function serviceOrigins(adapters: readonly Adapter[]): ReadonlySet<string> {
  const urls = adapters.flatMap(({ settings, presets = {} }) => [
    ...(settings['baseURL']?.default === undefined ? [] : [settings['baseURL'].default]),
    ...Object.values(presets).flatMap(({ baseURL, isLocal }) => (baseURL === undefined || isLocal === true ? [] : [baseURL])),
  ]);
  return new Set(urls.flatMap((url) => originOf(url) ?? []));
}
