// Whether a server of tools is this server itself, over /mcp: a block that calls it would talk to itself, or to blocks that talk to it. Pure: no I/O.
import { urlOf } from '../base/url.ts';
import type { JsonRecord } from './servers.ts';

/** Who answers at an address: `core.ownAddresses`. */
export interface OwnerOfAddress {
  ownerOf(url: URL): 'this server itself' | 'another server of this workspace' | undefined;
}

const PROGRAM = /(?:^|[\\/@])blockhouse(?:@[^\\/]*)?(?:\.cmd|\.exe)?$/i;
const MAIN = /[\\/]blockhouse[\\/](?:dist[\\/])?cli[\\/]main\.(?:js|ts)$/i;

/**
 * Why an entry of mcp.json leads back here; undefined if it does not, as far as it can be seen. A program in between can't be seen: it is stopped when it comes, by the header
 * `x-blockhouse-instance` over HTTP, and by BLOCKHOUSE_SERVER in the environment of `blockhouse mcp`.
 */
export function leadsBack({ url, command, args }: JsonRecord, addresses: OwnerOfAddress): string | undefined {
  const address = typeof url === 'string' ? urlOf(url) : undefined;
  const owner = address === undefined ? undefined : addresses.ownerOf(address);
  if (owner !== undefined) return `leads to ${owner}, so blocks would call themselves`;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word): word is string => typeof word === 'string');
  const program = words.findIndex((word) => PROGRAM.test(word) || MAIN.test(word));
  if (program === -1 || !words.slice(program + 1).includes('mcp')) return undefined;
  return 'starts `blockhouse mcp`, so blocks would call themselves';
}
