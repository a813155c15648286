// Sessions, codes and tickets of servers that share a store: one made at any of them is good at all of them, and its end holds everywhere.
//
// asked-with-a-mark: each secret carries a mark that only who knows the token can make. What lacks it is refused without asking the store, so that strangers who guess
//   cost the database nothing. The mark alone opens nothing: the store must have the secret, too.
// soon-ended: a session that held is taken to hold for a second.
import { randomBytes } from 'node:crypto';
import type { KeptKind, PassStore } from '../store/passes.ts';
import type { CodeHolder, KeptSessions, Passes, PassKind, Timed } from './sessions.ts';
import type { ApiToken } from './token.ts';

const MOST: Readonly<Record<KeptKind, number>> = { code: 16, 'owner-code': 16, ticket: 1000, session: 10_000 };
const KINDS: Readonly<Record<PassKind, readonly KeptKind[]>> = { code: ['code', 'owner-code'], ticket: ['ticket'] };
/** For how long the store is not asked again. */
const HOLDS_MS = 1000;
/** For how long what was found is good for the request that has asked: it may wait for its turn meanwhile. */
const GOOD_MS = 5000;
const MOST_KNOWN = 10_000;
const SECRET_CHARACTERS = 22;
const MARK_CHARACTERS = 11;

/** The passes of all servers. */
export class SharedPasses implements Passes, KeptSessions {
  readonly #store: PassStore;
  readonly #token: Pick<ApiToken, 'sign'>;
  readonly #clock: () => number;
  /** soon-ended. When each session was found to hold. */
  readonly #known = new Map<string, number>();

  /** `clock` in monotonic milliseconds. */
  constructor(store: PassStore, token: Pick<ApiToken, 'sign'>, clock: () => number = () => performance.now()) {
    this.#store = store;
    this.#token = token;
    this.#clock = clock;
  }

  async add(kind: PassKind, ms: number, holder: CodeHolder): Promise<Timed> {
    const secret = randomBytes(16).toString('base64url');
    const text = `${secret}${this.#markOf(secret) ?? ''}`;
    const kept = kind === 'code' && holder === 'owner' ? 'owner-code' : kind;
    return { text, expiresAt: await this.#store.add(kept, text, ms, MOST[kept]) };
  }

  async holderOf(kind: PassKind, text: string): Promise<CodeHolder | undefined> {
    const kept = this.#isMarked(text) ? await this.#store.kindOf(text) : undefined;
    if (kept === undefined || !KINDS[kind].includes(kept)) return undefined;
    return kept === 'owner-code' ? 'owner' : 'anybody';
  }

  async take(kind: PassKind, text: string): Promise<boolean> {
    return this.#isMarked(text) && this.#store.take(KINDS[kind], text);
  }

  async keep(key: string, ms: number): Promise<void> {
    await this.#store.add('session', key, ms, MOST.session);
  }

  look(key: string): Promise<void> | undefined {
    if (this.#clock() - this.#foundAt(key) < HOLDS_MS) return undefined;
    return this.#store.kindOf(key).then((kind) => {
      this.#known.delete(key);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      if (kind === 'session') this.#known.set(key, this.#clock());
    });
  }

  holds(key: string): boolean {
    return this.#clock() - this.#foundAt(key) < GOOD_MS;
  }

  #foundAt(key: string): number {
    return this.#known.get(key) ?? Number.NEGATIVE_INFINITY;
  }

  /** asked-with-a-mark. */
  #isMarked(text: string): boolean {
    const secret = text.slice(0, SECRET_CHARACTERS);
    const mark = this.#markOf(secret);
    return mark !== undefined && text === `${secret}${mark}`;
  }

  #markOf(secret: string): string | undefined {
    return this.#token.sign(`pass ${secret}`)?.slice(0, MARK_CHARACTERS);
  }
}
