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

/** Undefined for a text that is not well formed. */
export function parseTraceparent(text: unknown): TraceParent | undefined {
  const [, traceId, spanId, flags = ''] = typeof text === 'string' ? (FORM.exec(text) ?? []) : [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** The header of these headers, without what a later version has behind the flags; undefined if there is none that is well formed. */
export function traceparentIn(headers: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const text = headers?.['traceparent'];
  return typeof text === 'string' && FORM.test(text) ? text.slice(0, LENGTH) : undefined;
}

/** The header for a span. */
export function traceparentOf({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** A new span within the one that this header names. Takes a header that is well formed. */
export function spanWithin(traceparent: string): { readonly spanId: string; readonly traceparent: string } {
  const spanId = randomBytes(8).toString('hex');
  return { spanId, traceparent: `${traceparent.slice(0, 36)}${spanId}${traceparent.slice(52)}` };
}
