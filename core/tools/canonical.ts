// Equal JSON values as equal texts, and hashes of them. Pure: no I/O.
import { createHash } from 'node:crypto';
import { isObject } from '../base/json.ts';

/** JSON with sorted keys and no white space. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}

/** Of the UTF-8 of a text, in hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What a decision is bound to: another tool, other arguments or another definition have another digest. */
export function digestOf(tool: string, args: unknown, pin: string): string {
  return sha256(canonicalJson({ tool, arguments: args, pin }));
}
