// Tickets of decision links: each opens one decision about one call, once.
//
// hash-only: a ticket is kept as its hash. In clear it is in its notice alone, until that is delivered.
// bound-ticket: a ticket is for one approval and its digest. What has changed since needs another look.
// ended-known: a ticket that was used or has expired is remembered for some days, so that its link says what has become of it.
import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../base/json.ts';
import { faultText } from '../errors.ts';
import type { NoticeFiles } from '../store/port.ts';
import type { Approval } from '../types.ts';

const FOLDER = 'tickets';
const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;
const REMEMBERED_MS = 7 * 86_400_000;
const MAX_TICKETS = 1000;

/** What a ticket opens. */
export interface Ticket {
  readonly block: string;
  readonly messageId: string;
  readonly approval: string;
  readonly digest: string;
  /** The target that it was sent to. */
  readonly target: string;
  readonly expiresAt: string;
  readonly isUsed: boolean;
}

/** The tickets of a workspace. */
export class Tickets {
  readonly #files: NoticeFiles;
  readonly #now: () => number;
  readonly #onFault: (error: unknown) => void;
  /** By their hashes, the oldest first. */
  readonly #known = new Map<string, Ticket>();

  /** `now` in epoch milliseconds. */
  constructor(files: NoticeFiles, now: () => number, onFault: (error: unknown) => void) {
    this.#files = files;
    this.#now = now;
    this.#onFault = onFault;
  }

  /** Reads those of earlier processes. */
  async open(): Promise<void> {
    const onBad = (name: string, error: unknown): void => this.#onFault(`${name} can't be read (${faultText(error)}); its link opens nothing`);
    const found = (await this.#files.all(FOLDER, onBad)).flatMap(([hash, value]): [string, Ticket][] => (isTicket(value) ? [[hash, value]] : []));
    for (const [hash, ticket] of found.sort(([, a], [, b]) => (a.expiresAt < b.expiresAt ? -1 : 1))) this.#known.set(hash, ticket);
  }

  /** A new one, whose hash is on disk. hash-only. */
  async make(approval: Approval, target: string): Promise<string> {
    await this.#forgetOld();
    const { block, messageId, id, digest, expiresAt } = approval;
    const text = randomBytes(BYTES).toString('base64url');
    const ticket = { block, messageId, approval: id, digest, target, expiresAt, isUsed: false };
    await this.#files.write(FOLDER, hashOf(text), ticket);
    this.#known.set(hashOf(text), ticket);
    return text;
  }

  /** What a text opens; undefined for one that never was a ticket, or is forgotten. */
  find(text: string): Ticket | undefined {
    return FORM.test(text) ? this.#known.get(hashOf(text)) : undefined;
  }

  /** Whether it can still be used. */
  isOpen({ isUsed, expiresAt }: Ticket): boolean {
    return !isUsed && Date.parse(expiresAt) > this.#now();
  }

  /** It opens nothing any more, also if the disk does not take that. ended-known. */
  async use(text: string): Promise<void> {
    const hash = hashOf(text);
    const ticket = this.#known.get(hash);
    if (ticket === undefined) return;
    const used = { ...ticket, isUsed: true };
    this.#known.set(hash, used);
    await this.#files.write(FOLDER, hash, used).catch(this.#onFault);
  }

  /** The links of a target open nothing any more. */
  async forgetTarget(target: string): Promise<void> {
    for (const [hash, ticket] of [...this.#known]) if (ticket.target === target) await this.#forget(hash);
  }

  async #forgetOld(): Promise<void> {
    const old = this.#now() - REMEMBERED_MS;
    for (const [hash, { expiresAt }] of [...this.#known]) if (Date.parse(expiresAt) < old || this.#known.size >= MAX_TICKETS) await this.#forget(hash);
  }

  async #forget(hash: string): Promise<void> {
    this.#known.delete(hash);
    await this.#files.remove(FOLDER, hash).catch(this.#onFault);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isTicket(value: unknown): value is Ticket {
  const texts = ['block', 'messageId', 'approval', 'digest', 'target', 'expiresAt'];
  return isObject(value) && texts.every((name) => typeof value[name] === 'string') && typeof value['isUsed'] === 'boolean';
}
