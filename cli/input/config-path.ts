// Dot paths into a block's configuration, for `config get` and `config set`. No message repeats a typed value, because it may
// be a key in the wrong place. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { CliError } from '../terminal/exit-codes.ts';

/** One `<path>=<value>`. */
export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a path such as `adapter.model`. Throws a CliError for a text that can't be a path. */
export function parsePath(text: string): string[] {
  const parts = text.split('.');
  if (parts.every((part) => /^[\w-]{1,64}$/.test(part) && !['__proto__', 'constructor', 'prototype'].includes(part))) return parts;
  throw new CliError('usage', 'A path consists of field names with dots between them, such as adapter.model.');
}

/** Parses `path=value`; a value that is not JSON is a string. Throws a CliError. */
export function parseAssignment(text: string): Assignment {
  const middle = text.indexOf('=');
  if (middle < 1) throw new CliError('usage', 'Write a change as <path>=<value>, such as adapter.maxTokens=2048.');
  const value = text.slice(middle + 1);
  const json = tryParseJson(value);
  return { path: parsePath(text.slice(0, middle)), value: json === undefined ? value : json };
}

/** The value at `path`; undefined when there is none. */
export function readPath(config: Fields, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (place, part) => (typeof place === 'object' && place !== null && Object.hasOwn(place, part) ? Reflect.get(place, part) : undefined),
    config,
  );
}

/** The changed top-level fields, each complete, because an update of the configuration is a shallow merge. Throws a CliError for a path that does not fit. */
export function patchOf(config: Fields, assignments: readonly Assignment[]): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const { path, value } of assignments) {
    const [field = '', ...rest] = path;
    patch[field] = withValue(ownOf(Object.hasOwn(patch, field) ? patch : config, field), rest, value, field);
  }
  return patch;
}

function withValue(place: unknown, [part, ...rest]: readonly string[], value: unknown, at: string): unknown {
  if (part === undefined) return value;
  if (Array.isArray(place)) return withElement(place, part, rest, value, at);
  if (place != null && !isObject(place)) throw new CliError('usage', `${at} has no fields; it is a ${typeof place}.`);
  const fields: Fields = place ?? {};
  return { ...fields, [part]: withValue(ownOf(fields, part), rest, value, `${at}.${part}`) };
}

/** Every object inherits some names, such as `toString`. */
function ownOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function withElement(list: readonly unknown[], part: string, rest: readonly string[], value: unknown, at: string): unknown[] {
  const index = /^\d{1,6}$/.test(part) ? Number(part) : Number.NaN;
  if (!(index <= list.length)) throw new CliError('usage', `${at} is a list of ${list.length}; use an index from 0 to ${list.length}.`);
  return list.toSpliced(index, 1, withValue(list[index], rest, value, `${at}.${part}`));
}
