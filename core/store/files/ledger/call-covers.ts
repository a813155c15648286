// The calls of busy keys that have no line of their own in the journal. One line covers all calls of a key at one model: it says how much they may use together, and
// is written again only when that is used up. Pure: no I/O.
//
// covered-first: a call is sent only while the line on the disk says no less than what all calls of its cover may use.
// bounded: a line says at most twice what its calls used at most within the last PEAK_TURNS, or twice as many. So much too much is counted at most if the process is killed.
//   A line that followed each turn would be written many times a second, since calls come in bursts. What is used is looked at when a turn begins and when calls are forgotten.
// nothing-apart: of a covered call only its cover is kept, as its place. What it counts there is what was noted of it last, which is said again when that changes.
// perhaps-written: when a write has failed, any of its lines may be on the disk. Until the line of a cover is written again, the smaller of its two last lines counts.
// until-written: what an ended call has used stays covered until the ledger has its line. That is kept as a sum, because thousands of calls may end before that.
import { randomUUID } from 'node:crypto';
import { isoTime } from '../../../base/iso-time.ts';
import { keptText } from '../../../base/kept-text.ts';
import { countable } from '../../parts/spend-days.ts';
import type { CallNote, GatewayCall, NotedCall, OpenCall } from '../../port.ts';

/** How often the lines are made as small as they may be. */
export const TURN_MS = 100;
/** How many turns a line lasts at least that says too much (bounded). */
export const PEAK_TURNS = 5;

/** What calls use together. */
interface Sums {
  calls: number;
  input: number;
  tokens: number;
  usd: number;
}

/** One key at one model. It is the `place` of its calls under way. */
class Cover {
  readonly id: string;
  readonly key: string;
  readonly group: string | undefined;
  readonly provider: string;
  readonly model: string;
  /** True if a call had a price of its own. */
  isPriced = false;
  /** By all its calls. */
  readonly used = nothing();
  /** Of that, by those that have ended (until-written), and by those of them whose lines are being written. */
  readonly ended = nothing();
  readonly leaving = nothing();
  /** The most that was used at a turn, or before calls were forgotten, in the present span of PEAK_TURNS, and in the one before. */
  peak = nothing();
  before = nothing();
  /** What its line on the disk says, or the least that it may say, which `isUnsure` tells (perhaps-written). */
  room = nothing();
  isUnsure = false;

  constructor(id: string, { key, group, provider, model }: Pick<OpenCall, 'key' | 'group' | 'provider' | 'model'>) {
    this.id = id;
    this.key = key;
    this.group = group;
    this.provider = provider;
    this.model = model;
  }
}

/** The place of a call that has a line of its own, or has ended. */
export const OWN_LINE: unknown = 'own line';

/** A line that is to be written, and what to do when it is, or when that has failed. */
export interface CoverLine {
  readonly line: string;
  written(): void;
  /** perhaps-written. */
  failed(): void;
}

/** All calls without lines of their own. */
export class CallCovers {
  /** By key, group, provider and model. */
  readonly #covers = new Map<string, Cover>();
  /** Most calls are of the same key and model as the last one. */
  #recent: Cover | undefined;
  readonly #idStart = randomUUID();
  #ids = 0;
  readonly #now: () => number;
  #size = 0;
  #turns = 0;

  /** `now` in epoch milliseconds. A line says when it was made. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many calls are covered, those included that have ended. */
  get size(): number {
    return this.#size;
  }

  /** True if there is no line. */
  get isEmpty(): boolean {
    return this.#covers.size === 0;
  }

  /** True for a call under way that has no line of its own. */
  has({ place }: NotedCall): boolean {
    return place instanceof Cover;
  }

  /** The call is covered from now on; what was noted of it `before` is replaced. False while a line must be written first (covered-first). */
  take(call: OpenCall, before?: CallNote): boolean {
    const { place } = call;
    if (!(place instanceof Cover)) return use(this.#join(call), call);
    if (before !== undefined) add(place.used, before, -1);
    return use(place, call);
  }

  /** A covered call has ended with this (until-written). False while a line must be written. */
  end(call: NotedCall, ended: CountedNote): boolean {
    const cover = call.place as Cover;
    call.place = OWN_LINE;
    add(cover.used, call, -1);
    add(cover.ended, ended, 1);
    cover.ended.calls += 1;
    return use(cover, ended);
  }

  /** The call has a line of its own. */
  leave(call: OpenCall): void {
    const { used } = call.place as Cover;
    call.place = OWN_LINE;
    add(used, call, -1);
    used.calls -= 1;
    this.#size -= 1;
  }

  /** The lines of all calls that have ended by now are being written to the ledger. */
  beginForget(): void {
    for (const { ended, leaving } of this.#covers.values()) {
      move(ended, leaving, ended.calls);
      Object.assign(ended, nothing());
    }
  }

  /** They are written. */
  forget(): void {
    for (const cover of this.#covers.values()) {
      const { leaving, used } = cover;
      cover.peak = larger(cover.peak, used);
      this.#size -= leaving.calls;
      move(leaving, used, -leaving.calls);
      if (used.calls === 0) Object.assign(used, nothing()); // no rest of a rounding stays
      Object.assign(leaving, nothing());
    }
  }

  /** The lines of covers whose calls may use more than what the disk says. */
  short(): CoverLine[] {
    const lines: CoverLine[] = [];
    for (const cover of this.#covers.values()) if (exceeds(cover.used, cover.room)) lines.push(this.#roomLine(cover, twice(cover.used)));
    return lines;
  }

  /** bounded. The lines of covers that say more than that. Begins another turn. */
  turn(): CoverLine[] {
    this.#turns = (this.#turns + 1) % PEAK_TURNS;
    const lines: CoverLine[] = [];
    for (const cover of this.#covers.values()) {
      const { room, isUnsure, before, used } = cover;
      cover.peak = larger(cover.peak, used);
      const most = larger(cover.peak, before);
      if (used.calls === 0 && !exceeds(most, used)) lines.push(this.#overLine(cover));
      else if (isUnsure || exceeds(room, twice(most))) lines.push(this.#roomLine(cover, most));
      if (this.#turns > 0) continue;
      cover.before = cover.peak;
      cover.peak = { ...used };
    }
    return lines;
  }

  /** Drops the covers that no call uses. True if there were any: their lines are to go from the disk at once. */
  dropUnused(): boolean {
    const { size } = this.#covers;
    for (const [name, { used }] of this.#covers) if (used.calls === 0) this.#covers.delete(name);
    this.#recent = undefined;
    return this.#covers.size < size;
  }

  /** All lines that are on the disk, for a file that is written again. */
  all(): string {
    return [...this.#covers.values()].map((cover) => this.#lineOf(cover, cover.room)).join('');
  }

  /** The file is gone, and with it all lines. */
  lost(): void {
    for (const cover of this.#covers.values()) cover.room = nothing();
  }

  #join(call: OpenCall): Cover {
    const cover = this.#coverOf(call);
    call.place = cover;
    cover.used.calls += 1;
    this.#size += 1;
    return cover;
  }

  #coverOf(call: OpenCall): Cover {
    const { key, group, provider, model } = call;
    const recent = this.#recent;
    if (recent !== undefined && recent.key === key && recent.model === model && recent.provider === provider && recent.group === group) return recent;
    const name = `${key}\n${group ?? ''}\n${provider}\n${model}`;
    let cover = this.#covers.get(name);
    if (cover === undefined) {
      this.#ids += 1;
      cover = new Cover(`${this.#idStart}-${this.#ids}`, call);
      this.#covers.set(name, cover);
    }
    this.#recent = cover;
    return cover;
  }

  #overLine(cover: Cover): CoverLine {
    const written = (): void => {
      if (cover.used.calls > 0) return;
      for (const [name, other] of this.#covers) if (other === cover) this.#covers.delete(name);
      if (this.#recent === cover) this.#recent = undefined;
    };
    const failed = (): void => {
      cover.room = nothing();
    };
    return { line: `${JSON.stringify({ id: cover.id, isOver: true })}\n`, written, failed };
  }

  #roomLine(cover: Cover, room: Sums): CoverLine {
    const written = (): void => {
      cover.room = room;
      cover.isUnsure = false;
    };
    const failed = (): void => {
      cover.room = smaller(cover.room, room);
      cover.isUnsure = true;
    };
    return { line: this.#lineOf(cover, room), written, failed };
  }

  /** As the line of a call, whose request has the id of the cover: the next process counts it as one call that was under way. */
  #lineOf({ id, key, group, provider, model, isPriced }: Cover, { input, tokens, usd }: Sums): string {
    const usage = { inputTokens: Math.min(input, tokens), outputTokens: Math.max(0, tokens - input), totalTokens: tokens, estimated: true };
    const costUsd = isPriced || usd > 0 ? usd : null;
    const at = isoTime(this.#now());
    const line: OpenCall = { id, at, requestId: id, key, group, provider, model: keptText(model), usage, costUsd, error: 'SHUTTING_DOWN' };
    return `${JSON.stringify(line)}\n`;
  }
}

function nothing(): Sums {
  return { calls: 0, input: 0, tokens: 0, usd: 0 };
}

/** True if the line on the disk covers it. */
function use(cover: Cover, noted: CountedNote): boolean {
  add(cover.used, noted, 1);
  if (noted.costUsd !== null) cover.isPriced = true;
  return !exceeds(cover.used, cover.room);
}

/** What is noted of a call, or what it has used in the end, of which nothing may be known. */
type CountedNote = Pick<GatewayCall, 'usage' | 'costUsd' | 'leastUsd'>;

function add(to: Sums, { usage, costUsd, leastUsd }: CountedNote, sign: 1 | -1): void {
  to.usd += sign * countable(costUsd ?? leastUsd);
  if (usage === null) return;
  to.input += sign * countable(usage.inputTokens);
  to.tokens += sign * countable(usage.totalTokens);
}

/** Adds what these calls use, or with a negative number takes it away. */
function move({ input, tokens, usd }: Pick<Sums, 'input' | 'tokens' | 'usd'>, to: Sums, calls: number): void {
  const sign = Math.sign(calls);
  to.calls += calls;
  to.input += sign * input;
  to.tokens += sign * tokens;
  to.usd += sign * usd;
}

function exceeds(one: Sums, other: Sums): boolean {
  return one.tokens > other.tokens || one.usd > other.usd || one.input > other.input;
}

function larger(one: Sums, other: Sums): Sums {
  const { max } = Math;
  return { calls: one.calls, input: max(one.input, other.input), tokens: max(one.tokens, other.tokens), usd: max(one.usd, other.usd) };
}

function smaller(one: Sums, other: Sums): Sums {
  const { min } = Math;
  return { calls: one.calls, input: min(one.input, other.input), tokens: min(one.tokens, other.tokens), usd: min(one.usd, other.usd) };
}

function twice({ calls, input, tokens, usd }: Sums): Sums {
  return { calls, input: 2 * input, tokens: 2 * tokens, usd: 2 * usd };
}
