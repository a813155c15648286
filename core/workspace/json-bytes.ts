// Bytes of a file, as strictly as they must be to be JSON of ours. Pure: no I/O.
import { parseJson } from '../json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws an Error whose text says what is wrong, and quotes nothing. */
export function parseBytes(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new Error('it is not valid UTF-8', { cause: error });
  }
  if (text.charCodeAt(0) === 0xfeff) throw new Error('it begins with a byte order mark');
  if (text.trim() === '') throw new Error('it is empty');
  try {
    return parseJson(text);
  } catch (error) {
    // V8 quotes the text around the fault; what stands there is for no log.
    const where = /position \d+/.exec((error as Error).message)?.[0];
    throw new Error(`it is not valid JSON${where === undefined ? '' : ` (at ${where})`}`, { cause: error });
  }
}
