// Takes along what a request of a debugged key sends and what it is answered. Of all other requests, nothing of this is made.
//
// beginning-alone: of each body, the first 64 KiB are kept.
// masked-first: what is kept has been masked in this process; the bytes as they came are let go with the answer.
// few: so many answers at a time and a second, so that a busy key does not fill the memory or hold up others.
import type { ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { type Core, type NamedKey, toBlockhouseError } from '../../../core/index.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_OPEN = 100;
const MAX_A_SECOND = 20;

interface Pace {
  open: number;
  since: number;
  count: number;
}

/** few: of all servers of a core. */
const paces = new WeakMap<Core, Pace>();

/** The beginning of a body. */
class Beginning {
  readonly #pieces: Buffer[] = [];
  #kept = 0;
  bytes = 0;

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.#kept >= MAX_BODY_BYTES) return;
    const kept = Buffer.from(piece.subarray(0, MAX_BODY_BYTES - this.#kept)); // a copy: the whole may be large, and is let go
    this.#pieces.push(kept);
    this.#kept += kept.length;
  }

  masked(mask: (text: string) => string): { readonly text: string; readonly bytes: number; readonly cut: boolean } {
    const cut = this.bytes > this.#kept;
    const kept = Buffer.concat(this.#pieces);
    return { text: mask(cut ? new StringDecoder().write(kept) : kept.toString()), bytes: this.bytes, cut }; // the decoder leaves out the half of a letter at the end
  }
}

/** What is known of a request when it is admitted. */
interface Tapped {
  readonly core: Core;
  readonly key: NamedKey;
  readonly res: ServerResponse;
  readonly path: string;
  readonly requestId: string;
}

/** The bodies of one request. */
export class BodyTap {
  readonly #request = new Beginning();
  readonly #answer = new Beginning();

  constructor({ core, key, res, path, requestId }: Tapped, done: () => void) {
    this.#follow(res);
    res.once('close', () => {
      done();
      const { bodies } = core;
      if (bodies === undefined) return;
      try {
        const mask = core.masker();
        const [request, answer] = [this.#request.masked(mask), this.#answer.masked(mask)];
        bodies.keep({ requestId, at: new Date().toISOString(), key: key.name, path, status: res.headersSent ? res.statusCode : 0, request, answer });
      } catch (error) {
        // Without the secrets nothing can be masked, so nothing is kept.
        core.events.emit('workspace.fault', { what: 'the bodies of a debugged key', error: toBlockhouseError(error).message });
      }
    });
  }

  /** The body of the request, once it is read. */
  request(bytes: Uint8Array): void {
    this.#request.add(bytes);
  }

  /** Node writes what `end` is given by itself, without a call of `write`. */
  #follow(res: ServerResponse): void {
    const { write, end } = res;
    const take = (chunk: unknown, encoding: unknown): void => {
      if (typeof chunk === 'string') this.#answer.add(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'));
      else if (chunk instanceof Uint8Array) this.#answer.add(chunk);
    };
    res.write = ((...given: Parameters<typeof write>) => {
      take(given[0], given[1]);
      return write.apply(res, given);
    }) as typeof write;
    res.end = ((...given: Parameters<typeof end>) => {
      take(given[0], given[1]);
      return end.apply(res, given);
    }) as typeof end;
  }
}

/** Undefined for a key that is not debugged, and beyond the pace. */
export function tapOf(tapped: Tapped): BodyTap | undefined {
  const { core, key } = tapped;
  if (key.debugUntil === undefined || core.keys?.isDebugged(key) !== true) return undefined;
  const pace = paceOf(core);
  const now = performance.now();
  if (now - pace.since >= 1000) {
    pace.since = now;
    pace.count = 0;
  }
  if (pace.open >= MAX_OPEN || pace.count >= MAX_A_SECOND) return undefined;
  pace.open += 1;
  pace.count += 1;
  return new BodyTap(tapped, () => {
    pace.open -= 1;
  });
}

function paceOf(core: Core): Pace {
  const known = paces.get(core);
  if (known !== undefined) return known;
  const pace = { open: 0, since: 0, count: 0 };
  paces.set(core, pace);
  return pace;
}
