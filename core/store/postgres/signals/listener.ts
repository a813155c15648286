// The connection on which a server hears notices.
//
// own-connection: it goes directly to PostgreSQL (BLOCKHOUSE_STORE_DIRECT), since a pooler gives a listener's connection to others.
// reads-at-once: a notice is handed over in the turn in which it comes. A listener that does not read would hold back the queue of all.
// comes-back: a connection that breaks, or does not answer, is made again, and then `onGap` says that notices may have been lost.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { openClient } from '../driver.ts';
import type { StorePlace } from '../place.ts';

/** What a listener works with. */
export interface ListenerOptions {
  readonly place: StorePlace;
  /** Names of channels, which need no quotes. */
  channels(): readonly string[];
  onNotice(payload: string): void;
  /** Called after each connection but the first. */
  onGap(): void;
  /** How often the connection is tried out. */
  readonly beatMs?: number;
}

const BEAT_MS = 5000;
const TIMEOUT_MS = 3000;
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Listens until it is closed. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  #client: Client | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Resolves when it listens. Rejects with the error of the driver. */
  async open(): Promise<void> {
    const client = await this.#connect();
    this.#running = this.#run(client);
  }

  /** Listens to other channels from now on. Never rejects: it goes on with the next connection. */
  reconnect(): void {
    this.#client?.end().catch(() => undefined); // it is given up
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.reconnect();
    await this.#running;
  }

  async #connect(): Promise<Client> {
    const { place, channels, onNotice } = this.#options;
    const client = await openClient({
      connectionString: place.url,
      query_timeout: TIMEOUT_MS,
      connectionTimeoutMillis: TIMEOUT_MS,
      keepAlive: true,
      application_name: 'blockhouse-listener',
    });
    client.on('notification', ({ payload = '' }) => onNotice(payload)); // reads-at-once
    client.on('error', () => undefined); // it ends then
    try {
      await client.connect();
      await client.query(
        channels()
          .map((name) => `listen ${name}`)
          .join(';'),
      );
    } catch (error) {
      void client.end().catch(() => undefined); // it may not be open
      throw error;
    }
    this.#client = client;
    return client;
  }

  /** comes-back. */
  async #run(first: Client): Promise<void> {
    const { signal } = this.#closing;
    await this.#held(first);
    for (let pause = PAUSE_MS; !signal.aborted; ) {
      const client = await this.#connect().catch(() => undefined); // tried again after the pause
      if (client !== undefined) {
        this.#options.onGap();
        await this.#held(client);
        pause = PAUSE_MS;
      } else {
        await delay(pause * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined); // it ends with `close`
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Resolves when the connection is of no use any more. */
  async #held(client: Client): Promise<void> {
    if (this.#closing.signal.aborted) this.reconnect();
    let beat: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      beat = setInterval(() => client.query('select 1').catch(() => resolve()), this.#options.beatMs ?? BEAT_MS).unref();
      client.once('end', () => resolve());
    });
    clearInterval(beat);
    this.#client = undefined;
    void client.end().catch(() => undefined); // it is broken
  }
}
