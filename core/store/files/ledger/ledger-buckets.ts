// What each block has spent, by quarters of an hour. Pure: no I/O.
//
// counted-once: a renamed block keeps what it has spent, and that counts once, however often it is renamed back and forth. So a name has parts,
//   a new one after each rename, and each part knows those before it; a sum visits every part once.
// either-direction: lines may be added from the newest backwards, before any is added forwards. The result is the same.
import type { LedgerLine, Spend } from '../../port.ts';
import type { CarriedLine } from './ledger-lines.ts';

/** Every time zone differs from UTC by whole quarters, so each local day begins with one. */
const BUCKET_MS = 15 * 60 * 1000;
/** Twice the buckets of 32 days, so that nothing recent is dropped after the clock was wrong for a while. */
const MAX_BUCKETS = 2 * 32 * 96;

type Sums = { -readonly [K in keyof Spend]: Spend[K] };

interface Part {
  /** By number of the quarter since 1970. */
  readonly buckets: Map<number, Sums>;
  readonly before: Part[];
  /** Epoch milliseconds of its newest call. */
  newest: number | undefined;
}

/** The sums of all blocks. */
export class SpendBook {
  readonly #newest = new Map<string, Part>();
  readonly #oldest = new Map<string, Part>();

  /** Takes a line that is newer than all others. */
  add(line: LedgerLine | CarriedLine): void {
    if (!isCarried(line)) addTo(this.#newestOf(line.block), line);
    else if (line.from !== line.block) this.#carry(line);
  }

  #carry(line: CarriedLine): void {
    const [from, to] = [this.#newestOf(line.from), this.#newestOf(line.block)];
    this.#newest.set(line.from, newPart(from));
    this.#newest.set(line.block, newPart(to, from)); // counted-once
  }

  /** Takes a line that is older than all others. */
  addOlder(line: LedgerLine | CarriedLine): void {
    if (!isCarried(line)) addTo(this.#oldestOf(line.block), line);
    else if (line.from !== line.block) this.#carryOlder(line);
  }

  #carryOlder(line: CarriedLine): void {
    const [from, to] = [newPart(), newPart()];
    this.#oldestOf(line.from).before.push(from);
    this.#oldestOf(line.block).before.push(to, from);
    this.#oldest.set(line.from, from);
    this.#oldest.set(line.block, to);
  }

  /** The sum since an instant, in epoch milliseconds; the quarter of an hour that it falls into counts whole. */
  spend(block: string, sinceMs: number): Spend {
    const sum: Sums = { usd: 0, tokens: 0 };
    const since = Math.floor(sinceMs / BUCKET_MS);
    for (const { buckets } of this.#partsOf(block)) {
      for (const [quarter, bucket] of buckets) if (quarter >= since) addUp(sum, bucket);
    }
    return sum;
  }

  /** Epoch milliseconds of the newest call; undefined when there is none. */
  newest(block: string): number | undefined {
    const times = [...this.#partsOf(block)].flatMap(({ newest }) => (newest === undefined ? [] : [newest]));
    return times.length === 0 ? undefined : Math.max(...times);
  }

  /** Each part once (counted-once). */
  #partsOf(block: string): ReadonlySet<Part> {
    const newest = this.#newest.get(block);
    const parts = new Set(newest === undefined ? [] : [newest]);
    // A set that grows while it is walked is walked to its new end.
    for (const part of parts) for (const before of part.before) parts.add(before);
    return parts;
  }

  #newestOf(block: string): Part {
    const part = this.#newest.get(block) ?? newPart();
    this.#newest.set(block, part);
    return part;
  }

  #oldestOf(block: string): Part {
    const part = this.#oldest.get(block) ?? this.#newestOf(block);
    this.#oldest.set(block, part);
    return part;
  }
}

function isCarried(line: LedgerLine | CarriedLine): line is CarriedLine {
  return 'type' in line;
}

function newPart(...before: Part[]): Part {
  return { buckets: new Map(), before, newest: undefined };
}

function addTo(part: Part, { at, usage, costUsd, leastUsd }: LedgerLine): void {
  const { buckets } = part;
  const ms = Date.parse(at);
  part.newest = Math.max(part.newest ?? ms, ms);
  const quarter = Math.floor(ms / BUCKET_MS);
  let bucket = buckets.get(quarter);
  if (bucket === undefined) {
    bucket = { usd: 0, tokens: 0 };
    buckets.set(quarter, bucket);
    if (buckets.size > MAX_BUCKETS) dropOldestHalf(buckets);
  }
  addUp(bucket, { usd: costUsd ?? leastUsd ?? 0, tokens: usage?.totalTokens ?? 0 });
}

function addUp(sum: Sums, more: Spend): void {
  sum.usd += more.usd;
  sum.tokens += more.tokens;
}

function dropOldestHalf(buckets: Map<number, Sums>): void {
  const quarters = [...buckets.keys()].sort((a, b) => a - b);
  for (const quarter of quarters.slice(0, MAX_BUCKETS / 2)) buckets.delete(quarter);
}
