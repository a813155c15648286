// A chat request that has passed all checks: what every attempt at it needs. Pure: no I/O.
import { createHash } from 'node:crypto';
import type { Adapter, StreamSink } from '../ports.ts';
import type { ChatRequest } from '../types.ts';
import type { Sourced } from './breaker.ts';
import type { Prompt } from './prompt.ts';

/** Options of a call, besides the request itself. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
  /** The id of the request in events and logs; generated if absent. */
  readonly requestId?: string | undefined;
  /**
   * Who makes the call, for example the name of a block. Failures of one caller alone never pause a provider for the others. Without it, requests with the
   * same prompt count as one caller.
   */
  readonly caller?: string | undefined;
  /** The name of the key that the client has presented; undefined for the token of the workspace. Appears in facts and in the ledger of gateway calls. */
  readonly key?: string | undefined;
  /** The caller keeps account of the call itself, so the ledger of gateway calls leaves it out. */
  readonly isBilled?: boolean | undefined;
  /** Called right before each attempt. If it throws, no attempt is made and the request fails with that error. */
  onTurn?(): void;
}

interface AcceptedParts {
  readonly request: ChatRequest;
  readonly adapter: Adapter;
  readonly prompt: Prompt;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Called with fragments as they come; absent if the caller wants the whole answer. */
  readonly sink: StreamSink | undefined;
  readonly options: CallOptions;
}

/** One request as it was accepted. */
export class AcceptedChat implements Sourced {
  readonly request: ChatRequest;
  readonly adapter: Adapter;
  readonly prompt: Prompt;
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly sink: StreamSink | undefined;
  readonly #options: CallOptions;
  #source: string | undefined;

  constructor({ request, adapter, prompt, signal, requestId, sink, options }: AcceptedParts) {
    this.request = request;
    this.adapter = adapter;
    this.prompt = prompt;
    this.signal = signal;
    this.requestId = requestId;
    this.sink = sink;
    this.#options = options;
  }

  /** Who makes the call, if the caller says so. */
  get caller(): string | undefined {
    return this.#options.caller;
  }

  /** The name of the client's key. */
  get key(): string | undefined {
    return this.#options.key;
  }

  /** True if the caller keeps account of the call itself. */
  get isBilled(): boolean | undefined {
    return this.#options.isBilled;
  }

  /** The caller, or a hash of the model and the prompt. Worked out when something fails: a hash costs more than the rest of a small request. */
  get source(): string {
    const { caller } = this.#options;
    this.#source ??= caller === undefined ? `prompt ${hashOf(this.request.model, this.prompt)}` : `caller ${caller}`;
    return this.#source;
  }

  /** Tells the caller that an attempt is about to be made. Throws what the caller throws. */
  tellTurn(): void {
    this.#options.onTurn?.();
  }
}

function hashOf(model: string, { system, turns }: Prompt): string {
  return createHash('sha256')
    .update(JSON.stringify([model, system, turns]))
    .digest('base64');
}
