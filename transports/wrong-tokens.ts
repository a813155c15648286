// How many wrong tokens one address may present: a program that tries some is told to stop, and the log is not filled by it (W4).
//
// W1 The right token is always taken, from the same address too: nobody can lock its owner out.
// W2 A request without any token is no attempt.
// W3 Memory is bounded, however many addresses there are.
// W4 Of an address that goes on, the first refusal of a minute as too many is news; the log has the others as details.
import type { IncomingMessage } from 'node:http';
import { BlockhouseError, type Core } from '../core/index.ts';

const MOST_A_MINUTE = 20;
const MINUTE_MS = 60_000;
const MOST_ADDRESSES = 1000;

interface Attempts {
  count: number;
  readonly since: number;
}

const byCore = new WeakMap<object, WrongTokens>();

/** The count of a server: its HTTP and its WebSocket share it. */
export function wrongTokensOf(core: object): WrongTokens {
  const known = byCore.get(core) ?? new WrongTokens();
  byCore.set(core, known);
  return known;
}

const repeated = new WeakSet<object>();

/** W4. Whether `failure` only says again what an address was told within the minute. */
export function isRepeated(failure: object | undefined): boolean {
  return failure !== undefined && repeated.has(failure);
}

export class WrongTokens {
  readonly #now: () => number;
  /** In the order of their first attempts. */
  readonly #attempts = new Map<string, Attempts>();

  /** Monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws UNAUTHORIZED with `cure` unless `token` is the right one, or TOO_MANY_ATTEMPTS for an address that has presented too many wrong ones. */
  assertRight(core: Pick<Core, 'token'>, req: IncomingMessage, token: string | undefined, cure: string): void {
    if (!this.isRight(core, req, token)) throw new BlockhouseError('UNAUTHORIZED', cure);
  }

  /** Whether `token` is the right one. A wrong one is an attempt, whoever asks: throws TOO_MANY_ATTEMPTS. */
  isRight(core: Pick<Core, 'token'>, req: IncomingMessage, token: string | undefined): boolean {
    if (token === undefined) return false;
    if (core.token?.matches(token)) return true;
    this.#count(req.socket.remoteAddress ?? '');
    return false;
  }

  #count(address: string): void {
    const now = this.#now();
    let attempts = this.#attempts.get(address);
    if (attempts === undefined || now - attempts.since >= MINUTE_MS) {
      attempts = { count: 0, since: now };
      this.#attempts.delete(address);
      this.#attempts.set(address, attempts);
      this.#forget();
    }
    attempts.count += 1;
    if (attempts.count <= MOST_A_MINUTE) return;
    const refusal = new BlockhouseError(
      'TOO_MANY_ATTEMPTS',
      `More than ${MOST_A_MINUTE} wrong tokens within a minute; \`blockhouse token\` prints the right one.`,
      {
        retryAfterMs: attempts.since + MINUTE_MS - now,
      },
    );
    if (attempts.count > MOST_A_MINUTE + 1) repeated.add(refusal);
    throw refusal;
  }

  /** W3: the oldest goes first. */
  #forget(): void {
    for (const address of this.#attempts.keys()) {
      if (this.#attempts.size <= MOST_ADDRESSES) return;
      this.#attempts.delete(address);
    }
  }
}
