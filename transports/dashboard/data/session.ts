// Who this browser is to the server: a session key in a storage of this origin. The master token is never kept.
//
// one-tab-tells-all: signing in or out in one tab does so in all of them.
import { signal } from '@preact/signals';
import { type Shelf, stored } from '../base/stored.ts';

/** `unsure` until the first answer of the server. */
export type SignIn = 'unsure' | 'in' | 'out';

interface Kept {
  readonly key: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export const SESSION_AT = 'blockhouse.session';

interface SignInMeans {
  readonly code?: string;
  readonly token?: string;
  /** What to say of a token that the server does not take; its own sentence is for programs. */
  readonly refused?: string;
}

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** The session of this browser. */
export class Session {
  /** Whether requests have a key that the server takes. */
  readonly signIn = signal<SignIn>('unsure');
  readonly #shelf: Shelf;
  readonly #fetch: Fetch;
  #kept: Kept | undefined;

  constructor(shelf: Shelf, fetch: Fetch) {
    this.#shelf = shelf;
    this.#fetch = fetch;
    this.#kept = this.#read();
  }

  /** Undefined when there is none. */
  get key(): string | undefined {
    return this.#kept?.key;
  }

  /** Goes on with the key that is kept. */
  begin(): void {
    this.signIn.value = this.#kept === undefined ? 'out' : 'in';
  }

  /**
   * Signs in with a one-time code, or with a token, which is forgotten afterwards. Resolves with what is wrong, or undefined. A network failure keeps the
   * present key.
   */
  async signInWith({ code, token, refused }: SignInMeans): Promise<string | undefined> {
    try {
      const response = await this.#fetch('/api/session', {
        method: 'POST',
        headers: { ...(code !== undefined && { 'content-type': 'application/json' }), ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        ...(code !== undefined && { body: JSON.stringify({ code }) }),
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
      });
      const { key, expiresAt, error } = (await response.json()) as Kept & { readonly error?: string };
      if (!response.ok) return (response.status === 401 ? refused : undefined) ?? error ?? `${response.status}`;
      this.#kept = { key, expiresAt };
      this.#shelf.setItem(SESSION_AT, JSON.stringify(this.#kept));
      this.signIn.value = 'in';
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** A new key for the present one; false when the server no longer takes it. */
  async renew(): Promise<boolean> {
    return this.#kept !== undefined && (await this.signInWith({ token: this.#kept.key })) === undefined;
  }

  /** Forgets the key, in every tab. */
  signOut(): void {
    this.#kept = undefined;
    this.#shelf.removeItem(SESSION_AT);
    this.signIn.value = 'out';
  }

  /** The server takes the key no more. */
  end(): void {
    this.signIn.value = 'out';
  }

  /** one-tab-tells-all: to be called when another tab has changed a key of the storage. */
  changed(key: string | null): void {
    if (key !== SESSION_AT) return;
    this.#kept = this.#read();
    this.signIn.value = this.#kept === undefined ? 'out' : 'in';
  }

  #read(): Kept | undefined {
    const { key, expiresAt } = (stored(this.#shelf, SESSION_AT) ?? {}) as Partial<Kept>;
    if (typeof key === 'string' && typeof expiresAt === 'string') return { key, expiresAt };
    this.#shelf.removeItem(SESSION_AT);
    return undefined;
  }
}
