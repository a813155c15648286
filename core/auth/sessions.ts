// Sessions of the page in a browser: one-time codes, session keys and tickets. With a workspace in its folder nothing is stored: a session key proves itself, and
// codes and tickets live in memory for a moment, in that of one process if several serve the workspace. Servers that share a database keep all three there
// (`shared-passes.ts`); then a key must also be one of those.
//
// single-use: a code or a ticket is gone with the first try, also with a late one. A try by another user of the machine is none.
// short-lived: a code or a ticket ends with its time, and also when the clock is set back before it was made.
// ends-with-the-token: a session key is signed with the token of the workspace, so a new token ends every session within a second. Codes and tickets are
//   kept with their signature and end with it, too: otherwise, a thief of the old token could still sign in.
// one-token: what is made of a secret is good under no other token than the secret, though the token may be replaced in between, and another process, which keeps codes
//   and tickets for this one, may see that earlier. So each of them has a mark of the process that makes it, and when it is signed, the secret is looked at again.
// thirty-days: a key that was made with another one ends when that one ends, so a stolen key is of use for 30 days after the sign-in at most.
// ends-with-the-session: a WebSocket ends with the session that has opened it; its ticket says when that is, under a signature.
// exact-text: keys are compared as text, since base64 has several texts for the same bytes.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import type { ApiToken } from './token.ts';

/** What a session key begins with. */
export const SESSION_PREFIX = 'bhs_';

const MONTH_MS = 30 * 24 * 3600 * 1000;
/** For a code that is opened at once, and for one that is printed. */
export const CODE_MS = 60_000;
export const PRINTED_CODE_MS = 10 * 60_000;
const TICKET_MS = 30_000;
/** Who may use a code: anybody who has it, or only programs of the user that runs the server, where the system tells which user that is. */
export type CodeHolder = 'anybody' | 'owner';
/** The oldest is dropped for a further one. */
const MAX_CODES = 16;
const MAX_TICKETS = 1000;
const MARK_CHARACTERS = 22;

/** A secret, and when it ends. */
export interface Timed {
  readonly text: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What is valid for a moment and opens once. */
export type PassKind = 'code' | 'ticket';

/** The codes and tickets of a workspace. All reject with SHUTTING_DOWN once they are in a process that has ended. */
export interface Passes {
  add(kind: PassKind, ms: number, holder: CodeHolder): Promise<Timed>;
  /** Undefined for a text that is not valid now. */
  holderOf(kind: PassKind, text: string): Promise<CodeHolder | undefined>;
  /** True for a text that is valid now, which it is no longer afterwards. single-use. */
  take(kind: PassKind, text: string): Promise<boolean>;
}

/** Session keys that a store keeps for all servers. All reject with STORE_UNREACHABLE. */
export interface KeptSessions {
  /** Keeps a key for `ms`. */
  keep(key: string, ms: number): Promise<void>;
  /** Asks whether the key is kept. Undefined for one that was a moment ago. */
  look(key: string): Promise<void> | undefined;
  /** What the last `look` has found. */
  holds(key: string): boolean;
}

/** Whether the secret that was accepted is right now. */
type StillRight = () => boolean;
const ALWAYS: StillRight = () => true;

/** The codes and tickets of this process. */
export class LocalPasses implements Passes {
  readonly #kinds: Readonly<Record<PassKind, ShortLived>>;

  /** `clock` returns epoch milliseconds. */
  constructor(token: Pick<ApiToken, 'sign'>, clock: () => number = Date.now) {
    this.#kinds = { code: new ShortLived(MAX_CODES, token, clock), ticket: new ShortLived(MAX_TICKETS, token, clock) };
  }

  async add(kind: PassKind, ms: number, holder: CodeHolder): Promise<Timed> {
    return this.#kinds[kind].add(ms, holder);
  }

  async holderOf(kind: PassKind, text: string): Promise<CodeHolder | undefined> {
    return this.#kinds[kind].holderOf(text);
  }

  async take(kind: PassKind, text: string): Promise<boolean> {
    return this.#kinds[kind].take(text);
  }
}

/** The sessions of a workspace. */
export class Sessions {
  readonly #token: Pick<ApiToken, 'sign'>;
  readonly #clock: () => number;
  readonly #passes: Passes;
  readonly #kept: KeptSessions | undefined;

  /** `clock` returns epoch milliseconds, since a key outlives the process. */
  constructor(token: Pick<ApiToken, 'sign'>, clock: () => number = Date.now, passes: Passes = new LocalPasses(token, clock), kept?: KeptSessions) {
    this.#token = token;
    this.#clock = clock;
    this.#passes = passes;
    this.#kept = kept;
  }

  /** True where servers share a store, so that `look` comes before `accepts`. */
  get isShared(): boolean {
    return this.#kept !== undefined;
  }

  /** A new one-time code for signing in, for whom `isStillRight` says that what it was accepted for is right (one-token). Rejects with UNAUTHORIZED. */
  async newCode(ms = CODE_MS, holder: CodeHolder = 'anybody', isStillRight: StillRight = ALWAYS): Promise<Timed> {
    const { text, expiresAt } = await this.#passes.add('code', ms, holder);
    const code = this.#marked(`code ${text}`).slice('code '.length);
    assertOneToken(isStillRight);
    return { text: code, expiresAt };
  }

  /** True for a code that is valid now and for the owner alone. It stays valid. */
  async isForOwner(code: string): Promise<boolean> {
    return this.#isMarked(`code ${code}`) && (await this.#passes.holderOf('code', unmarked(code))) === 'owner';
  }

  /** A key for this code; undefined for a code that is wrong, used or late. Rejects with UNAUTHORIZED where the token is replaced meanwhile. */
  async exchange(code: string): Promise<Timed | undefined> {
    const isRight = (): boolean => this.#isMarked(`code ${code}`);
    return isRight() && (await this.#passes.take('code', unmarked(code))) ? this.newKey(isRight) : undefined;
  }

  /** A new session key, for whom `isStillRight` says that the token it was accepted for is right (one-token). Rejects with UNAUTHORIZED, and with an Error while the token can't be used. */
  newKey(isStillRight: StillRight = ALWAYS): Promise<Timed> {
    return this.#keyUntil(this.#clock() + MONTH_MS, isStillRight);
  }

  /** Another key in place of a session key (thirty-days); undefined if that is not valid now. Rejects with UNAUTHORIZED where the token is replaced meanwhile. */
  async renewed(key: string): Promise<Timed | undefined> {
    return this.accepts(key) ? this.#keyUntil(endOf(key), () => this.isSigned(key)) : undefined;
  }

  /** Asks the store about a session key, where servers share one; `accepts` knows it then. Undefined where there is nothing to wait for. */
  look(key: string): Promise<void> | undefined {
    return this.#kept !== undefined && this.isSigned(key) ? this.#kept.look(key) : undefined;
  }

  async #keyUntil(endsAt: number, isStillRight: StillRight): Promise<Timed> {
    const text = `${SESSION_PREFIX}${endsAt.toString(36)}.${randomBytes(16).toString('base64url')}`;
    const mac = this.#token.sign(text);
    if (mac === undefined) throw new Error('There is no usable token of the workspace.');
    const key = `${text}.${mac}`;
    assertOneToken(isStillRight);
    await this.#kept?.keep(key, endsAt - this.#clock());
    return { text: key, expiresAt: new Date(endsAt).toISOString() };
  }

  /** True for a session key that is valid now. Where servers share a store, after `look`. */
  accepts(key: string): boolean {
    return this.isSigned(key) && (this.#kept === undefined || this.#kept.holds(key));
  }

  /** True for a session key that is not over, and was made under the present token, whether or not a store still keeps it. */
  isSigned(key: string): boolean {
    if (!key.startsWith(SESSION_PREFIX)) return false;
    const end = key.lastIndexOf('.');
    const mac = this.#token.sign(key.slice(0, Math.max(0, end)));
    return mac !== undefined && isSame(`${key.slice(0, end)}.${mac}`, key) && endOf(key) > this.#clock(); // exact-text
  }

  /**
   * A ticket that opens one WebSocket: a page can set no headers there, and a key in an address might be kept somewhere. It says when the session of `key`, which was
   * accepted, ends (ends-with-the-session). `isStillRight` says whether that key is right now (one-token). Rejects with UNAUTHORIZED.
   */
  async newTicket(key = '', isStillRight: StillRight = ALWAYS): Promise<Timed> {
    const { text, expiresAt } = await this.#passes.add('ticket', TICKET_MS, 'anybody');
    const ticket = this.#marked(`${text}.${key.startsWith(SESSION_PREFIX) ? endOf(key).toString(36) : ''}`);
    assertOneToken(isStillRight);
    return { text: ticket, expiresAt };
  }

  /** True for a ticket that was not used and is not late. */
  async redeem(ticket: string): Promise<boolean> {
    return this.#isMarked(ticket) && (await this.#passes.take('ticket', ticket.slice(0, ticket.indexOf('.')))) && this.#isMarked(ticket);
  }

  /** With 128 bits of the signature. */
  #marked(named: string): string {
    return `${named}.${this.#token.sign(named)?.slice(0, MARK_CHARACTERS) ?? ''}`;
  }

  #isMarked(text: string): boolean {
    const named = unmarked(text);
    return this.#token.sign(named) !== undefined && isSame(this.#marked(named), text);
  }

  /** When the session ends that has this key, or has made this ticket, once the one is accepted or the other redeemed: epoch milliseconds. Undefined for the token of the workspace and its tickets. */
  endOf(secret: string): number | undefined {
    const end = secret.startsWith(SESSION_PREFIX) ? endOf(secret) : Number.parseInt(secret.split('.')[1] ?? '', 36);
    return Number.isNaN(end) ? undefined : end;
  }

  /** True once this time, in epoch milliseconds, has come. */
  hasEnded(endsAt: number): boolean {
    return endsAt <= this.#clock();
  }
}

/** one-token. */
function assertOneToken(isStillRight: StillRight): void {
  if (!isStillRight())
    throw new BlockhouseError('UNAUTHORIZED', 'The token of the workspace was replaced a moment ago. `blockhouse token` prints the new one.');
}

function unmarked(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf('.')));
}

interface Kept {
  /** Epoch milliseconds. */
  readonly madeAt: number;
  readonly ms: number;
  readonly mac: string | undefined;
  readonly holder: CodeHolder;
}

/** single-use. */
class ShortLived {
  readonly #most: number;
  readonly #token: Pick<ApiToken, 'sign'>;
  readonly #clock: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(most: number, token: Pick<ApiToken, 'sign'>, clock: () => number) {
    this.#most = most;
    this.#token = token;
    this.#clock = clock;
  }

  add(ms: number, holder: CodeHolder): Timed {
    const now = this.#clock();
    for (const [text, kept] of this.#kept) if (!isYoung(kept, now)) this.#kept.delete(text);
    for (const text of this.#kept.keys()) if (this.#kept.size >= this.#most) this.#kept.delete(text);
    const text = randomBytes(16).toString('base64url');
    this.#kept.set(text, { madeAt: now, ms, mac: this.#token.sign(text), holder });
    return { text, expiresAt: new Date(now + ms).toISOString() };
  }

  /** Undefined for a text that is not valid now. */
  holderOf(text: string): CodeHolder | undefined {
    const kept = this.#kept.get(text);
    if (kept?.mac === undefined || !isYoung(kept, this.#clock())) return undefined;
    return kept.mac === this.#token.sign(text) ? kept.holder : undefined; // ends-with-the-token
  }

  take(text: string): boolean {
    const isValid = this.holderOf(text) !== undefined;
    this.#kept.delete(text);
    return isValid;
  }
}

/** short-lived. */
function isYoung({ madeAt, ms }: Kept, now: number): boolean {
  return now >= madeAt && now - madeAt < ms;
}

/** Epoch milliseconds. */
function endOf(key: string): number {
  return Number.parseInt(key.slice(SESSION_PREFIX.length), 36);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
