// Reads the JSON of long answers in slices, with turns of the event loop between them: V8 needs seconds for some megabytes of names that all differ. Pure but for the turns.
//
// same-turns: long answers of all providers, and long bodies of clients, are parsed one slice in a turn, one provider after the other.
// one-for-each: of one provider, one long answer is parsed at a time. Many that are half parsed would take the memory of all of them together.
// fair-line: of those who wait for the answers of one provider, each client has the next turn once, so that many answers of one don't stand before those of another.
// gone-ends: what nobody waits for any more is not parsed further, and what waits for its turn leaves the line. The call fails at once, while what has come can still be counted: in the
//   next turn of the event loop it is settled.
// step-alone: what is done with the value begins in a turn of its own.
import { isAscii, isUtf8 } from 'node:buffer';
import { offAbort, onAbort } from '../../core/base/abort.ts';
import { type JsonLimits, MAX_OBJECT_FIELDS } from '../../core/base/json.ts';
import { parseInSlices, TooMuchJson } from '../../core/base/json-slices.ts';
import { nextTurn } from '../../core/base/next-turn.ts';
import { type AdapterCall, ANSWER_LIMITS, type BlockhouseError, type ChatCall } from '../../core/index.ts';
import { cancelled } from '../outbound/call.ts';
import { malformed, type Provider } from './provider.ts';
import { beyond, LONG_JSON_BYTES } from './read.ts';

/** What a chat may answer that has not asked for log probabilities. */
export const CHAT_JSON: JsonLimits = { values: ANSWER_LIMITS.chatValues, depth: ANSWER_LIMITS.depth, fields: MAX_OBJECT_FIELDS };
/** What may answer this chat. */
export function limitsOf({ prompt }: ChatCall): JsonLimits {
  return prompt.options?.logprobs === true ? { ...CHAT_JSON, values: ANSWER_LIMITS.values } : CHAT_JSON;
}

/** What may answer anything else. */
export const ANY_JSON: JsonLimits = { values: ANSWER_LIMITS.values };

/** True for what `parseLong` is for: a shorter text is parsed in some milliseconds, whatever it is. */
export function isLong(bytes: Uint8Array): boolean {
  return bytes.length >= LONG_JSON_BYTES;
}

/** Who waits for a value, and of whom it is. */
export interface Reader {
  /** The id of the provider whose turns it takes. */
  readonly provider: string;
  /** Who has asked the provider (fair-line). */
  readonly client: string;
  /** Fires when nobody waits for it any more (gone-ends). */
  readonly gone: AbortSignal;
}

/** A call that is read on although its caller leaves has `until`. */
export function readerOf({ id }: Provider, { signal, until, client = '' }: AdapterCall): Reader {
  return { provider: id, client, gone: until ?? signal };
}

/** The value of JSON; undefined if it is none. Rejects with UPSTREAM_MALFORMED for what exceeds the limits, with CANCELLED where nobody waits. */
export async function parseLong(bytes: Buffer, limits: JsonLimits, reader: Reader): Promise<unknown> {
  assertAwaited(reader);
  await begin(reader);
  try {
    return await untilGone(parse(bytes, limits, reader), reader);
  } finally {
    end(reader.provider);
  }
}

function assertAwaited(reader: Reader): void {
  if (reader.gone.aborted) throw left(reader);
}

function left({ gone }: Reader): BlockhouseError {
  return cancelled(gone.reason, true);
}

/** gone-ends. Settles as `work` does, unless nobody waits for it any more. */
function untilGone<T>(work: Promise<T>, reader: Reader): Promise<T> {
  return new Promise((resolve, reject) => {
    const place = onAbort(reader.gone, () => reject(left(reader)));
    void work.then(resolve, reject).finally(() => offAbort(place));
  });
}

/** Of each provider of which an answer is parsed: those who wait, by their client; the first client has the next turn. */
const lines = new Map<string, Map<string, (() => void)[]>>();

/** Resolves when it may be parsed (one-for-each). Rejects with CANCELLED where nobody waits (gone-ends). */
function begin(reader: Reader): Promise<void> | undefined {
  const { provider, client, gone } = reader;
  const line = lines.get(provider);
  if (line === undefined) {
    lines.set(provider, new Map());
    return undefined;
  }
  return new Promise((go, fail) => {
    const place = onAbort(gone, () => {
      takeOut(line, client, begins);
      fail(left(reader));
    });
    const begins = (): void => {
      offAbort(place);
      go();
    };
    const own = line.get(client);
    if (own === undefined) line.set(client, [begins]);
    else own.push(begins);
  });
}

function takeOut(line: Map<string, (() => void)[]>, client: string, begins: () => void): void {
  const others = line.get(client)?.filter((each) => each !== begins) ?? [];
  if (others.length > 0) line.set(client, others);
  else line.delete(client);
}

/** fair-line. */
function end(provider: string): void {
  const line = lines.get(provider);
  for (const [client, own] of line ?? []) {
    const go = own.shift();
    line?.delete(client);
    if (own.length > 0) line?.set(client, own);
    go?.();
    return;
  }
  lines.delete(provider);
}

async function parse(bytes: Buffer, limits: JsonLimits, reader: Reader): Promise<unknown> {
  const turn = async (): Promise<void> => {
    await nextTurn(`answers of ${reader.provider}`); // same-turns
    assertAwaited(reader);
  };
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
