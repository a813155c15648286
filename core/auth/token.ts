// The bearer token of the workspace: 256 random bits in `.api-token`, mode 0600.
//
// closed-by-default: while the token can't be read or has the wrong form, every request is refused. An empty token never matches.
// live-rotation: a new token takes effect within a second, without a restart.
// constant-time: a comparison takes the same time wherever the first difference is.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import type { CoreBus } from '../bus.ts';
import { ensureFolder, replaceFile } from '../store/files/atomic-file.ts';
import { closeToOthers, type FileState, FreshFile } from '../store/files/fresh-file.ts';

const FORM = /^bh_[A-Za-z0-9_-]{43}$/;
const NEW_TOKEN_HINT = 'Create a new token with `blockhouse token --new-token`.';

/** The file that holds the token. */
export function tokenPath(workspace: string): string {
  return join(workspace, '.api-token');
}

/** Writes a new token and returns it. A running server uses it within a second. */
export async function writeNewToken(workspace: string): Promise<string> {
  await ensureFolder(workspace);
  const token = `bh_${randomBytes(32).toString('base64url')}`;
  await replaceFile(tokenPath(workspace), `${token}\n`);
  return token;
}

/** The current token of a workspace. */
export class ApiToken {
  readonly #file: FreshFile;
  readonly #bus: CoreBus;
  #token: Buffer | undefined;
  #fault: string | undefined = 'it does not exist';

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string, bus: CoreBus, now?: () => number) {
    this.#bus = bus;
    this.#file = new FreshFile(tokenPath(workspace), (state) => this.#take(state), now);
  }

  /** Makes the token at the first start. Throws if there is one that can't be used. */
  async ensure(workspace: string): Promise<void> {
    this.#file.refresh(true);
    if (this.#fault === 'it does not exist') {
      await writeNewToken(workspace);
      this.#file.refresh(true);
    }
    if (this.#token === undefined) throw new Error(`${this.#file.path} can't be used: ${this.#fault}. ${NEW_TOKEN_HINT}`);
  }

  /** True if `presented` is the current token. */
  matches(presented: string): boolean {
    this.#file.refresh();
    const token = this.#token;
    if (token === undefined) return false;
    const given = Buffer.from(presented, 'utf8');
    // The length is not secret: all tokens have the same length.
    return given.length === token.length && timingSafeEqual(given, token); // constant-time
  }

  /** The HMAC-SHA-256 of a text under the current token, in base64url; undefined while there is none. */
  sign(text: string): string | undefined {
    this.#file.refresh();
    return this.#token === undefined ? undefined : createHmac('sha256', this.#token).update(text).digest('base64url');
  }

  /** The current token, for printing. Throws if there is no usable token. */
  reveal(): string {
    this.#file.refresh(true);
    if (this.#token === undefined) throw new Error(`${this.#file.path} can't be used: ${this.#fault}. ${NEW_TOKEN_HINT}`);
    return this.#token.toString('utf8');
  }

  #take(state: FileState): void {
    const before = this.#token;
    this.#fault = faultOf(state);
    this.#token = this.#fault === undefined && state.kind === 'text' ? Buffer.from(state.text.trim(), 'utf8') : undefined;
    closeToOthers(this.#file.path, state);
    if (before !== undefined && (this.#token === undefined || !before.equals(this.#token))) this.#bus.emit('token.rotated', { file: this.#file.path });
  }
}

function faultOf(state: FileState): string | undefined {
  if (state.kind === 'missing') return 'it does not exist';
  if (state.kind === 'unreadable') return state.reason;
  return FORM.test(state.text.trim()) ? undefined : 'it does not contain a token (bh_ and 43 characters)';
}
