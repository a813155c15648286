// Ids of spans as random bytes, which a batch copies. Their hexadecimal digits are made where somebody asks for them. Pure, but for the randomness.
import { randomBytes } from 'node:crypto';
import { type TraceParent, traceparentOf } from '../../core/base/traceparent.ts';

export const TRACE_BYTES = 16;
export const SPAN_BYTES = 8;
const RECORDED = 1;

/** The ids of a span: where their bytes stand. */
export class RawIds implements TraceParent {
  readonly trace: Buffer;
  readonly traceAt: number;
  readonly span: Buffer;
  readonly spanAt: number;
  readonly flags: number;
  /** The header that names it; '' where nobody needs that. */
  readonly header: string;

  constructor(trace: Buffer, traceAt: number, span: Buffer, spanAt: number, flags: number, header: string) {
    this.trace = trace;
    this.traceAt = traceAt;
    this.span = span;
    this.spanAt = spanAt;
    this.flags = flags;
    this.header = header;
  }

  get traceId(): string {
    return this.trace.toString('hex', this.traceAt, this.traceAt + TRACE_BYTES);
  }

  get spanId(): string {
    return this.span.toString('hex', this.spanAt, this.spanAt + SPAN_BYTES);
  }
}

/** So many at once, since each time is a call of the system. */
const ROOTS = 512;
const ROOT_BYTES = TRACE_BYTES + SPAN_BYTES;
const HEADER = 55;
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Headers with random ids, one after the other: to put one together from its parts takes longer than to cut it out, and leaves more garbage. */
const HEADERS = Buffer.from(traceparentOf({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), flags: RECORDED }).repeat(ROOTS));
let headers = '';
let roots = Buffer.alloc(0);
let nextRoot = ROOTS;

/** The ids of a span that is the root of its trace and recorded, with its header. */
export function newRoot(): RawIds {
  if (nextRoot === ROOTS) renewRoots();
  const at = nextRoot * ROOT_BYTES;
  const header = headers.slice(nextRoot * HEADER, (nextRoot + 1) * HEADER);
  nextRoot += 1;
  return new RawIds(roots, at, roots, at + TRACE_BYTES, RECORDED, header);
}

function renewRoots(): void {
  roots = randomBytes(ROOTS * ROOT_BYTES);
  for (let index = 0; index < ROOTS; index += 1) {
    putHex(index * ROOT_BYTES, TRACE_BYTES, index * HEADER + 3);
    putHex(index * ROOT_BYTES + TRACE_BYTES, SPAN_BYTES, index * HEADER + 36);
  }
  headers = HEADERS.toString('latin1');
  nextRoot = 0;
}

/** Puts so many bytes as digits there. */
function putHex(from: number, count: number, to: number): void {
  for (let index = 0; index < count; index += 1) {
    const byte = roots[from + index] as number;
    HEADERS[to + 2 * index] = DIGITS[byte >>> 4] as number;
    HEADERS[to + 2 * index + 1] = DIGITS[byte & 0xf] as number;
  }
}

const SPANS_BYTES = 512 * SPAN_BYTES;
let spans = Buffer.alloc(0);
let nextSpan = SPANS_BYTES;

/** The ids of a new span within another one. */
export function newWithin({ trace, traceAt, flags }: RawIds): RawIds {
  if (nextSpan === SPANS_BYTES) {
    spans = randomBytes(SPANS_BYTES);
    nextSpan = 0;
  }
  nextSpan += SPAN_BYTES;
  return new RawIds(trace, traceAt, spans, nextSpan - SPAN_BYTES, flags, '');
}
