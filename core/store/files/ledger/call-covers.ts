// The calls of busy keys that have no line of their own in the journal. One line covers all calls of a key at one model: it says how much they may use together, and
// is written again only when that is used up. Pure: no I/O.
//
// covered-first: a call is sent only while the line on the disk says no less than what all calls of its cover may use.
// bounded: a line says at most twice what its calls used at most within the last PEAK_TURNS, or twice as many. So much too much is counted at most if the process is killed.
//   A line that followed each turn would be written many times a second, since calls come in bursts. What is used is looked at when a turn begins and when calls are forgotten.
// one-place: a call that is noted again is another object with the same place. What becomes of the call is kept there, so that it holds for all of them.
// until-written: what an ended call has used stays covered until the ledger has its line. That is kept as a sum, because thousands of calls may end before that.
import { randomUUID } from 'node:crypto';
import { isoTime } from '../../../base/iso-time.ts';
import { keptText } from '../../../base/kept-text.ts';
import { countable } from '../../parts/spend-days.ts';
import type { GatewayCall, NotedCall, OpenCall } from '../../port.ts';

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

/** One key at one model. */
interface Cover {
  readonly id: string;
  readonly key: string;
  readonly group: string | undefined;
  readonly provider: string;
  readonly model: string;
  /** True if a call had a price of its own. */
  isPriced: boolean;
  /** By all its calls. */
  readonly used: Sums;
  /** Of that, by those that have ended (until-written), and by those of them whose lines are being written. */
  readonly ended: Sums;
  readonly leaving: Sums;
  /** The most that was used at a turn, or before calls were forgotten, in the present span of PEAK_TURNS, and in the one before. */
  peak: Sums;
  before: Sums;
  /** What its line on the disk says. */
  room: Sums;
}

/** A call under way that is covered, as its `place`. */
class Covered {
  readonly cover: Cover;
  input = 0;
  tokens = 0;
  usd = 0;
  /** It has ended, or has a line of its own. */
  hasLeft = false;

  constructor(cover: Cover) {
    this.cover = cover;
  }
}

/** The place of a call that has a line of its own. */
export const OWN_LINE: unknown = { hasLeft: true } satisfies Pick<Covered, 'hasLeft'>;

/** A line that is to be written, and what to do when it is. */
export interface CoverLine {
  readonly line: string;
  written(): void;
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
    return place !== undefined && !(place as Covered).hasLeft; // one-place
  }

  /** The call is covered from now on; what it was noted with before is replaced. False while a line must be written first (covered-first). */
  take(call: OpenCall): boolean {
    const { usage } = call;
    const covered = this.has(call) ? (call.place as Covered) : this.#join(call);
    return use(covered, countable(usage.inputTokens), countable(usage.totalTokens), countable(call.costUsd ?? call.leastUsd), call.costUsd !== null);
  }

  /** A covered call has ended with this (until-written). False while a line must be written. */
  end(call: NotedCall, { usage, costUsd, leastUsd }: Pick<GatewayCall, 'usage' | 'costUsd' | 'leastUsd'>): boolean {
    const covered = call.place as Covered;
    covered.hasLeft = true;
    const isEnough = use(covered, countable(usage?.inputTokens), countable(usage?.totalTokens), countable(costUsd ?? leastUsd), costUsd !== null);
    move(covered, covered.cover.ended, 1);
    return isEnough;
  }

  /** The call has a line of its own. */
  leave(call: OpenCall): void {
    const covered = call.place as Covered;
    covered.hasLeft = true;
    move(covered, covered.cover.used, -1);
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
      const { room, before, used } = cover;
      cover.peak = larger(cover.peak, used);
      const most = larger(cover.peak, before);
      if (used.calls === 0 && !exceeds(most, used)) lines.push(this.#overLine(cover));
      else if (exceeds(room, twice(most))) lines.push(this.#roomLine(cover, most));
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

  #join(call: OpenCall): Covered {
    const covered = new Covered(this.#coverOf(call));
    call.place = covered;
    covered.cover.used.calls += 1;
    this.#size += 1;
    return covered;
  }

  #coverOf({ key, group, provider, model }: OpenCall): Cover {
    const recent = this.#recent;
    if (recent !== undefined && recent.key === key && recent.model === model && recent.provider === provider && recent.group === group) return recent;
    const name = `${key}\n${group ?? ''}\n${provider}\n${model}`;
    let cover = this.#covers.get(name);
    if (cover === undefined) {
      this.#ids += 1;
      const sums = { used: nothing(), ended: nothing(), leaving: nothing(), peak: nothing(), before: nothing(), room: nothing() };
      cover = { id: `${this.#idStart}-${this.#ids}`, key, group, provider, model, isPriced: false, ...sums };
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
    return { line: `${JSON.stringify({ id: cover.id, isOver: true })}\n`, written };
  }

  #roomLine(cover: Cover, room: Sums): CoverLine {
    const written = (): void => {
      cover.room = room;
    };
    return { line: this.#lineOf(cover, room), written };
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

const nothing = (): Sums => ({ calls: 0, input: 0, tokens: 0, usd: 0 });

/** True if the line on the disk covers it. */
function use(covered: Covered, input: number, tokens: number, usd: number, isPriced: boolean): boolean {
  const { cover } = covered;
  const { used } = cover;
  used.input += input - covered.input;
  used.tokens += tokens - covered.tokens;
  used.usd += usd - covered.usd;
  covered.input = input;
  covered.tokens = tokens;
  covered.usd = usd;
  if (isPriced) cover.isPriced = true;
  return !exceeds(used, cover.room);
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

function twice({ calls, input, tokens, usd }: Sums): Sums {
  return { calls, input: 2 * input, tokens: 2 * tokens, usd: 2 * usd };
}
