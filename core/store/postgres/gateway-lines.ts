// The lines of clients' calls that wait to be written, as columns of a statement. Pure: no I/O.
//
// always-fits: no line has a value for which the database has no room, since it would keep all lines after it from being written.
// money-stays: when very many lines wait, because the database is away, further ones of a key, its group, model and day are added up. Their details are lost, their sums are not.
// by-its-id: a line of a call that was noted by itself is known by the id of the call, and is never added up: the next process may write it again.
import type { GatewayCall } from '../port.ts';

/** A line, and the number that it has on its server. */
export interface GatewayLine {
  /** 0 with an `id`. */
  readonly n: number;
  /** by-its-id. */
  readonly id: string | undefined;
  /** The folder of the server has its call until the line is written. */
  readonly isNoted: boolean;
  readonly call: Omit<GatewayCall, 'id' | 'calls'>;
  readonly tokens: number;
  /** More than one where calls were added up. */
  readonly calls: number;
  readonly failed: number;
  readonly unpriced: number;
}

/** PostgreSQL has no such texts. */
const NO_TEXT = /[\p{Surrogate}\0]/gu;
const DAY_CHARACTERS = '2026-11-22'.length;
/** An index takes rows of 2,704 bytes at most, and the name of a model is not all of its row. */
const MODEL_BYTES = 2048;
/** A sum has nine digits before the point. */
export const MOST_USD = 999_999_999;
/** Whole ones, of which sums have room for a thousand. */
export const MOST_TOKENS = Number.MAX_SAFE_INTEGER;
const MOST_MS = 2 ** 31 - 1;

/** Nothing that a call says lowers a sum. */
function countable(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Lines in the order of their calls' ends. */
export class GatewayLines {
  readonly #most: number;
  #lines: GatewayLine[] = [];
  /** money-stays: by key, model and day, their places among the lines. */
  readonly #folded = new Map<string, number>();
  #last = 0;

  /** `most`: so many keep their details. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#lines.length;
  }

  /** Adds a call, and returns its line. */
  add({ id, calls = 1, ...call }: GatewayCall, isNoted = id !== undefined): GatewayLine {
    const { costUsd, leastUsd = null, usage, error } = call;
    const unpriced = usage !== null && costUsd === null && leastUsd === null ? 1 : 0;
    if (id === undefined) this.#last += 1;
    const line = {
      n: id === undefined ? this.#last : 0,
      id,
      isNoted,
      call,
      tokens: Math.min(Math.ceil(countable(usage?.totalTokens)), MOST_TOKENS),
      calls,
      failed: error === null ? 0 : calls,
      unpriced,
    };
    if (this.#lines.length < this.#most || id !== undefined) this.#lines.push(line);
    else this.#fold(line);
    return line;
  }

  /** All lines, which wait on. */
  peek(): readonly GatewayLine[] {
    return this.#lines;
  }

  /** All lines; from now on none of them changes. */
  take(): readonly GatewayLine[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#folded.clear();
    return lines;
  }

  #fold(line: GatewayLine): void {
    const { key, group: team = null, provider, model, at, usage } = line.call;
    const group = JSON.stringify([key, team, provider, model, at.slice(0, DAY_CHARACTERS), usage === null]);
    const place = this.#folded.get(group);
    const before = place === undefined ? undefined : this.#lines[place];
    if (place === undefined || before === undefined) {
      this.#folded.set(group, this.#lines.length);
      this.#lines.push(line);
    } else this.#lines[place] = sumOf(before, line);
  }
}

/** What the call counts towards a cap in money, in whole billionths of a dollar: the dust of floats would let calls through for ever. */
export function billionthsOf({ call }: GatewayLine): number {
  return call.usage === null ? 0 : Math.round(countable(call.costUsd ?? call.leastUsd) * 1e9);
}

/** The beginning of a text, with no half of a character at its end. */
function cut(text: string): string {
  return Buffer.byteLength(text) <= MODEL_BYTES
    ? text
    : Buffer.from(text)
        .toString('utf8', 0, MODEL_BYTES)
        .replace(/\ufffd$/, '');
}

/** Of which so many are named. */
const MOST_NAMES = 20;

/** What lines say together for each key, those with most tokens first, in words: `key app: 2 calls, 20 tokens, 0.75 USD`. */
export function saidOf(lines: readonly GatewayLine[]): string {
  const sums = new Map<string, { calls: number; tokens: number; billionths: number }>();
  for (const line of lines) {
    const name = line.call.key === null ? 'the token' : `key ${line.call.key}`;
    const sum = sums.get(name) ?? { calls: 0, tokens: 0, billionths: 0 };
    sums.set(name, { calls: sum.calls + line.calls, tokens: sum.tokens + line.tokens, billionths: sum.billionths + billionthsOf(line) });
  }
  const all = [...sums].sort(([, a], [, b]) => b.tokens - a.tokens);
  const named = all
    .slice(0, MOST_NAMES)
    .map(([name, sum]) => `${name}: ${sum.calls} ${sum.calls === 1 ? 'call' : 'calls'}, ${sum.tokens} tokens, ${sum.billionths / 1e9} USD`);
  return [...named, ...(all.length > MOST_NAMES ? [`and ${all.length - MOST_NAMES} more keys`] : [])].join('; ');
}

/** The columns in the order of the statement: always-fits. */
export function columnsOf(lines: readonly GatewayLine[]): unknown[][] {
  const text = (value: string): string => value.replace(NO_TEXT, '\ufffd');
  const usd = (value: number): number => Math.min(countable(value), MOST_USD);
  const column = (value: (line: GatewayLine) => unknown): unknown[] => lines.map(value);
  return [
    column(({ call }) => call.at),
    column(({ n }) => n),
    column(({ call }) => text(call.requestId)),
    column(({ call }) => call.key),
    column(({ call }) => call.group ?? null),
    column(({ call }) => text(call.provider)),
    column(({ call }) => cut(text(call.model))),
    column(({ call }) => (call.usage === null ? null : JSON.stringify(call.usage))),
    column(({ tokens }) => tokens),
    column(({ call }) => (call.costUsd === null ? null : usd(call.costUsd))),
    column(({ call }) => (call.leastUsd == null ? null : usd(call.leastUsd))),
    column(({ call }) => (call.firstTextMs === null ? null : Math.min(call.firstTextMs, MOST_MS))),
    column(({ call }) => Math.min(call.durationMs, MOST_MS)),
    column(({ call }) => call.error),
    column(({ calls }) => calls),
    column(({ failed }) => failed),
    column(({ unpriced }) => unpriced),
    column(({ call }) => call.credential ?? null),
    column(({ id }) => id ?? null),
  ];
}

function sumOf(a: GatewayLine, b: GatewayLine): GatewayLine {
  const cost = [a, b].reduce((sum, { call }) => sum + countable(call.costUsd ?? call.leastUsd), 0);
  const [calls, failed, unpriced] = [a.calls + b.calls, a.failed + b.failed, a.unpriced + b.unpriced];
  const isNoted = a.isNoted && b.isNoted;
  return {
    ...a,
    isNoted,
    call: { ...a.call, costUsd: unpriced === calls ? null : cost, leastUsd: null },
    tokens: a.tokens + b.tokens,
    calls,
    failed,
    unpriced,
  };
}

/** What a statement returns of a call. */
export interface CallRow {
  readonly at: Date;
  readonly node: string;
  readonly n: number;
  readonly request_id: string;
  readonly key: string | null;
  readonly grp: string | null;
  readonly provider: string;
  readonly model: string;
  readonly usage: GatewayCall['usage'];
  readonly cost_usd: number | null;
  readonly least_usd: number | null;
  readonly first_text_ms: number | null;
  readonly duration_ms: number;
  readonly error: GatewayCall['error'];
  readonly credential: string | null;
  /** More than one where calls were added up. */
  readonly calls: number;
}

/** The call of a row. */
export function callOf(row: CallRow): GatewayCall {
  const { at, request_id: requestId, key, grp, provider, credential, model, usage, cost_usd: costUsd, least_usd: leastUsd, error, calls } = row;
  const times = { firstTextMs: row.first_text_ms, durationMs: row.duration_ms };
  return {
    at: at.toISOString(),
    requestId,
    key,
    ...(grp !== null && { group: grp }),
    provider,
    ...(credential !== null && { credential }),
    model,
    usage,
    costUsd,
    ...(leastUsd !== null && { leastUsd }),
    ...times,
    error,
    ...(calls > 1 && { calls }),
  };
}
