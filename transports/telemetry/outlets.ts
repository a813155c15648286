// How batches of spans get to the collector: with the transport of the packages, which repeats, compresses, signs and gives up as their variables say. Bytes are written here
// (span-batch.ts), since to make objects of the packages and their bytes took a small request a fifth of its time; for JSON, the packages do all of it.
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { ByteBatch, ObjectBatch, type Origin, RequestHead } from './span-batch.ts';
import type { Sent, SpanOutlet } from './span-queue.ts';

/** What is used of `@opentelemetry/otlp-exporter-base/node-http`, of which the package's own exporters are made. */
export type NodeHttp = Pick<typeof import('@opentelemetry/otlp-exporter-base/node-http'), 'convertLegacyHttpOptions' | 'createOtlpHttpExportDelegate'>;

/** `ExportResultCode.SUCCESS` of @opentelemetry/core, which is no package of our own choice. */
const SUCCESS = 0;
/** What the packages call an exporter like this one in their own metrics. */
const COMPONENT = 'otlp_http_span_exporter';
/** Larger ones, of spans with content, are not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;

interface Result {
  readonly code: number;
  readonly error?: Error | undefined;
}

function failureOf({ code, error }: Result): Error | undefined {
  return code === SUCCESS ? undefined : (error ?? new Error('The collector has refused it.'));
}

/** Sends protobuf. */
export class ByteOutlet implements SpanOutlet<ByteBatch> {
  readonly #head: RequestHead;
  readonly #delegate: ReturnType<typeof createDelegate>;
  /** The bytes of an earlier batch, for the next one. */
  #spare: Buffer | undefined;
  /** Of the batch under way. */
  #refused = 0;

  constructor(packages: NodeHttp, origin: Origin) {
    this.#head = new RequestHead(origin);
    this.#delegate = createDelegate(packages, (refused) => {
      this.#refused = refused;
    });
  }

  open(): ByteBatch {
    const batch = new ByteBatch(this.#head, this.#spare);
    this.#spare = undefined;
    return batch;
  }

  export(batch: ByteBatch, done: (sent: Sent) => void): void {
    this.#refused = 0;
    this.#delegate.export(batch, (result) => {
      const failure = failureOf(result);
      if (failure === undefined && batch.bytes.length <= MAX_KEPT_BYTES) this.#spare = batch.bytes; // of one that failed, something may still be on its way
      done({ failure, refused: this.#refused });
    });
  }
}

function createDelegate({ convertLegacyHttpOptions, createOtlpHttpExportDelegate }: NodeHttp, refused: (count: number) => void) {
  const options = convertLegacyHttpOptions({}, 'TRACES', 'v1/traces', { 'Content-Type': 'application/x-protobuf' });
  const serializer = {
    serializeRequest: (batch: ByteBatch) => batch.request(),
    deserializeResponse: (data: Uint8Array) => {
      const partialSuccess = readPartialSuccess(data);
      refused(partialSuccess?.rejectedSpans ?? 0);
      return partialSuccess === undefined ? {} : { partialSuccess };
    },
  };
  return createOtlpHttpExportDelegate(options, serializer, COMPONENT, { name: 'span', countItems: ({ count }: ByteBatch) => count }, undefined);
}

/** Sends what an exporter of the packages makes of the spans. */
export class ObjectOutlet implements SpanOutlet<ObjectBatch> {
  readonly #exporter: SpanExporter;
  readonly #origin: Origin;

  constructor(exporter: SpanExporter, origin: Origin) {
    this.#exporter = exporter;
    this.#origin = origin;
  }

  open(): ObjectBatch {
    return new ObjectBatch(this.#origin);
  }

  export({ spans }: ObjectBatch, done: (sent: Sent) => void): void {
    this.#exporter.export(spans, (result) => done({ failure: failureOf(result) }));
  }
}

/** What a collector says of a batch that it has not taken whole: `ExportTracePartialSuccess`. */
interface PartialSuccess {
  rejectedSpans?: number;
  errorMessage?: string;
}

/** Of the bytes of an `ExportTraceServiceResponse`; undefined if it has none. Throws RangeError for bytes that are cut off. */
export function readPartialSuccess(data: Uint8Array): PartialSuccess | undefined {
  for (const { field, bytes } of fieldsOf(data)) {
    if (field !== 1 || bytes === undefined) continue;
    const partial: PartialSuccess = {};
    for (const inner of fieldsOf(bytes)) {
      if (inner.field === 1) partial.rejectedSpans = inner.value;
      if (inner.field === 2 && inner.bytes !== undefined) partial.errorMessage = Buffer.from(inner.bytes).toString();
    }
    return partial;
  }
  return undefined;
}

interface Field {
  readonly field: number;
  /** Of a varint; 0 for others. */
  readonly value: number;
  /** Of a text, bytes or a message. */
  readonly bytes: Uint8Array | undefined;
}

function* fieldsOf(data: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = data[at++];
      if (byte === undefined) throw new RangeError('The answer of the collector is cut off.');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < data.length) {
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    if (type === 0) yield { field, value: varint(), bytes: undefined };
    else {
      const size = type === 2 ? varint() : type === 1 ? 8 : 4;
      at += size;
      if (at > data.length) throw new RangeError('The answer of the collector is cut off.');
      yield { field, value: 0, bytes: data.subarray(at - size, at) };
    }
  }
}
