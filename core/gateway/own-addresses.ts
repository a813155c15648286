// Where the gateway is served that this process is a part of: by itself, and by the other servers of its workspace. A provider's address that leads there is refused:
// each call would make the next one, without end. It happens when a server is started in a shell that has the variables of its clients. Pure: no I/O.
//
// own-loopback: a loopback address of another server leads there only from the same machine.
import { randomUUID } from 'node:crypto';
import { urlOf } from '../base/url.ts';
import { isLoopbackHost } from './egress.ts';

/** Where a server listens. */
export interface ServedAt {
  readonly origins: readonly string[];
  /** Below these it calls providers. */
  readonly paths: readonly string[];
}

/** Where a server of the same workspace listens. */
export interface OtherServer {
  readonly isSameMachine: boolean;
  readonly served: readonly ServedAt[];
}

/** The addresses of the servers of a core, while they listen, and of the others that share its workspace. */
export class OwnAddresses {
  /** What tells this core from all others. Calls of blocks carry it, so that one that comes back is known. */
  readonly instance = randomUUID();
  readonly #own = new Set<ServedAt>();
  #others: readonly ServedAt[] = [];
  #version = 0;

  /** Changes with the addresses. */
  get version(): number {
    return this.#version;
  }

  /** Those of this core. */
  get own(): readonly ServedAt[] {
    return [...this.#own];
  }

  /** Adds a server: its origins, and the paths below which it calls providers. Returns a function that removes them. */
  add(origins: readonly string[], paths: readonly string[]): () => void {
    const served = { origins, paths };
    this.#own.add(served);
    this.#version += 1;
    return () => {
      this.#own.delete(served);
      this.#version += 1;
    };
  }

  /** All other servers of the workspace, in place of those that were known. */
  know(servers: readonly OtherServer[]): void {
    // own-loopback
    const others = servers.flatMap(({ isSameMachine, served }) =>
      served.map(({ origins, paths }) => ({ origins: isSameMachine ? origins : origins.filter((origin) => !isLoopback(origin)), paths })),
    );
    if (JSON.stringify(others) === JSON.stringify(this.#others)) return;
    this.#others = others;
    this.#version += 1;
  }

  /** The server that a base URL leads to, if one of its paths can be reached from there. */
  ownerOf(url: URL): 'this server itself' | 'another server of this workspace' | undefined {
    if (this.own.some((served) => leadsTo(served, url))) return 'this server itself';
    return this.#others.some((served) => leadsTo(served, url)) ? 'another server of this workspace' : undefined;
  }
}

function leadsTo({ origins, paths }: ServedAt, { origin, pathname }: URL): boolean {
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origins.includes(origin) && paths.some((own) => path.startsWith(own) || own.startsWith(path));
}

function isLoopback(origin: string): boolean {
  return isLoopbackHost(urlOf(origin)?.hostname ?? '');
}
