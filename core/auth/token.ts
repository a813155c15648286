// The bearer token of the workspace: 256 random bits.
//
// closed-by-default: while the token can't be read or has the wrong form, every request is refused. An empty token never matches.
// live-rotation: a new token takes effect within a second, without a restart.
// hash-only: a database that several servers share has the hash of the token, from which it can't be made. Its text is in the folder of the machine that made it.
// constant-time: a comparison takes the same time wherever the first difference is.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CoreBus } from '../bus.ts';
import type { Setting, SettingCodec, SettingState, SettingStore } from '../store/port.ts';

const FORM = /^bh_[A-Za-z0-9_-]{43}$/;
const NEW_TOKEN_HINT = 'Create a new token with `blockhouse token --new-token`.';
const NONE = 'it does not exist';

const TOKEN: SettingCodec<Buffer> = {
  parse: (text) => {
    if (text === undefined) throw new Error(NONE);
    if (!FORM.test(text.trim())) throw new Error('it does not contain a token (bh_ and 43 characters)');
    return Buffer.from(text.trim(), 'utf8');
  },
  format: (token) => `${token.toString('utf8')}\n`,
};

const HASH: SettingCodec<Buffer> = {
  parse: (text) => {
    if (text === undefined) throw new Error(NONE);
    return Buffer.from(text.trim(), 'hex');
  },
  format: (hash) => hash.toString('hex'),
};

/** The current token of a workspace. */
export class ApiToken {
  readonly #setting: Setting<Buffer>;
  /** hash-only: where the text is. */
  readonly #text: ApiToken | undefined;

  /** With `text`, `settings` have the hash of the token alone, and `text` has the token of this machine. */
  constructor(settings: SettingStore, bus: CoreBus, text?: ApiToken) {
    this.#text = text;
    let before: Buffer | undefined;
    this.#setting = settings.open('token', text === undefined ? TOKEN : HASH, (state) => {
      const token = usable(state);
      if (before !== undefined && (token === undefined || !before.equals(token))) bus.emit('token.rotated', { file: this.#setting.place });
      before = token;
    });
  }

  /** Makes the token at the first start. Throws if there is one that can't be used. With `given`, that is the token from now on; throws if it has another form. */
  async ensure(given?: string): Promise<void> {
    if (given !== undefined && !FORM.test(given))
      throw new Error('The file of BLOCKHOUSE_TOKEN_FILE must have a token: bh_ and 43 characters of A-Z, a-z, 0-9, - and _.');
    if (given !== undefined || this.#setting.now().fault === NONE) await this.#text?.ensure(given);
    await this.#setting.update((state) => {
      if (given !== undefined) return usable(state)?.equals(this.#stored(given)) === true ? undefined : this.#stored(given);
      if (state.fault === NONE) return this.#stored(this.#text?.reveal() ?? newToken());
      this.#assertUsable(state);
      return undefined;
    });
  }

  /** Replaces the token and returns the new one. A running server uses it within a second. */
  async renew(): Promise<string> {
    const token = (await this.#text?.renew()) ?? newToken();
    await this.#setting.update(() => this.#stored(token));
    return token;
  }

  /** True if `presented` is the current token. */
  matches(presented: string): boolean {
    const token = usable(this.#setting.now());
    if (token === undefined) return false;
    const given = this.#stored(presented);
    // The length is not secret: all tokens have the same length.
    return given.length === token.length && timingSafeEqual(given, token); // constant-time
  }

  /** The HMAC-SHA-256 of a text under the current token, or with `hash-only` under its hash, in base64url; undefined while there is none. */
  sign(text: string): string | undefined {
    const token = usable(this.#setting.now());
    if (token === undefined) return undefined;
    return createHmac('sha256', token).update(text).digest('base64url');
  }

  /** The current token, for printing. Throws if there is no usable token. */
  reveal(): string {
    return this.#text === undefined ? this.#assertUsable(this.#setting.now()).toString('utf8') : this.#text.reveal();
  }

  #stored(token: string): Buffer {
    return this.#text === undefined ? Buffer.from(token, 'utf8') : createHash('sha256').update(token).digest();
  }

  #assertUsable(state: SettingState<Buffer>): Buffer {
    const token = usable(state);
    if (token === undefined) throw new Error(`${this.#setting.place} can't be used: ${state.fault}. ${NEW_TOKEN_HINT}`);
    return token;
  }
}

function newToken(): string {
  return `bh_${randomBytes(32).toString('base64url')}`;
}

/** closed-by-default. */
function usable({ good, fault }: SettingState<Buffer>): Buffer | undefined {
  return fault === undefined ? good : undefined;
}
