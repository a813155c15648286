// The lines of the ledger of gateway calls, and how they are written and parsed. Pure: no I/O.

import { isObject, tryParseJson } from '../../../base/json.ts';
import { keptText } from '../../../base/kept-text.ts';
import type { Usage } from '../../../types.ts';
import type { GatewayCall } from '../../port.ts';
import { countable, type KeyDay, SpendDays } from '../../parts/spend-days.ts';

/**
 * JSON, member by member: a busy gateway writes thousands of lines in a second. Texts are cut, so that a line is at most MAX_LINE_BYTES long: a longer one
 * could not be read again, and its call would count for nothing.
 */
export function lineOf({ at, requestId, key, provider, model, usage, costUsd, leastUsd, firstTextMs, durationMs, error, id }: GatewayCall): string {
  return (
    `{"at":"${at}","requestId":${quoted(requestId)},"key":${key === null ? null : quoted(key)},"provider":${quoted(provider)},"model":${quoted(model)},` +
    `"usage":${usage === null ? null : usageText(usage)},"costUsd":${costUsd}${typeof leastUsd === 'number' ? `,"leastUsd":${leastUsd}` : ''},"firstTextMs":${firstTextMs},"durationMs":${durationMs},` +
    `"error":${error === null ? null : quoted(error)}${id === undefined ? '' : `,"id":${quoted(id)}`}}\n`
  );
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/;

/** Most names are plain, and to look is faster than to serialise. */
function quoted(whole: string): string {
  const text = keptText(whole);
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function usageText(usage: Usage): string {
  let members = '';
  for (const name in usage) {
    const value = usage[name as keyof Usage];
    if (value !== undefined) members += `${members === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${members}}`;
}

/** Undefined for a damaged line, and for one that is not a call. */
export function parseCall(line: string): GatewayCall | undefined {
  const value = tryParseJson(line);
  return isObject(value) && isCall(value) ? (value as unknown as GatewayCall) : undefined;
}

function isCall({ at, key, provider, model, costUsd, usage }: Record<string, unknown>): boolean {
  return (
    isTime(at) &&
    typeof provider === 'string' &&
    typeof model === 'string' &&
    (key === null || typeof key === 'string') &&
    (costUsd === null || typeof costUsd === 'number') &&
    (usage === null || (isObject(usage) && typeof usage['totalTokens'] === 'number'))
  );
}

function isTime(at: unknown): at is string {
  return typeof at === 'string' && !Number.isNaN(Date.parse(at));
}

/** The lines at the beginning of a file: what each key has spent before, day by day, and a last one that tells how many they are. */
export function carriedLines(spent: SpendDays, at: string): string {
  const rows = [...spent.rows()];
  const lines = rows.map(([day, key, sums]) => JSON.stringify({ at, type: 'spent', day, key, ...sums }));
  return [...lines, JSON.stringify({ at, type: 'carried', lines: rows.length })].map((line) => `${line}\n`).join('');
}

/** Adds up the lines of one file in their order. */
export class FileSums {
  /** What the lines of the file say. */
  readonly spent = new SpendDays();
  /** Of the calls that were noted in the journal. */
  readonly ids = new Set<string>();
  /** When the first call of the file ended. */
  first: string | undefined;
  /** True once the line that carries over what was spent before this file has been read. */
  isWhole = false;
  #carried: [day: string, key: string, sums: KeyDay][] = [];

  /** True if there is no file, or nothing in it. */
  get isEmpty(): boolean {
    return this.first === undefined && !this.isWhole;
  }

  add(line: string): void {
    const value = tryParseJson(line);
    if (!isObject(value)) return;
    if (isCall(value)) {
      const call = value as unknown as GatewayCall;
      this.first ??= call.at;
      this.spent.count(call);
      if (call.id !== undefined) this.ids.add(call.id);
    } else if (value['type'] === 'spent') this.#addSpent(value);
    else if (value['type'] === 'carried') this.#endCarried(value['lines']);
  }

  #addSpent({ day, key, usd, tokens, calls, unpricedCalls, output, answers }: Record<string, unknown>): void {
    const sums = { usd, tokens, calls, unpricedCalls, output, answers };
    const isRow = typeof day === 'string' && typeof key === 'string' && Object.values(sums).every((sum) => typeof sum === 'number' || sum === null);
    if (isRow) this.#carried.push([day, key, atLeastNothing(sums)]);
  }

  /** Lines that a crash has torn would tell of less than was spent, so all of them or none count. */
  #endCarried(lines: unknown): void {
    if (lines === this.#carried.length) {
      for (const row of this.#carried) this.spent.add(...row);
      this.isWhole = true;
    }
    this.#carried = [];
  }
}

/** A negative sum counts as nothing, and so does null, which is how JSON writes NaN and Infinity: to refuse the row would lose the sums of all keys. */
function atLeastNothing(sums: { readonly [K in keyof KeyDay]: unknown }): KeyDay {
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, countable(sum)])) as unknown as KeyDay;
}
