// Sends what a collector of OpenTelemetry is to get, on connections that are kept, with the client of the calls to providers: its code is in the caches of the processor already, where
// that of node:http has to come into them for each batch. That takes a server under load more time than to send the bytes.
//
// small-answers: more of an answer than MAX_BYTES is not read. It says which spans the collector has refused.
// one-limit: a request and its whole answer have `timeoutMs`. Connections of answers that never end would be more and more.
// taken: what was answered with success has arrived, also where the rest of the answer has not come.
import { timeLimit } from '../../core/base/abort.ts';
import { BlockhouseError, type CollectorSender } from '../../core/index.ts';
import { EnoughRead } from './call.ts';
import { Upstream, type UpstreamHandler } from './client.ts';

const MAX_BYTES = 64 * 1024;
const NO_SETTINGS = { values: {}, sources: {} };

/** A sender to collectors that the operator has named: no address is forbidden. */
export function createCollectorSender(): CollectorSender {
  const upstream = new Upstream();
  return {
    async post(url, headers, body, timeoutMs) {
      const origins = new Set([url.origin]);
      const egress = { trustedOrigins: origins, allowedOrigins: origins, ownKey: false, isKeyless: true };
      const timeouts = { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs };
      const answer = new AnswerReader();
      const signal = timeLimit(timeoutMs); // one-limit
      const call = { settings: NO_SETTINGS, egress, timeouts, signal };
      try {
        await upstream.send(call, { method: 'POST', url, headers: { ...headers }, body }, answer);
      } catch (error) {
        if (answer.isTaken) return answer.whole();
        throw signal.aborted ? new BlockhouseError('UPSTREAM_TIMEOUT', `The collector has not answered within ${timeoutMs / 1000} s.`) : error;
      }
      return answer.whole();
    },
    close: () => upstream.close(),
  };
}

class AnswerReader implements UpstreamHandler {
  readonly complete = false;
  #status = 0;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  /** taken. */
  get isTaken(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  whole(): { readonly status: number; readonly body: Buffer } {
    return { status: this.#status, body: Buffer.concat(this.#pieces) };
  }

  head(status: number): void {
    this.#status = status;
  }

  data(piece: Buffer): boolean {
    this.#length += piece.length;
    if (this.#length > MAX_BYTES) throw new EnoughRead(); // small-answers
    this.#pieces.push(piece);
    return true;
  }

  onceWritable(resume: () => void): void {
    resume();
  }

  end(): void {
    // `whole` has it all.
  }
}
