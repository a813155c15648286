// What a provider says and is told, in terms that all five share: the suite speaks meanings, a wire translates them to the
// provider's own bytes. Shapes are from the official SDKs' types and the providers' documents (docs/adapters.md).
import type { Adapter, ErrorCode, StopReason } from '../../core/index.ts';
import type { RecordedRequest } from '../support/upstream.ts';

export interface MeantCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** An answer, whatever the wire. */
export interface Meaning {
  /** What the model thinks first: its fragments, and the state that the provider wants back, where it has one. */
  readonly reasoning?: { readonly text: readonly string[]; readonly state: string };
  /** Fragments, as a stream would bring them. */
  readonly text: readonly string[];
  readonly toolCalls: readonly MeantCall[];
  readonly stop: StopReason;
  /** Inclusive counts, as Blockhouse gives them; undefined for a provider that reports none. */
  readonly usage:
    | undefined
    | { readonly input: number; readonly output: number; readonly cacheRead?: number; readonly cacheWrite?: number; readonly reasoning?: number };
}

/** What of a request reached the provider, whatever the wire. */
export interface SentRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string | undefined;
  /** Texts of user and assistant turns in order, as `role: text`. */
  readonly texts: readonly string[];
  readonly tools: readonly string[];
  readonly calls: readonly MeantCall[];
  readonly results: readonly { readonly id: string; readonly content: string; readonly isError: boolean | undefined }[];
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
}

export interface WireError {
  readonly title: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
}

export interface Wire {
  readonly name: string;
  readonly adapter: string;
  readonly model: string;
  create(): Adapter;
  env(url: string): Record<string, string>;
  /** Content of auth.json, where the environment can't say it. */
  readonly stored?: Record<string, Record<string, string>>;
  /** Content type and body of a whole answer. */
  whole(meaning: Meaning): { readonly type: string; readonly body: Buffer };
  /** Content type and frames of a streamed answer; the last `endFrames` of them carry the end mark and what follows it. */
  stream(meaning: Meaning): { readonly type: string; readonly frames: readonly Buffer[]; readonly endFrames: number };
  /** A frame that tells of an overload in the middle of a stream. */
  streamError(message: string): Buffer;
  readonly errors: readonly WireError[];
  readRequest(request: RecordedRequest): SentRequest;
  /** Stop reasons that the provider can't express, and other cases that don't exist on it: name → reason. */
  readonly gaps: Readonly<Record<string, string>>;
  /** True when the frames are lines, so that they may also end in CRLF. */
  readonly lines: boolean;
}

/** The case of an error status, in the usual four kinds. */
export function errorCase(title: string, status: number, body: unknown, code: ErrorCode, retryable: boolean, headers?: Record<string, string>): WireError {
  return { title, status, body: typeof body === 'string' ? body : JSON.stringify(body), code, retryable, ...(headers !== undefined && { headers }) };
}

export function sse(data: unknown, event?: string): Buffer {
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
}

/** JSON text cut into pieces, as providers stream arguments. */
export function pieces(json: string, size = 7): string[] {
  const all: string[] = [];
  for (let at = 0; at < json.length; at += size) all.push(json.slice(at, at + size));
  return all;
}
