// The calls of a busy key that have no line of their own in the journal. One line covers all calls of a key at one model: it says how much they may use together, and
// is written again only when that is used up. Pure: no I/O.
//
// covered-first: a call is sent only while the line on the disk says no less than what all calls of its cover may use.
// bounded: a line says at most twice what its calls used at their most within a turn or two of TURN_MS. So much too much is counted at most if the process is killed.
// until-written: an ended call is covered, with what it has used, until the ledger has its line.
// soon-alone: a call that is still under way after one whole turn gets a line of its own.
import { randomUUID } from 'node:crypto';
import { keptText } from '../../../base/kept-text.ts';
import type { OpenCall } from '../../port.ts';
import { countable } from '../../parts/spend-days.ts';

/** How long calls are covered before they get a line of their own. */
export const TURN_MS = 100;

/** What calls use together. */
interface Sums {
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
  /** When a call has changed it last: ISO 8601. */
  at: string;
  /** True if a call had a price of its own. */
  isPriced: boolean;
  calls: number;
  readonly used: Sums;
  /** The most that was used since the last turn. */
  peak: Sums;
  /** What its line on the disk says. */
  room: Sums;
}

interface Covered {
  /** As it was noted last. */
  call: OpenCall;
  readonly cover: Cover;
  /** In which turn it came. */
  readonly turn: number;
  input: number;
  tokens: number;
  usd: number;
  hasEnded: boolean;
}

/** What the end of a call says. */
export type CallEnd = Pick<OpenCall, 'id' | 'at' | 'usage' | 'costUsd' | 'leastUsd' | 'error'>;

/** A line that is to be written, and what to do when it is. */
export interface CoverLine {
  readonly line: string;
  written(): void;
}

/** All calls without lines of their own. */
export class CallCovers {
  readonly #calls = new Map<string, Covered>();
  /** By key, group, provider and model. */
  readonly #covers = new Map<string, Cover>();
  /** Most calls are of the same key and model as the last one. */
  #recent: Cover | undefined;
  readonly #idStart = randomUUID();
  #ids = 0;
  #turn = 0;

  /** How many calls are covered. */
  get size(): number {
    return this.#calls.size;
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  /** The call is covered from now on; what it was noted with before is replaced. False while a line must be written first (covered-first). */
  take(call: OpenCall): boolean {
    const known = this.#calls.get(call.id);
    const covered = known ?? { call, cover: this.#coverOf(call), turn: this.#turn, input: 0, tokens: 0, usd: 0, hasEnded: false };
    if (known === undefined) {
      this.#calls.set(call.id, covered);
      covered.cover.calls += 1;
    }
    covered.call = call;
    return use(covered, call);
  }

  /** The call has ended with this (until-written). False while a line must be written; undefined for a call that is not covered. */
  end(end: CallEnd): boolean | undefined {
    const covered = this.#calls.get(end.id);
    if (covered === undefined) return undefined;
    covered.hasEnded = true;
    return use(covered, end);
  }

  /** The call has a line elsewhere. */
  leave(id: string): void {
    const covered = this.#calls.get(id);
    if (covered === undefined) return;
    this.#calls.delete(id);
    const { cover } = covered;
    cover.calls -= 1;
    cover.used.input -= covered.input;
    cover.used.tokens -= covered.tokens;
    cover.used.usd = cover.calls === 0 ? 0 : cover.used.usd - covered.usd; // no rest of a rounding stays
  }

  /** The lines of covers whose calls may use more than what the disk says. */
  short(): CoverLine[] {
    return [...this.#covers.values()].filter(isShort).map((cover) => this.#lineOf(cover, twice(cover.used)));
  }

  /** bounded. The lines of covers that say more than that. Begins another turn. */
  turn(): CoverLine[] {
    this.#turn += 1;
    const lines: CoverLine[] = [];
    for (const cover of this.#covers.values()) {
      const { room, peak } = cover;
      if (cover.calls === 0) lines.push(this.#overLine(cover));
      else if (exceeds(room, twice(peak))) lines.push(this.#lineOf(cover, peak));
      cover.peak = { ...cover.used };
    }
    return lines;
  }

  /** soon-alone. */
  old(): OpenCall[] {
    return [...this.#calls.values()].filter(({ turn, hasEnded }) => !hasEnded && turn < this.#turn - 1).map(({ call }) => call);
  }

  /** All lines that are on the disk, for a file that is written again. */
  all(): string {
    return [...this.#covers.values()].map((cover) => lineOf(cover, cover.room)).join('');
  }

  /** The file is gone, and with it all lines. */
  lost(): void {
    for (const cover of this.#covers.values()) cover.room = nothing();
  }

  /** Nothing is covered, and the file is empty. */
  clear(): void {
    this.#covers.clear();
    this.#recent = undefined;
  }

  #coverOf({ key, group, provider, model, at }: OpenCall): Cover {
    const recent = this.#recent;
    if (recent !== undefined && recent.key === key && recent.model === model && recent.provider === provider && recent.group === group) return recent;
    const name = `${key}\n${group ?? ''}\n${provider}\n${model}`;
    let cover = this.#covers.get(name);
    if (cover === undefined) {
      this.#ids += 1;
      const id = `${this.#idStart}-${this.#ids}`;
      cover = { id, key, group, provider, model, at, isPriced: false, calls: 0, used: nothing(), peak: nothing(), room: nothing() };
      this.#covers.set(name, cover);
    }
    this.#recent = cover;
    return cover;
  }

  #lineOf(cover: Cover, room: Sums): CoverLine {
    const written = (): void => {
      cover.room = room;
    };
    return { line: lineOf(cover, room), written };
  }

  #overLine(cover: Cover): CoverLine {
    const written = (): void => {
      if (cover.calls > 0) return;
      for (const [name, other] of this.#covers) if (other === cover) this.#covers.delete(name);
      if (this.#recent === cover) this.#recent = undefined;
    };
    return { line: `${JSON.stringify({ id: cover.id, isOver: true })}\n`, written };
  }
}

const nothing = (): Sums => ({ input: 0, tokens: 0, usd: 0 });

/** True if the line on the disk covers it. */
function use(covered: Covered, call: CallEnd): boolean {
  const { cover } = covered;
  const { used, peak } = cover;
  const input = countable(call.usage.inputTokens);
  const tokens = countable(call.usage.totalTokens);
  const usd = countable(call.costUsd ?? call.leastUsd);
  used.input += input - covered.input;
  used.tokens += tokens - covered.tokens;
  used.usd += usd - covered.usd;
  covered.input = input;
  covered.tokens = tokens;
  covered.usd = usd;
  cover.at = call.at;
  if (call.costUsd !== null) cover.isPriced = true;
  if (used.input > peak.input) peak.input = used.input;
  if (used.tokens > peak.tokens) peak.tokens = used.tokens;
  if (used.usd > peak.usd) peak.usd = used.usd;
  return !isShort(cover);
}

function isShort({ used, room }: Cover): boolean {
  return exceeds(used, room);
}

function exceeds(one: Sums, other: Sums): boolean {
  return one.tokens > other.tokens || one.usd > other.usd || one.input > other.input;
}

function twice({ input, tokens, usd }: Sums): Sums {
  return { input: 2 * input, tokens: 2 * tokens, usd: 2 * usd };
}

/** As the line of a call, whose request has the id of the cover: the next process counts it as one call that was under way. */
function lineOf({ id, at, key, group, provider, model, isPriced }: Cover, { input, tokens, usd }: Sums): string {
  const usage = { inputTokens: Math.min(input, tokens), outputTokens: Math.max(0, tokens - input), totalTokens: tokens, estimated: true };
  const costUsd = isPriced || usd > 0 ? usd : null;
  const line: OpenCall = { id, at, requestId: id, key, group, provider, model: keptText(model), usage, costUsd, error: 'SHUTTING_DOWN' };
  return `${JSON.stringify(line)}\n`;
}
