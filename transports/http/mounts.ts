// Route groups that a host program adds under a prefix. Pure: no I/O.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ROUTES } from './routes.ts';
import { PAGE_PATH } from './static.ts';

/** A group of routes of the host program. */
export interface Mount {
  /** Such as `/my-app`; requests for this path and all paths below it go to the handler. */
  readonly prefix: string;
  /** Writes the whole answer itself. If it throws before it has begun to write, the client gets a 500 with an error body. */
  readonly handler: (req: IncomingMessage, res: ServerResponse) => unknown;
  /** Paths below the prefix that need no token; `/` is the prefix itself. All other paths need the token. */
  readonly public?: readonly string[];
}

/** The first part of the path of each route of the server. */
const RESERVED = [...new Set(ROUTES.map(({ path }) => `/${path.split('/')[1]}`))];
const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/;

/** Throws an Error for a prefix that is malformed, used twice, or shadows the server's own routes. */
export function checkMounts(mounts: readonly Mount[], hasPage = false): void {
  const reserved = hasPage ? [...RESERVED, PAGE_PATH] : RESERVED;
  const seen = new Set<string>();
  for (const { prefix } of mounts) {
    if (!PREFIX.test(prefix) || /\/\.\.?(\/|$)/.test(prefix)) throw new Error(`The mount prefix ${JSON.stringify(prefix)} must look like /name.`);
    if (reserved.some((own) => prefix === own || prefix.startsWith(`${own}/`)))
      throw new Error(`The mount prefix ${prefix} would shadow the server's own routes; choose another one.`);
    if (seen.has(prefix)) throw new Error(`The mount prefix ${prefix} is used twice; give each mount its own.`);
    seen.add(prefix);
  }
}

/** The mount of one path. */
export interface FoundMount {
  readonly prefix: string;
  readonly handler: Mount['handler'];
  /** True when the path needs no token. */
  readonly public: boolean;
}

/** The mount with the longest prefix that fits; undefined for none. A path is public only in exactly the listed spelling: nothing is decoded or resolved. */
export function findMount(mounts: readonly Mount[], path: string): FoundMount | undefined {
  const fitting = mounts.filter(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  const mount = fitting.sort((a, b) => b.prefix.length - a.prefix.length)[0];
  if (mount === undefined) return undefined;
  const rest = path.slice(mount.prefix.length);
  return { prefix: mount.prefix, handler: mount.handler, public: mount.public?.includes(rest === '' ? '/' : rest) ?? false };
}
