// Where calls of a connection go, in the words of the conventions. Looked up at the first call, and again when auth.json has changed.
import type { Core } from '../../core/index.ts';

/** An upstream of calls. */
export interface Upstream {
  /** `gen_ai.provider.name`. */
  readonly provider: string;
  /** Undefined where it follows from a region. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** The upstreams of a core. */
export class Upstreams {
  readonly #core: Pick<Core, 'adapter' | 'connections'>;
  #known = new Map<string, Upstream>();

  constructor(core: Pick<Core, 'adapter' | 'connections' | 'events'>) {
    this.#core = core;
    core.events.on('credentials.changed', () => this.#known.clear());
  }

  /** `other` is the origin that a request has named, or its region. */
  of(connection: string, other: string | undefined): Upstream {
    const known = this.#known.get(connection) ?? this.#find(connection);
    return other === undefined ? known : { provider: known.provider, ...placeOf(other) };
  }

  #find(connection: string): Upstream {
    const shown = this.#core.connections.list().find(({ name }) => name === connection);
    // A connection that was removed while its last call ran is not shown any more.
    const provider = shown === undefined ? connection : (this.#core.adapter(shown.adapter).genAiProvider ?? shown.adapter);
    const found = { provider, ...placeOf(shown?.baseURL) };
    this.#known.set(connection, found);
    return found;
  }
}

function placeOf(url: string | null | undefined): Pick<Upstream, 'address' | 'port'> {
  if (url === null || url === undefined || !/^https?:\/\//.test(url)) return { address: undefined, port: undefined };
  const { hostname, port, protocol } = new URL(url);
  return { address: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}
