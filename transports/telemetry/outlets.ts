// How batches of spans and events get to the collector: with the transport of the packages, which repeats, compresses, signs and gives up as their variables say. Bytes are written here
// (span-batch.ts), since to make objects of the packages and their bytes took a small request a fifth of its time; for spans in JSON, the packages do all of it.
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { parseJson } from '../../core/base/json.ts';
import { type CollectorSender, toBlockhouseError } from '../../core/index.ts';
import { ByteEvents, type EventBatch, JsonEvents } from './event-batch.ts';
import type { Outlet, Sent } from './export-queue.ts';
import { guarded } from './guarded-agent.ts';
import type { OtlpProtocol } from './settings.ts';
import { ByteBatch, ObjectBatch, type Origin, RequestHead } from './span-batch.ts';

/** What is used of `@opentelemetry/otlp-exporter-base/node-http`, of which the package's own exporters are made. */
export type NodeHttp = Pick<
  typeof import('@opentelemetry/otlp-exporter-base/node-http'),
  'convertLegacyHttpOptions' | 'createOtlpHttpExportDelegate' | 'createOtlpHttpExporterMetrics'
>;

/** One POST. */
export type Post = CollectorSender['post'];

/** What sends where nothing but HTTP is needed. */
export interface PlainHttp extends Pick<typeof import('@opentelemetry/otlp-exporter-base'), 'createOtlpNetworkExportDelegate'> {
  readonly post: Post;
}

/** `ExportResultCode.SUCCESS` of @opentelemetry/core, which is no package of our own choice. */
const SUCCESS = 0;
/** Where each goes, and what the packages call an exporter like this one in their own metrics. */
const SIGNALS = {
  span: { variables: 'TRACES', path: 'v1/traces', component: 'otlp_http_span_exporter' },
  log: { variables: 'LOGS', path: 'v1/logs', component: 'otlp_http_log_exporter' },
} as const;
const CONTENT_TYPES: Readonly<Record<OtlpProtocol, string>> = { 'http/protobuf': 'application/x-protobuf', 'http/json': 'application/json' };
/** Larger ones, of spans with content, are not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;

interface Result {
  readonly code: number;
  readonly error?: Error | undefined;
}

function failureOf({ code, error }: Result): Error | undefined {
  return code === SUCCESS ? undefined : (error ?? new Error('The collector has refused it.'));
}

/** What writes its request itself. */
interface Written {
  readonly count: number;
  request(): Uint8Array;
}

type Delegate<Batch> = { export(batch: Batch, done: (result: Result) => void): void };
type HttpOptions = ReturnType<NodeHttp['convertLegacyHttpOptions']>;

/** What a collector, or something in front of it, says that may take the batch later. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** There is no time left. */
const OVER: ReadonlySet<string> = new Set(['UPSTREAM_TIMEOUT', 'SHUTTING_DOWN']);

/**
 * Sends a batch with `post`, once. What that is no good for, the packages do: they encrypt, compress, and send passwords of addresses and names of hosts from the start, and repeat what has failed.
 */
class PlainTransport {
  readonly #post: Post;
  readonly #options: HttpOptions;
  readonly #url: URL;
  readonly #userAgent: string;
  /** The last batch may be taken by the packages. */
  isRetryable = false;
  /** There was no time left for it. */
  isOver = false;

  constructor(post: Post, options: HttpOptions, { scope: { name, version = '' } }: Origin) {
    this.#post = post;
    this.#options = options;
    this.#url = new URL(options.url);
    this.#userAgent = `${name}/${version}`;
  }

  static takes({ url, compression }: HttpOptions): boolean {
    const { protocol, username, password } = new URL(url);
    return protocol === 'http:' && username + password === '' && compression === 'none';
  }

  async send(data: Uint8Array, timeoutMs: number) {
    this.isRetryable = true;
    this.isOver = false;
    const headers: Record<string, string> = { 'user-agent': this.#userAgent, ...(await this.#options.headers()) };
    if (Object.keys(headers).some((name) => name.toLowerCase() === 'host')) throw new Error('The packages send another host.');
    const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const answer = await this.#post(this.#url, headers, body, timeoutMs).catch((error: unknown) => {
      this.isOver = OVER.has(toBlockhouseError(error).code);
      this.isRetryable = !this.isOver;
      throw error;
    });
    return this.#resultOf(answer);
  }

  #resultOf({ status, body }: Awaited<ReturnType<Post>>) {
    this.isRetryable = RETRYABLE.has(status);
    if (status >= 200 && status < 300) return { status: 'success' as const, data: body };
    return { status: 'failure' as const, error: new Error(`The collector has answered with the status ${status}.`) };
  }

  shutdown(): void {
    // Who has made `post` ends its connections.
  }
}

/** Sends one batch after the other. */
class Sender<Batch extends Written> {
  readonly #usual: Delegate<Batch>;
  readonly #plain: { readonly delegate: Delegate<Batch>; readonly transport: PlainTransport } | undefined;
  /** The collector has taken the last batch, or has not answered in time. */
  #isWell = true;
  /** Of the batch under way. */
  #refused = 0;

  constructor(packages: NodeHttp, origin: Origin, of: keyof typeof SIGNALS, protocol: OtlpProtocol, plain?: PlainHttp) {
    const { variables, path, component } = SIGNALS[of];
    const given = packages.convertLegacyHttpOptions({}, variables, path, { 'Content-Type': CONTENT_TYPES[protocol] });
    const options = { ...given, agentFactory: guarded(given.agentFactory) };
    const read = protocol === 'http/json' ? readJsonPartialSuccess : readPartialSuccess;
    const serializer = {
      serializeRequest: (batch: Batch) => batch.request(),
      deserializeResponse: (data: Uint8Array) => {
        const partialSuccess = read(data);
        this.#refused = partialSuccess?.rejected ?? 0;
        return partialSuccess === undefined ? {} : { partialSuccess };
      },
    };
    const items = { name: of, countItems: ({ count }: Batch) => count };
    this.#usual = packages.createOtlpHttpExportDelegate(options, serializer, component, items, undefined);
    if (plain === undefined || !PlainTransport.takes(options)) return;
    const transport = new PlainTransport(plain.post, options, origin);
    const metrics = packages.createOtlpHttpExporterMetrics(component, items, options.url, undefined);
    this.#plain = { transport, delegate: plain.createOtlpNetworkExportDelegate(options, serializer, metrics, transport) };
  }

  send(batch: Batch, done: (sent: Sent) => void): void {
    this.#refused = 0;
    const end = (result: Result, isOver = false): void => {
      const failure = failureOf(result);
      this.#isWell = failure === undefined || isOver; // an answer that never ends, the packages wait for without end
      done({ failure, refused: this.#refused });
    };
    const plain = this.#isWell ? this.#plain : undefined;
    if (plain === undefined) {
      this.#usual.export(batch, (result) => end(result));
      return;
    }
    plain.delegate.export(batch, (result) => {
      if (result.code !== SUCCESS && plain.transport.isRetryable) this.#usual.export(batch, (again) => end(again));
      else end(result, plain.transport.isOver);
    });
  }
}

/** Sends spans as protobuf. */
export class ByteOutlet implements Outlet<ByteBatch> {
  readonly #head: RequestHead;
  readonly #sender: Sender<ByteBatch>;
  /** The bytes of an earlier batch, for the next one. */
  #spare: Buffer | undefined;

  constructor(packages: NodeHttp, origin: Origin, plain?: PlainHttp) {
    this.#head = new RequestHead(origin);
    this.#sender = new Sender(packages, origin, 'span', 'http/protobuf', plain);
  }

  open(): ByteBatch {
    const batch = new ByteBatch(this.#head, this.#spare);
    this.#spare = undefined;
    return batch;
  }

  export(batch: ByteBatch, done: (sent: Sent) => void): void {
    this.#sender.send(batch, (sent) => {
      if (sent.failure === undefined && batch.bytes.length <= MAX_KEPT_BYTES) this.#spare = batch.bytes; // of one that failed, something may still be on its way
      done(sent);
    });
  }
}

/** Sends events. */
export class EventOutlet implements Outlet<EventBatch> {
  readonly open: () => EventBatch;
  readonly #sender: Sender<EventBatch>;

  constructor(packages: NodeHttp, origin: Origin, protocol: OtlpProtocol, plain?: PlainHttp) {
    const head = new RequestHead(origin);
    this.open = protocol === 'http/json' ? () => new JsonEvents(origin) : () => new ByteEvents(head);
    this.#sender = new Sender(packages, origin, 'log', protocol, plain);
  }

  export(batch: EventBatch, done: (sent: Sent) => void): void {
    this.#sender.send(batch, done);
  }
}

/** Sends what an exporter of the packages makes of the spans. */
export class ObjectOutlet implements Outlet<ObjectBatch> {
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

/** What a collector says of a batch that it has not taken whole: `ExportTracePartialSuccess`, `ExportLogsPartialSuccess`. */
interface PartialSuccess {
  rejected?: number;
  errorMessage?: string;
}

/** Of the bytes of an `ExportTraceServiceResponse` or that of logs, which has the same fields; undefined if it has none. Throws RangeError for bytes that are cut off. */
export function readPartialSuccess(data: Uint8Array): PartialSuccess | undefined {
  for (const { field, bytes } of fieldsOf(data)) {
    if (field !== 1 || bytes === undefined) continue;
    const partial: PartialSuccess = {};
    for (const inner of fieldsOf(bytes)) {
      if (inner.field === 1) partial.rejected = inner.value;
      if (inner.field === 2 && inner.bytes !== undefined) partial.errorMessage = Buffer.from(inner.bytes).toString();
    }
    return partial;
  }
  return undefined;
}

/** The same of JSON, in which numbers of 64 bits may be texts. Throws SyntaxError for what is none. */
export function readJsonPartialSuccess(data: Uint8Array): PartialSuccess | undefined {
  const { partialSuccess } = parseJson(Buffer.from(data).toString() || '{}') as {
    partialSuccess?: { rejectedLogRecords?: number | string; errorMessage?: string };
  };
  if (partialSuccess === undefined) return undefined;
  const { rejectedLogRecords, errorMessage } = partialSuccess;
  return { ...(rejectedLogRecords !== undefined && { rejected: Number(rejectedLogRecords) }), ...(errorMessage !== undefined && { errorMessage }) };
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
