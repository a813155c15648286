// Which calls that have cost nothing have lines of their own in the ledger.
//
// others-stay: the ledger keeps so many bytes, or so many days. Calls that fail cost nothing, so no cap ends them, and a key that makes very many would push the lines
//   of all others out of it within half a minute. So a key has so many such lines a minute; further ones are one line together, every ten seconds.
import type { GatewayCall } from '../store/port.ts';
import { TokenBucket } from './token-bucket.ts';

const LINES_A_MINUTE = 100;
const TOGETHER_EVERY_MS = 10_000;
/** In the place of the name of a model, where there were several. */
const SEVERAL = '…';

/** The calls of all keys that have cost nothing. */
export class FailedLines {
  readonly #write: (call: GatewayCall) => void;
  readonly #now: () => number;
  readonly #rates = new Map<string, TokenBucket>();
  readonly #together = new Map<string, GatewayCall>();
  #timer: NodeJS.Timeout | undefined;

  /** `write` gets the lines for several calls. `now` in monotonic milliseconds. */
  constructor(write: (call: GatewayCall) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  /** How many calls the line of this one is for: 1, or 0 if it is among those of a later line. */
  linesOf(call: GatewayCall): 0 | 1 {
    const { key, usage } = call;
    if (key === null || usage !== null) return 1;
    const now = this.#now();
    const rate = this.#rates.get(key) ?? new TokenBucket(LINES_A_MINUTE, now);
    this.#rates.set(key, rate);
    if (rate.waitMs(1, now) === 0) {
      rate.take(1, now);
      return 1;
    }
    this.#add(key, call);
    return 0;
  }

  /** Writes what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const call of this.#together.values()) this.#write(call);
    this.#together.clear();
  }

  #add(key: string, call: GatewayCall): void {
    const { group, provider, error, at, model } = call;
    const account = JSON.stringify([key, group, provider, error, at.slice(0, '2026-11-22'.length)]);
    const before = this.#together.get(account);
    const calls = (before?.calls ?? 0) + 1;
    this.#together.set(account, { ...call, model: before === undefined || before.model === model ? model : SEVERAL, calls });
    this.#timer ??= setTimeout(() => this.flush(), TOGETHER_EVERY_MS).unref();
  }
}
