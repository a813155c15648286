// What a sign-in asks over HTTP: metadata, tokens, registrations. Every request leaves through the one egress function.
//
// named-or-public: what an evil server names as its authorization server must not lead us anywhere. An address whose origin the user has not named must be one of the internet, over
//   https, also after the look-up of its name; only the origins that the user has named may be in a private network.
// small-and-plain: an answer is an object of JSON of at most 256 KiB, and comes within 20 seconds. No redirect is followed.
import type { IncomingHttpHeaders } from 'node:http';
import { timeLimit } from '../../../core/base/abort.ts';
import { exceededLimit, isObject, tryParseJson } from '../../../core/base/json.ts';
import { type AdapterCall, BlockhouseError, isLoopbackHost } from '../../../core/index.ts';
import { EnoughRead, type UpstreamHandler, type UpstreamRequest } from '../../outbound/call.ts';
import { Upstream } from '../../outbound/client.ts';
import { type Challenge, challengeIn } from './challenge.ts';
import { SignInFault } from './places.ts';

const MAX_BYTES = 256 * 1024;
const CONNECT_MS = 10_000;
const WHOLE_MS = 20_000;

/** An answer; `body` is undefined for what is no object of JSON. */
export interface Asked {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly challenge?: Challenge | undefined;
}

/** The origins that the user has named. */
export type Named = ReadonlySet<string>;

/** Makes the requests of sign-ins. */
export class SignInHttp {
  /** Connections to what the user has named, and to anything else: which addresses a name may lead to differs. */
  readonly #named = new Upstream();
  readonly #others = new Upstream();

  /** Rejects with a SignInFault. */
  get(url: URL, named: Named, signal: AbortSignal): Promise<Asked> {
    return this.#ask({ method: 'GET', url, headers: { accept: 'application/json' } }, named, signal);
  }

  /** Rejects with a SignInFault. */
  post(url: URL, body: URLSearchParams | object, headers: Readonly<Record<string, string>>, named: Named, signal: AbortSignal): Promise<Asked> {
    const isForm = body instanceof URLSearchParams;
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const bytes = Buffer.from(isForm ? body.toString() : JSON.stringify(body));
    return this.#ask({ method: 'POST', url, headers: { ...headers, 'content-type': type, accept: 'application/json' }, body: bytes }, named, signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.#named.close(), this.#others.close()]);
  }

  async #ask(request: UpstreamRequest, named: Named, signal: AbortSignal): Promise<Asked> {
    const { url } = request;
    const isNamed = named.has(url.origin);
    if (isNamed && url.protocol === 'http:' && !isLoopbackHost(url.hostname)) throw new SignInFault(`${url.origin} is not over https`);
    const reader = new JsonReader();
    try {
      await (isNamed ? this.#named : this.#others).send(callOf(url, isNamed, AbortSignal.any([signal, timeLimit(WHOLE_MS)])), request, reader);
    } catch (error) {
      throw new SignInFault(whyOf(error, url, isNamed), { cause: error });
    }
    return reader.answer();
  }
}

/** named-or-public. */
function callOf({ origin }: URL, isNamed: boolean, signal: AbortSignal): AdapterCall {
  const home = new Set([origin]);
  return {
    settings: { values: {}, sources: {} },
    egress: { trustedOrigins: home, allowedOrigins: new Set(), ownKey: true, isKeyless: false, home, publicOnly: !isNamed },
    timeouts: { connectMs: CONNECT_MS, firstByteMs: WHOLE_MS, idleMs: WHOLE_MS },
    signal,
  };
}

function whyOf(error: unknown, { origin }: URL, isNamed: boolean): string {
  if (!(error instanceof BlockhouseError)) throw error;
  if (error.code === 'INVALID_REQUEST') {
    const cure = isNamed ? '' : '; if you know it and mean it, name it yourself as the issuer';
    return `its sign-in leads to ${origin}, which is in a private network, on this machine, not over https, or one where no call may go${cure}`;
  }
  return error.code === 'CANCELLED' ? `${origin} has not answered in time` : `${origin} can't be reached (${error.code})`;
}

/** small-and-plain. */
class JsonReader implements UpstreamHandler {
  readonly complete = false;
  #status = 0;
  #challenge: Challenge | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#challenge = challengeIn(headers['www-authenticate']);
  }

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) {
      this.#pieces = [];
      throw new EnoughRead();
    }
    this.#pieces.push(chunk);
    return true;
  }

  onceWritable(): void {}

  end(): void {}

  answer(): Asked {
    const bytes = Buffer.concat(this.#pieces);
    const isSound = exceededLimit(bytes, { values: 10_000, depth: 20 }) === undefined;
    const value = isSound ? tryParseJson(bytes.toString('utf8')) : undefined;
    return { status: this.#status, body: isObject(value) ? value : undefined, ...(this.#challenge && { challenge: this.#challenge }) };
  }
}
