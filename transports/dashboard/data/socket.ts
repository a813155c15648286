// The one WebSocket of the page, and what is followed over it.
//
// by-itself: a lost socket is opened again after 0.5, 1, 2, 4, 8, then every 15 s; at once when the page becomes visible, the network comes back, the server
// answers a request, or somebody asks.
// asks-anew: each topic says what it has seen last, so that the server sends only what was missed.
// settled: what is followed is read when the server answers the subscription, and not before, so that nothing is read twice. Where the first connection fails or is
// slow, it is read without one.
// found-dead: a ping is sent every 20 s. A socket that leaves a ping unanswered for 24 s is closed, and so is a socket that is silent for 90 s, because then
// the computer or the tab has slept. Until it is open again, the page says since when its content is old.
import { batch, signal } from '@preact/signals';
import type { Timers } from '../base/clock.ts';
import { ApiError } from './api-error.ts';
import type { Frame } from './frame.ts';

/** Something that is followed. */
export interface Topic {
  /** The frame that begins it; made anew for each connection. */
  begin(): object;
  /** The frame that ends it. */
  end(): object;
  /** Takes a frame; false if it is another topic's. */
  take(frame: Frame): boolean;
}

/** How the page is connected. */
export interface Connection {
  readonly state: 'live' | 'opening' | 'lost';
  /** Epoch milliseconds of this browser. */
  readonly since: number;
  /** When the next try is made; set while it is lost. */
  readonly nextTryAt?: number;
}

const DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000];
/** A first connection that takes longer is not waited for. */
export const PATIENCE_MS = 300;
const PING_MS = 20_000;
const ANSWER_MS = 24_000;
/** Longer than the minute to which browsers stretch the pings of a hidden tab. */
const SLEPT_MS = 90_000;

/** What it takes to connect. */
export interface Line {
  /** A ticket for one connection. Rejects with an ApiError. */
  ticket(): Promise<string>;
  open(ticket: string): Pick<WebSocket, 'onopen' | 'onmessage' | 'onclose' | 'send' | 'close'>;
}

/** The connection to the server, as long as it is wanted. */
export class Socket {
  readonly connection = signal<Connection>({ state: 'opening', since: 0 });
  /** settled: whether the first connection is there, or has failed, or is slow. */
  readonly isSettled = signal(false);
  /** Grows with each connection after the first one: what is not followed is read again then. */
  readonly revivals = signal(0);
  readonly #line: Line;
  readonly #timers: Timers;
  readonly #topics = new Set<Topic>();
  #socket: ReturnType<Line['open']> | undefined;
  #isOpen = false;
  #isWanted = false;
  /** Grows with each connection that is ended or given up. */
  #turn = 0;
  #tries = 0;
  #cancelRetry = (): void => undefined;
  #cancelPing = (): void => undefined;
  #heardAt = 0;
  /** When the ping was sent that has no answer yet. */
  #askedAt: number | undefined;

  constructor(line: Line, timers: Timers) {
    this.#line = line;
    this.#timers = timers;
    this.connection.value = { state: 'opening', since: timers.now() };
  }

  /** Follows a topic until the returned function is called. */
  follow(topic: Topic): () => void {
    this.#topics.add(topic);
    this.#say(topic.begin());
    return () => {
      if (this.#topics.delete(topic)) this.#say(topic.end());
    };
  }

  /** Begins a topic again, from what it has seen last. */
  followAnew(topic: Topic): void {
    if (this.#topics.has(topic)) this.#say(topic.begin());
  }

  /** Connects, and stays connected until `disconnect`. */
  connect(): void {
    this.#isWanted = true;
    this.#tries = 0;
    this.#timers.after(PATIENCE_MS, () => {
      this.isSettled.value = true;
    });
    void this.#open();
  }

  disconnect(): void {
    this.#isWanted = false;
    this.#close();
  }

  /** Tries at once. */
  tryNow(): void {
    if (this.#isWanted && this.connection.peek().state === 'lost') void this.#open();
  }

  /** found-dead. To be called now and then. */
  endIfDead(): void {
    const at = this.#timers.now();
    if (this.connection.peek().state !== 'live') return;
    if (at - this.#heardAt < SLEPT_MS && (this.#askedAt === undefined || at - this.#askedAt < ANSWER_MS)) return;
    this.#lost(0, this.#heardAt);
  }

  #say(frame: object): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(frame));
  }

  async #open(): Promise<void> {
    this.#close();
    const turn = this.#turn;
    if (this.connection.peek().state === 'lost') this.connection.value = { ...this.connection.peek(), state: 'opening' };
    let ticket: string;
    try {
      ticket = await this.#line.ticket();
    } catch (error) {
      if (turn === this.#turn) this.#lost(error instanceof ApiError ? error.retryAfterMs : undefined);
      return;
    }
    if (turn !== this.#turn) return; // signed out meanwhile
    const opened = this.#line.open(ticket);
    this.#socket = opened;
    opened.onopen = () => {
      this.#isOpen = true;
      this.#tries = 0;
      this.#heard();
      this.connection.value = { state: 'live', since: this.#timers.now() };
      for (const topic of this.#topics) this.#say(topic.begin()); // asks-anew
      batch(() => {
        if (this.isSettled.peek()) this.revivals.value += 1;
        this.isSettled.value = true;
      });
      this.#cancelPing = this.#timers.after(PING_MS, () => this.#beat());
    };
    opened.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as Frame;
      this.#heard();
      for (const topic of this.#topics) if (topic.take(frame)) return;
    };
    opened.onclose = () => {
      if (this.#socket === opened) this.#lost();
    };
  }

  #heard(): void {
    this.#heardAt = this.#timers.now();
    this.#askedAt = undefined;
  }

  #beat(): void {
    this.#cancelPing = this.#timers.after(PING_MS, () => this.#beat());
    this.endIfDead();
    if (this.#socket === undefined) return;
    this.#askedAt ??= this.#timers.now();
    this.#say({ type: 'ping' });
  }

  #close(): void {
    this.#cancelPing();
    this.#cancelRetry();
    this.#turn += 1;
    this.#isOpen = false;
    const closing = this.#socket;
    this.#socket = undefined;
    closing?.close();
  }

  /** by-itself. */
  #lost(leastMs = 0, lastAt = this.#timers.now()): void {
    this.#close();
    if (!this.#isWanted) return;
    const delay = DELAYS_MS[Math.min(this.#tries, DELAYS_MS.length - 1)] ?? 15_000;
    this.#tries += 1;
    const waitMs = Math.max(leastMs, delay * (0.9 + Math.random() * 0.2));
    const { state, since } = this.connection.peek();
    this.connection.value = { state: 'lost', since: state === 'live' ? lastAt : since, nextTryAt: this.#timers.now() + waitMs };
    this.isSettled.value = true;
    this.#cancelRetry = this.#timers.after(waitMs, () => void this.#open());
  }
}
