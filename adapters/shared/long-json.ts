// Reads the JSON of long answers in slices, with turns of the event loop between them: V8 needs seconds for some megabytes of names that all differ. Pure but for the turns.
//
// same-turns: long answers of all providers, and long bodies of clients, are parsed one slice in a turn, one provider after the other.
// one-for-each: of one provider, one long answer is parsed at a time. Many that are half parsed would take the memory of all of them together.
// step-alone: what is done with the value begins in a turn of its own.
import { isAscii, isUtf8 } from 'node:buffer';
import { type JsonLimits, MAX_OBJECT_FIELDS } from '../../core/base/json.ts';
import { parseInSlices, TooMuchJson } from '../../core/base/json-slices.ts';
import { nextTurn } from '../../core/base/next-turn.ts';
import { ANSWER_LIMITS } from '../../core/index.ts';
import { malformed } from './provider.ts';
import { beyond, LONG_JSON_BYTES } from './read.ts';

/** What a chat may answer. */
export const CHAT_JSON: JsonLimits = { values: ANSWER_LIMITS.chatValues, depth: ANSWER_LIMITS.depth, fields: MAX_OBJECT_FIELDS };
/** What may answer anything else. */
export const ANY_JSON: JsonLimits = { values: ANSWER_LIMITS.values };

/** True for what `parseLong` is for: a shorter text is parsed in some milliseconds, whatever it is. */
export function isLong(bytes: Uint8Array): boolean {
  return bytes.length >= LONG_JSON_BYTES;
}

/** The value of JSON; undefined if it is none. `provider` is the one whose turns it takes. Rejects with UPSTREAM_MALFORMED for what exceeds the limits. */
export function parseLong(bytes: Buffer, limits: JsonLimits, provider: string): Promise<unknown> {
  const before = last.get(provider);
  const parsed = before === undefined ? parse(bytes, limits, provider) : before.then(() => parse(bytes, limits, provider)); // one-for-each
  const done = parsed.then(ignore, ignore).then(() => {
    if (last.get(provider) === done) last.delete(provider);
  });
  last.set(provider, done);
  return parsed;
}

/** The end of the last long answer of each provider that has one (one-for-each). */
const last = new Map<string, Promise<void>>();
const ignore = (): void => undefined;

async function parse(bytes: Buffer, limits: JsonLimits, provider: string): Promise<unknown> {
  const turn = (): Promise<void> => nextTurn(`answers of ${provider}`); // same-turns
  // What is no UTF-8 is read as a decoder of text reads it.
  const text = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
  try {
    const value = await parseInSlices(withoutMark(text), { ...limits, turn, encoding: isAscii(text) ? 'latin1' : 'utf8' });
    await turn(); // step-alone
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (!(error instanceof TooMuchJson)) throw error;
    throw error.exceeded === 'token' ? malformed(`it ${error.message}`) : beyond(error.exceeded, limits);
  }
}

const MARK = Buffer.from('\ufeff');

function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, MARK.length).equals(MARK) ? text.subarray(MARK.length) : text;
}
