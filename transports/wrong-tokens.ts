// Limits how many wrong tokens one address may present in a minute.
//
// owner-always-in: the right token is always accepted, also from an address that has presented too many wrong ones.
// silence-is-free: a request without a token does not count as an attempt.
// bounded-memory: the server remembers at most 1,000 addresses and forgets the oldest first.
// one-log-line: the first TOO_MANY_ATTEMPTS of an address in a minute is logged at `info`, the further ones at `debug`.
import type { IncomingMessage } from 'node:http';
import { BlockhouseError, type Core } from '../core/index.ts';

/** The cure for a request without the right token or key. The same text in each case, so that it does not reveal which keys exist. */
export const TOKEN_HINT =
  'The token or key is missing, unknown or revoked. Send the header Authorization: Bearer <token>; `blockhouse token` prints the token, and `blockhouse key new` makes a key for a program.';

const MAX_A_MINUTE = 20;
const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 1000;

interface Attempts {
  count: number;
  readonly since: number;
}

/** What knows the secrets of a workspace's owner. */
export type TokenHolder = Pick<Core, 'token'> & Partial<Pick<Core, 'sessions'>>;

/** True for the token of the workspace, and for the key of a session that began with it. */
export function isOwners({ token, sessions }: TokenHolder, presented: string): boolean {
  return token?.matches(presented) === true || sessions?.accepts(presented) === true;
}

/** The same of a secret that was accepted a moment ago: false if the token was replaced meanwhile, or the session has ended. Asks no store. */
export function isStillOwners({ token, sessions }: TokenHolder, presented: string): boolean {
  return token?.matches(presented) === true || sessions?.isSigned(presented) === true;
}

const byCore = new WeakMap<object, WrongTokens>();

/** The counts of a core, which the HTTP and the WebSocket transport share. */
export function wrongTokensOf(core: object): WrongTokens {
  const known = byCore.get(core) ?? new WrongTokens();
  byCore.set(core, known);
  return known;
}

const repeated = new WeakSet<object>();

/** True for a TOO_MANY_ATTEMPTS that repeats one of the same minute (one-log-line). */
export function isRepeated(failure: object | undefined): boolean {
  return failure !== undefined && repeated.has(failure);
}

/** Counts the wrong tokens of each remote address in windows of a minute. */
export class WrongTokens {
  readonly #now: () => number;
  /** In the order of their first attempts. */
  readonly #attempts = new Map<string, Attempts>();

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws UNAUTHORIZED with the text `cure` unless `token` is right, and TOO_MANY_ATTEMPTS when the address has presented too many wrong ones. */
  assertRight(core: TokenHolder, req: IncomingMessage, token: string | undefined, cure: string): void {
    if (!this.isRight(core, req, token)) throw new BlockhouseError('UNAUTHORIZED', cure);
  }

  /** Whether `token` is right. Counts a wrong one, and throws TOO_MANY_ATTEMPTS from the 21st within a minute. */
  isRight(core: TokenHolder, req: IncomingMessage, token: string | undefined): boolean {
    if (token === undefined) return false; // silence-is-free
    if (isOwners(core, token)) return true; // owner-always-in
    this.#count(req.socket.remoteAddress ?? '');
    return false;
  }

  /** Counts a wrong secret of another kind. Throws UNAUTHORIZED with the text `cure`, or TOO_MANY_ATTEMPTS. */
  refuse(req: IncomingMessage, cure: string): never {
    this.#count(req.socket.remoteAddress ?? '');
    throw new BlockhouseError('UNAUTHORIZED', cure);
  }

  /** Counts a wrong secret of another kind. Throws TOO_MANY_ATTEMPTS as `isRight` does. */
  count(req: IncomingMessage): void {
    this.#count(req.socket.remoteAddress ?? '');
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
    if (attempts.count <= MAX_A_MINUTE) return;
    const refusal = new BlockhouseError(
      'TOO_MANY_ATTEMPTS',
      `This address sent more than ${MAX_A_MINUTE} wrong tokens within a minute. \`blockhouse token\` prints the right one.`,
      {
        retryAfterMs: attempts.since + MINUTE_MS - now,
      },
    );
    if (attempts.count > MAX_A_MINUTE + 1) repeated.add(refusal); // one-log-line
    throw refusal;
  }

  /** bounded-memory. */
  #forget(): void {
    for (const address of this.#attempts.keys()) {
      if (this.#attempts.size <= MAX_ADDRESSES) return;
      this.#attempts.delete(address);
    }
  }
}
