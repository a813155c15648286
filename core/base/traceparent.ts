// The header `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context/): to which trace and which span a request belongs. Pure: no I/O.

import { randomBytes } from 'node:crypto';

/** A span, as the header names it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Bit 0 says that the span is recorded. */
  readonly flags: number;
}

/** A later version may have more behind the flags; the version ff and ids of nothing but zeros are not allowed. */
const FORM = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.{53})-)/;
const LENGTH = 55;
/** The version that is sent today. */
const START = '00-';
const IS_DIGIT = Uint8Array.from({ length: 128 }, (_, code) => ('0123456789abcdef'.includes(String.fromCharCode(code)) ? 1 : 0));
const FLAGS = ['00', '01'];
const ZERO = '0'.charCodeAt(0);

/** Undefined for a text that is not well formed. */
export function parseTraceparent(text: unknown): TraceParent | undefined {
  if (typeof text !== 'string') return undefined;
  if (isPlain(text)) return { traceId: text.slice(3, 35), spanId: text.slice(36, 52), flags: Number.parseInt(text.slice(53), 16) };
  const [, traceId, spanId, flags = ''] = FORM.exec(text) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** The header of these headers, without what a later version has behind the flags; undefined if there is none that is well formed. */
export function traceparentIn(headers: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const text = headers?.['traceparent'];
  if (typeof text !== 'string') return undefined;
  return isPlain(text) ? text : FORM.test(text) ? text.slice(0, LENGTH) : undefined;
}

/** The last one of the usual form: several parts of a request look at its header, one soon after the other. */
let plain = '';

/** True for the usual form. With traces each request has one, and FORM takes ten times as long. */
function isPlain(text: string): boolean {
  if (text === plain) return true;
  if (text.length !== LENGTH || !text.startsWith(START) || text[35] !== '-' || text[52] !== '-') return false;
  if (!isId(text, 3, 35) || !isId(text, 36, 52) || IS_DIGIT[text.charCodeAt(53)] !== 1 || IS_DIGIT[text.charCodeAt(54)] !== 1) return false;
  plain = text;
  return true;
}

function isId(text: string, from: number, to: number): boolean {
  let isZero = true;
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index);
    if (IS_DIGIT[code] !== 1) return false;
    if (code !== ZERO) isZero = false;
  }
  return !isZero;
}

/** The header for a span. */
export function traceparentOf({ traceId, spanId, flags }: TraceParent): string {
  return `${START}${traceId}-${spanId}-${FLAGS[flags] ?? flags.toString(16).padStart(2, '0')}`;
}

/** A new span within the one that this header names. Takes a header that is well formed. */
export function spanWithin(traceparent: string): { readonly spanId: string; readonly traceparent: string } {
  const spanId = randomBytes(8).toString('hex');
  return { spanId, traceparent: `${traceparent.slice(0, 36)}${spanId}${traceparent.slice(52)}` };
}
