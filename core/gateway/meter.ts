// Figures of the gateway for people who watch it: how many requests, how long, how many tokens, in this process and without any text.
//
// bounded: three rings of fixed size for each adapter, made with its first call.
// few-instructions: a call adds to some numbers and keeps one reference, because a busy gateway has thousands a second.
import type { CoreBus, CoreEvents } from '../bus.ts';
import type { GatewayPoint } from '../types.ts';

/** The windows, each with steps of its own. */
export const WINDOWS = {
  '15m': { stepMs: 1000, steps: 900 },
  '90m': { stepMs: 10_000, steps: 540 },
  '24h': { stepMs: 60_000, steps: 1440 },
} as const;
export type Window = keyof typeof WINDOWS;

/** The most points of a window: a plot has no more pixels than that. */
const MAX_POINTS = 180;
const MAX_KEPT = 500;
/** The upper edges of the classes of durations, in milliseconds, each a quarter above the one before: from 10 ms to some ten minutes. */
const EDGES = Array.from({ length: 50 }, (_, index) => 10 * 1.25 ** index);

/** One point of a series, whose time is in epoch milliseconds. */
export interface MeterPoint extends Omit<GatewayPoint, 'at'> {
  readonly at: number;
}

/** A call that has ended, and when: epoch milliseconds. */
export interface EndedCall {
  readonly at: number;
  readonly fact: CoreEvents['call.finished'];
  /** What it cost; null if its price is not known, undefined until its ledger has it. */
  costUsd?: number | null;
}

/** Counts the calls of a gateway. */
export class Meter {
  readonly #now: () => number;
  readonly #adapters = new Map<string, Readonly<Record<Window, Ring>>>();
  readonly #ended: EndedCall[] = [];

  /** `now` in epoch milliseconds. */
  constructor(bus: CoreBus, now: () => number = Date.now) {
    this.#now = now;
    bus.on('call.finished', (fact) => this.#take(fact));
    bus.on('call.counted', (line) => this.#price(line));
    bus.on('call.billed', (line) => this.#price(line));
  }

  /** The newest calls first, 500 at most. */
  ended(): readonly EndedCall[] {
    return this.#ended.slice(-MAX_KEPT).reverse();
  }

  /** The points of a window, oldest first; none for an adapter that was not called. */
  series(adapter: string, window: Window): readonly MeterPoint[] {
    return this.#adapters.get(adapter)?.[window].points(this.#now()) ?? [];
  }

  /** Most calls are counted as soon as they have ended. */
  #price({ call, costUsd }: { readonly call: number; readonly costUsd: number | null }): void {
    for (let index = this.#ended.length - 1; index >= 0; index -= 1) {
      const ended = this.#ended[index];
      if (ended?.fact.call !== call) continue;
      ended.costUsd = costUsd;
      return;
    }
  }

  #take(fact: CoreEvents['call.finished']): void {
    const at = this.#now();
    this.#ended.push({ at, fact });
    if (this.#ended.length >= MAX_KEPT * 2) this.#ended.splice(0, MAX_KEPT); // bounded
    let rings = this.#adapters.get(fact.adapter);
    if (rings === undefined) {
      rings = { '15m': new Ring('15m'), '90m': new Ring('90m'), '24h': new Ring('24h') };
      this.#adapters.set(fact.adapter, rings);
    }
    rings['15m'].add(at, fact);
    rings['90m'].add(at, fact);
    rings['24h'].add(at, fact);
  }
}

/** Counts by steps of time; a step that comes round again begins anew. */
class Ring {
  readonly #stepMs: number;
  readonly #steps: number;
  /** Which step each place holds, so that old ones are recognised. */
  readonly #turns: Float64Array;
  readonly #sums: Float64Array;
  readonly #firstText: Uint32Array;
  readonly #duration: Uint32Array;

  constructor(window: Window) {
    const { stepMs, steps } = WINDOWS[window];
    this.#stepMs = stepMs;
    this.#steps = steps;
    this.#turns = new Float64Array(steps);
    this.#sums = new Float64Array(steps * SUMS);
    this.#firstText = new Uint32Array(steps * EDGES.length);
    this.#duration = new Uint32Array(steps * EDGES.length);
  }

  add(at: number, { usage, code, firstTextMs, durationMs }: CoreEvents['call.finished']): void {
    const turn = Math.floor(at / this.#stepMs);
    const place = turn % this.#steps;
    if (this.#turns[place] !== turn) this.#clear(place, turn);
    const base = place * SUMS;
    this.#sums[base] = (this.#sums[base] ?? 0) + 1;
    if (code !== undefined && code !== 'CANCELLED') this.#sums[base + 1] = (this.#sums[base + 1] ?? 0) + 1;
    if (usage !== undefined) {
      this.#sums[base + 2] = (this.#sums[base + 2] ?? 0) + usage.inputTokens;
      this.#sums[base + 3] = (this.#sums[base + 3] ?? 0) + usage.outputTokens;
      this.#sums[base + 4] = (this.#sums[base + 4] ?? 0) + (usage.cacheReadTokens ?? 0);
    }
    if (firstTextMs !== undefined) count(this.#firstText, place, firstTextMs);
    if (code === undefined) count(this.#duration, place, durationMs);
  }

  points(now: number): MeterPoint[] {
    const last = Math.floor(now / this.#stepMs);
    const joined = Math.ceil(this.#steps / MAX_POINTS);
    const points: MeterPoint[] = [];
    for (let first = last - this.#steps + 1; first <= last; first += joined) points.push(this.#point(first, Math.min(joined, last - first + 1)));
    return points;
  }

  #point(first: number, steps: number): MeterPoint {
    const sums = Array.from({ length: SUMS }, () => 0);
    const firstText = new Float64Array(EDGES.length);
    const duration = new Float64Array(EDGES.length);
    for (let turn = first; turn < first + steps; turn += 1) {
      const place = turn % this.#steps;
      if (this.#turns[place] !== turn) continue;
      for (let index = 0; index < SUMS; index += 1) sums[index] = (sums[index] ?? 0) + (this.#sums[place * SUMS + index] ?? 0);
      for (let index = 0; index < EDGES.length; index += 1) {
        firstText[index] = (firstText[index] ?? 0) + (this.#firstText[place * EDGES.length + index] ?? 0);
        duration[index] = (duration[index] ?? 0) + (this.#duration[place * EDGES.length + index] ?? 0);
      }
    }
    const [requests = 0, errors = 0, input = 0, output = 0, cached = 0] = sums;
    return {
      at: first * this.#stepMs,
      requests,
      errors,
      input,
      output,
      cached,
      firstTextP50: percentile(firstText, 0.5),
      firstTextP95: percentile(firstText, 0.95),
      durationP50: percentile(duration, 0.5),
      durationP95: percentile(duration, 0.95),
    };
  }

  #clear(place: number, turn: number): void {
    this.#turns[place] = turn;
    this.#sums.fill(0, place * SUMS, (place + 1) * SUMS);
    this.#firstText.fill(0, place * EDGES.length, (place + 1) * EDGES.length);
    this.#duration.fill(0, place * EDGES.length, (place + 1) * EDGES.length);
  }
}

/** Requests, errors, input, output, cached. */
const SUMS = 5;
const STEP = Math.log(1.25);

function count(classes: Uint32Array, place: number, ms: number): void {
  const index = ms <= 10 ? 0 : Math.min(EDGES.length - 1, Math.ceil(Math.log(ms / 10) / STEP));
  const at = place * EDGES.length + index;
  classes[at] = (classes[at] ?? 0) + 1;
}

/** The middle of the class that the share of values reaches; null without values. */
function percentile(classes: Float64Array, share: number): number | null {
  const all = classes.reduce((sum, value) => sum + value, 0);
  if (all === 0) return null;
  let seen = 0;
  for (let index = 0; index < classes.length; index += 1) {
    seen += classes[index] ?? 0;
    if (seen >= all * share) return Math.round((EDGES[index] ?? 0) / (index === 0 ? 2 : 1.118));
  }
  return null;
}
