// Follows a block through lost connections and restarts of its server.
//
// nothing-twice: after a return the server gives only the steps after the last one seen, so no text comes twice or is missing.
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../terminal/exit-codes.ts';
import type { Client } from './client.ts';
import { type Feed, type FeedListener, openFeed } from './socket.ts';

/** How long the server may be away. */
export const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

/** Called for the frames of one block and for the connection. */
export interface SteadyListener extends Omit<FeedListener, 'lost'> {
  /** The connection was lost; `back` or `failed` follows. */
  away(): void;
  /** The block is followed again. `refresh` does not say what has changed in between. */
  back(): void;
  /** The connection did not come back. */
  failed(error: CliError): void;
}

/** A subscription that comes back by itself. */
export class SteadyFeed {
  readonly #client: Client;
  readonly #block: string;
  readonly #listener: SteadyListener;
  readonly #patienceMs: number;
  #feed: Feed | undefined;
  #lastSeq = 0;
  #isAway = false;
  #isClosed = false;

  private constructor(client: Client, block: string, listener: SteadyListener, patienceMs: number) {
    this.#client = client;
    this.#block = block;
    this.#listener = listener;
    this.#patienceMs = patienceMs;
  }

  /** Resolves once the server follows the block. Rejects with a CliError; only a connection that existed is made again. */
  static async open(client: Client, block: string, listener: SteadyListener, patienceMs = PATIENCE_MS): Promise<SteadyFeed> {
    const feed = new SteadyFeed(client, block, listener, patienceMs);
    await feed.#connect();
    return feed;
  }

  close(): void {
    this.#isClosed = true;
    this.#feed?.close();
  }

  /** Connects again, because a call has failed with `error`. Does nothing while the connection is lost anyway. */
  renew(error: CliError): void {
    if (this.#isAway || this.#isClosed) return;
    this.#feed?.close();
    this.#isAway = true;
    this.#listener.away();
    void this.#comeBack(error);
  }

  async #connect(): Promise<void> {
    let lost: CliError | undefined;
    const { refresh, gone } = this.#listener;
    const feed = await openFeed(
      this.#client,
      this.#block,
      {
        refresh,
        gone,
        step: (step) => {
          this.#lastSeq = Math.max(this.#lastSeq, step.seq);
          this.#listener.step(step);
        },
        lost: (error) => {
          lost = error;
          if (this.#feed === feed) this.renew(error);
        },
      },
      this.#lastSeq, // nothing-twice
    );
    if (this.#isClosed) feed.close();
    if (lost !== undefined) throw lost;
    this.#feed = feed;
  }

  /** Never rejects: an end without success is a call of `failed`. */
  async #comeBack(cause: CliError): Promise<void> {
    const deadline = performance.now() + this.#patienceMs;
    for (let error = cause; isPassing(error) && performance.now() < deadline; ) {
      await delay(PAUSE_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      try {
        await this.#connect();
        this.#isAway = false;
        return this.#listener.back();
      } catch (failure) {
        error = failure instanceof CliError ? failure : new CliError('unexpected', (failure as Error).message, failure);
        if (!isPassing(error)) return this.#fail(error);
      }
    }
    this.#fail(new CliError('server', `The connection to the server was lost, and it did not come back within ${this.#patienceMs / 1000} s.`, cause));
  }

  #fail(error: CliError): void {
    this.#isAway = false;
    if (!this.#isClosed) this.#listener.failed(error);
  }
}

/** Whether a failure may pass: the server is away, or reads its token anew. */
function isPassing({ kind }: CliError): boolean {
  return kind === 'server' || kind === 'credentials';
}
