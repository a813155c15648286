// The lines of the ledger of gateway calls, and how they are written and parsed. Pure: no I/O.

import { isObject, tryParseJson } from '../../../base/json.ts';
import { keptText, madeOnce } from '../../../base/kept-text.ts';
import type { Usage } from '../../../types.ts';
import type { GatewayCall } from '../../port.ts';
import { SpendDays } from '../../parts/spend-days.ts';

/**
 * JSON, member by member: a busy gateway writes thousands of lines in a second. Texts are cut, so that a line is at most MAX_LINE_BYTES long: a longer one
 * could not be read again, and its call would count for nothing. `id` is that of its line in the journal, if it has one.
 */
export function lineOf(
  { at, requestId, key, group, provider, credential, model, usage, costUsd, leastUsd, firstTextMs, durationMs, error, calls }: GatewayCall,
  id?: string,
): string {
  return (
    `{"at":"${at}","requestId":${quoted(requestId)},"key":${key === null ? null : quotedName(key)}${group === undefined ? '' : `,"group":${quotedName(group)}`},"provider":${quoted(provider)}${credential === undefined ? '' : `,"credential":${quoted(credential)}`},"model":${quoted(model)},` +
    `"usage":${usage === null ? null : usageText(usage)},"costUsd":${costUsd}${typeof leastUsd === 'number' ? `,"leastUsd":${leastUsd}` : ''},"firstTextMs":${firstTextMs},"durationMs":${durationMs},` +
    `"error":${error === null ? null : quoted(error)}${calls === undefined ? '' : `,"calls":${calls}`}${id === undefined ? '' : `,"id":${quoted(id)}`}}\n`
  );
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/;

/** Most names are plain, and to look is faster than to serialise. */
function quoted(whole: string): string {
  const text = keptText(whole);
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Of a key or a group, of which there are few. */
const quotedName = madeOnce(quoted);

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

function isCall({ at, key, group, provider, model, costUsd, usage, calls }: Record<string, unknown>): boolean {
  return (
    isTime(at) &&
    (calls === undefined || (Number.isSafeInteger(calls) && (calls as number) > 0)) &&
    (group === undefined || typeof group === 'string') &&
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

/** Adds up lines. */
export class FileSums {
  readonly spent: SpendDays;
  /** Of the calls that were noted in the journal. */
  readonly ids = new Set<string>();

  /** `spent` is what was counted before. */
  constructor(spent = new SpendDays()) {
    this.spent = spent;
  }

  add(line: string): void {
    const call = parseCall(line);
    if (call === undefined) return;
    this.spent.count(call);
    if (call.id !== undefined) this.ids.add(call.id);
  }
}
