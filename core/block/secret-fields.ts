// Finds fields that seem to contain a key. Keys belong in auth.json, because config.json is shown, exported and archived. Pure: no I/O.
import { isObject } from '../json.ts';

const SOUNDS_SECRET =
  /api[-_ ]?key|secret|passw(or)?d|passphrase|credential|authorization|private[-_ ]?key|access[-_ ]?key|bearer|(?:auth|session|access|refresh|api)[-_ ]?token|^(?:key|token)$/i;
/** The most characters of a name that are shown. */
const MAX_SHOWN = 64;

/** The error about such a field; it never repeats the value. */
export const IS_SECRET = 'looks like a key; keys belong in auth.json (`blockhouse auth set <provider>`)';

/**
 * The path of the first field, at any depth, whose name sounds like that of a key (`adapter.apiKey`, `mine[1].token`); undefined when there is none.
 * `value` must not nest too deep.
 */
export function secretField(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const here = placeOf(name, path, isObject(value));
    const found = isObject(value) && SOUNDS_SECRET.test(name) ? here : secretField(inner, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

function placeOf(name: string, path: string, isField: boolean): string {
  if (!isField) return `${path}[${name}]`;
  return path === '' ? name.slice(0, MAX_SHOWN) : `${path}.${name.slice(0, MAX_SHOWN)}`;
}
