// Route groups that a host program adds under a prefix. Pure: no I/O.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Mount {
  /** `/my-app`; everything at it and below it goes to the handler. */
  readonly prefix: string;
  /** Writes the whole answer itself. What it throws becomes an error answer, unless it has begun to write. */
  readonly handler: (req: IncomingMessage, res: ServerResponse) => unknown;
  /** Paths below the prefix that need no token; `/` is the prefix itself. Everything else needs it. */
  readonly public?: readonly string[];
}

const RESERVED = ['/api', '/v1', '/openapi.json'];
const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/;

/** Throws for a prefix that is malformed, doubled, or shadows the server's own routes. */
export function checkMounts(mounts: readonly Mount[]): void {
  const seen = new Set<string>();
  for (const { prefix } of mounts) {
    if (!PREFIX.test(prefix) || /\/\.\.?(\/|$)/.test(prefix)) throw new Error(`mount prefix ${JSON.stringify(prefix)} must look like /name`);
    if (RESERVED.some((own) => prefix === own || prefix.startsWith(`${own}/`))) throw new Error(`mount prefix ${prefix} would shadow the server's own routes`);
    if (seen.has(prefix)) throw new Error(`mount prefix ${prefix} is used twice`);
    seen.add(prefix);
  }
}

export interface FoundMount {
  readonly handler: Mount['handler'];
  readonly public: boolean;
}

/** The mount of a path, the longest prefix first. A path counts as public only as it is written: no decoding, no dot segments. */
export function findMount(mounts: readonly Mount[], path: string): FoundMount | undefined {
  const fitting = mounts.filter(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  const mount = fitting.sort((a, b) => b.prefix.length - a.prefix.length)[0];
  if (mount === undefined) return undefined;
  const rest = path.slice(mount.prefix.length);
  return { handler: mount.handler, public: mount.public?.includes(rest === '' ? '/' : rest) ?? false };
}
