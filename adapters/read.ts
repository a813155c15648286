// Readers for what providers send. `as…` takes what only helps: a value of another type counts as absent. `expect…` takes what an answer
// is made of: there a value of another type is UPSTREAM_MALFORMED, as without it the answer would be short or empty. Pure: no I/O.
import { isObject, type ToolCall, tryParseJson } from '../core/index.ts';
import { malformed } from './provider.ts';

export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** '' where it is absent or null. `what` names it in the error, as "the text of a block". */
export function expectText(value: unknown, what: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw malformed(`${what} is not a string`);
  return value;
}

/** [] where it is absent or null. */
export function expectList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw malformed(`${what} is not a list`);
  return value;
}

/** {} where it is absent or null. */
export function expectObject(value: unknown, what: string): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw malformed(`${what} is not an object`);
  return value;
}

/** The entry of `table` under a provider's word; undefined for a word that is not in it, `constructor` among them. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** A token count: a finite number, not negative, made whole. */
export function asCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || value > Number.MAX_SAFE_INTEGER) return undefined;
  return Math.round(value);
}

/** A sum whose unknown parts count as 0, undefined when `first` itself is unknown. */
export function sumCounts(first: number | undefined, ...more: readonly (number | undefined)[]): number | undefined {
  return first === undefined ? undefined : more.reduce<number>((sum, part) => sum + (part ?? 0), first);
}

/** Arguments of a tool call as text: '' stands for none. Undefined when the text is no JSON object, as a cut-off one is. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  const value = tryParseJson(text);
  return isObject(value) ? value : undefined;
}

/** What the adapter keeps for the provider on a message or a call, under the adapter's own id. */
export function metadataOf(
  holder: { readonly providerMetadata?: Record<string, unknown> | undefined } | ToolCall,
  adapterId: string,
): Record<string, unknown> | undefined {
  const own = holder.providerMetadata?.[adapterId];
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? (own as Record<string, unknown>) : undefined;
}
