// Parses the bytes of a JSON file strictly. Pure: no I/O.
import { exceededLimit, MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJson } from './json.ts';
import { faultPlace } from './json-place.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The value in a JSON file. Throws an Error whose text says what is wrong, and where, and quotes nothing: no valid UTF-8 or JSON, nesting deeper than
 * MAX_JSON_DEPTH, more than `maxValues` fields and elements.
 */
export function parseBytes(bytes: Uint8Array, maxValues: number = MAX_JSON_VALUES): unknown {
  // The limits come first: a file that goes beyond them is not even decoded.
  const exceeded = exceededLimit(bytes, { values: maxValues, depth: MAX_JSON_DEPTH });
  if (exceeded === 'depth') throw new Error(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  if (exceeded === 'values') throw new Error(`it contains more than ${maxValues} fields and elements`);
  const text = decoded(bytes);
  if (text.charCodeAt(0) === 0xfeff) throw new Error('it begins with a byte order mark');
  if (text.trim() === '') throw new Error('it is empty');
  try {
    return parseJson(text);
  } catch (error) {
    // V8 quotes the text around the fault, and that text may be private.
    throw new Error(`it is not valid JSON (${faultPlace(text)})`, { cause: error });
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new Error('it is not valid UTF-8', { cause: error });
  }
}
