// Finds fields that seem to contain a key. Keys belong in auth.json, because config.json is shown, exported and archived. Pure: no I/O.
import { isObject } from '../base/json.ts';

/** Each ends where a word ends: `clientsecret` sounds like a key, and `secretary` doesn't. */
const SOUNDS_SECRET = new RegExp(
  [
    '(?:api ?key|secret(?: ?key)?|pass ?word|passwd|pass ?phrase|credential|authorization|private ?key|access ?key)s?(?![a-z])',
    '(?:auth|session|access|refresh|api|bearer|secret) ?tokens?(?![a-z])',
    '\\bbearer(?![a-z])',
    '^(?:key|token)$',
  ].join('|'),
);
/** Between the words of a name such as `secretAccessKey` or `APIKey`. */
const WORD_START = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_ .]+/g;
/** Characters of a name that are shown. */
const MAX_SHOWN = 64;

/** The error about such a field; it never repeats the value. */
export const IS_SECRET = 'looks like a key; keys belong in auth.json (`blockhouse auth set <id>`)';

/**
 * The path of the first field, at any depth, whose name sounds like that of a key (`adapter.apiKey`, `mine[1].token`); undefined when there is none.
 * `value` must not nest too deep.
 */
export function secretField(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const here = placeOf(name, path, isObject(value));
    const found = isObject(value) && soundsSecret(name) ? here : secretField(inner, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True for a name that sounds like that of a key. */
export function soundsSecret(name: string): boolean {
  return SOUNDS_SECRET.test(name.replace(WORD_START, ' ').toLowerCase());
}

function placeOf(name: string, path: string, isField: boolean): string {
  if (!isField) return `${path}[${name}]`;
  return path === '' ? name.slice(0, MAX_SHOWN) : `${path}.${name.slice(0, MAX_SHOWN)}`;
}
