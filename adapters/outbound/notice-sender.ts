// Sends notices to the receivers of people. They leave as calls to providers do: no redirects, no compression, no address that the egress rule forbids.
//
// status-only: an answer is over with its status. What a receiver says besides is not read, so it can't fill the memory or take time.
// one-connection: each notice has a connection of its own, which is closed after it: they are few, and receivers change.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockhouseError, type NoticeSender } from '../../core/index.ts';
import { EnoughRead } from './call.ts';
import { Upstream, type UpstreamHandler } from './client.ts';

/** Times for tests; a receiver that takes longer gets the notice again. */
export interface NoticeTimes {
  readonly connectMs: number;
  readonly answerMs: number;
}

const NO_SETTINGS = { values: {}, sources: {} };
const TIMES: NoticeTimes = { connectMs: 10_000, answerMs: 20_000 };

/** A sender with connections of its own. */
export function createNoticeSender({ connectMs, answerMs }: NoticeTimes = TIMES): NoticeSender {
  const upstream = new Upstream();
  const timeouts = { connectMs, firstByteMs: answerMs, idleMs: answerMs };
  const nothing = new Set<string>();
  return {
    async send(url, headers, body, signal) {
      // The caller has chosen the address, and no secret goes with it but the signature.
      const egress = { trustedOrigins: new Set([url.origin]), allowedOrigins: nothing, ownKey: false, isKeyless: true };
      const status = new StatusReader();
      await upstream.send(
        { settings: NO_SETTINGS, egress, timeouts, signal },
        { method: 'POST', url, headers: { ...headers }, body: Buffer.from(body) },
        status,
      );
      return status.of();
    },
    close: () => upstream.close(),
  };
}

/** status-only. */
class StatusReader implements UpstreamHandler {
  #status = 0;
  readonly complete = false;

  of(): number {
    if (this.#status === 0) throw new BlockhouseError('UPSTREAM_MALFORMED', 'The receiver has sent no HTTP answer.');
    return this.#status;
  }

  head(status: number, _headers: IncomingHttpHeaders): void {
    this.#status = status;
    throw new EnoughRead();
  }

  data(): boolean {
    return true;
  }

  onceWritable(resume: () => void): void {
    resume();
  }

  end(): void {}
}
