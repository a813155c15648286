// Dot paths into a block's configuration: `config get` and `config set`. Pure: no I/O.
//
// V1 A value that was typed is never repeated in a message: it may be a key in the wrong place.
import { isObject, tryParseJson } from '../core/index.ts';
import { CliError } from './exit-codes.ts';

export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** `adapter.model` as its parts. Throws for what can be no path. */
export function parsePath(text: string): string[] {
  const parts = text.split('.');
  if (parts.every((part) => /^[\w-]{1,64}$/.test(part) && !['__proto__', 'constructor', 'prototype'].includes(part))) return parts;
  throw new CliError('usage', 'a path is made of field names with dots between them, such as adapter.model.');
}

/** `path=value`; the value is JSON where it reads as JSON, and a string otherwise. */
export function parseAssignment(text: string): Assignment {
  const middle = text.indexOf('=');
  if (middle < 1) throw new CliError('usage', 'write <path>=<value>, such as adapter.maxTokens=2048.'); // V1
  const value = text.slice(middle + 1);
  const json = tryParseJson(value);
  return { path: parsePath(text.slice(0, middle)), value: json === undefined ? value : json };
}

/** What stands at `path`; undefined where nothing does. */
export function readPath(config: Fields, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (place, part) => (typeof place === 'object' && place !== null && Object.hasOwn(place, part) ? Reflect.get(place, part) : undefined),
    config,
  );
}

/** The top-level fields that change, each whole: a change of the configuration is shallow. */
export function patchOf(config: Fields, assignments: readonly Assignment[]): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const { path, value } of assignments) {
    const [field = '', ...rest] = path;
    patch[field] = withValue(Object.hasOwn(patch, field) ? patch[field] : config[field], rest, value, field);
  }
  return patch;
}

function withValue(place: unknown, [part, ...rest]: readonly string[], value: unknown, at: string): unknown {
  if (part === undefined) return value;
  if (Array.isArray(place)) return withElement(place, part, rest, value, at);
  if (place != null && !isObject(place)) throw new CliError('usage', `${at} has no fields; it is a ${typeof place}.`);
  const fields: Fields = place ?? {};
  return { ...fields, [part]: withValue(fields[part], rest, value, `${at}.${part}`) };
}

function withElement(list: readonly unknown[], part: string, rest: readonly string[], value: unknown, at: string): unknown[] {
  const index = /^\d{1,6}$/.test(part) ? Number(part) : Number.NaN;
  if (!(index <= list.length)) throw new CliError('usage', `${at} is a list of ${list.length}; name an element from 0 to ${list.length}.`);
  return list.toSpliced(index, 1, withValue(list[index], rest, value, `${at}.${part}`));
}
