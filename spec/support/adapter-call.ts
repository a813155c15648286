// What a spec needs to call parts of an adapter without a gateway around them.
import dns from 'node:dns';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import type { UpstreamHandler } from '../../adapters/outbound/client.ts';
import { type ChatContext, type StreamDecoder, StreamError } from '../../adapters/shared/provider.ts';
import type { ProviderError } from '../../adapters/shared/provider-errors.ts';
import { resolveSettings } from '../../core/auth/settings.ts';
import { toPrompt } from '../../core/gateway/prompt.ts';
import type { Adapter, AdapterCall, ChatCall, ChatEvent, ChatRequest, EgressRule, Environment, ResolvedSettings } from '../../core/index.ts';
import { type ChatConfig, createCore } from '../../core/index.ts';

/** Long enough that a slow machine doesn't meet it, short enough that a hanging test says why. */
const PATIENT = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };
const ANYWHERE: EgressRule = { trustedOrigins: new Set(), allowedOrigins: new Set(), ownKey: true, isKeyless: false };

export interface CallParts {
  readonly settings?: ResolvedSettings;
  readonly egress?: Partial<EgressRule>;
  readonly timeouts?: Partial<AdapterCall['timeouts']>;
  readonly signal?: AbortSignal;
  readonly until?: AbortSignal;
}

/** A call with a key of its own, which may go anywhere, and patient timeouts. */
export function adapterCall(parts: CallParts = {}): AdapterCall {
  return {
    settings: parts.settings ?? { values: {}, sources: {} },
    egress: { ...ANYWHERE, ...parts.egress },
    timeouts: { ...PATIENT, ...parts.timeouts },
    signal: parts.signal ?? new AbortController().signal,
    until: parts.until,
  };
}

type PromptParts = Partial<Pick<ChatRequest, 'messages' | 'tools' | 'config'>>;

export function promptOf(parts: PromptParts = {}): ChatContext['prompt'] {
  return toPrompt({ adapter: 'any', model: 'any', messages: [{ role: 'user', content: 'hi' }], ...parts });
}

/** Settings of an adapter as the gateway would resolve them. */
export function settingsFor(
  adapter: Adapter,
  from: { readonly config?: ChatConfig; readonly stored?: Record<string, string>; readonly env?: Environment } = {},
): ResolvedSettings {
  return resolveSettings(adapter.settings, { env: {}, ...from });
}

export function contextFor(adapter: Adapter, model: string, parts: PromptParts = {}, stream = true): ChatContext {
  return { model, prompt: promptOf(parts), settings: settingsFor(adapter, parts.config === undefined ? {} : { config: parts.config }), stream };
}

/** A chat call whose events are kept. `writable` is what the sink answers. */
export function chatCall(parts: CallParts & { readonly prompt?: PromptParts; readonly model?: string; readonly stream?: boolean } = {}): {
  readonly call: ChatCall;
  readonly events: ChatEvent[];
} {
  const events: ChatEvent[] = [];
  const call: ChatCall = {
    ...adapterCall(parts),
    model: parts.model ?? 'm',
    prompt: promptOf(parts.prompt),
    stream: parts.stream ?? false,
    sink: {
      emit(fresh) {
        for (const event of fresh) events.push(event);
        return true;
      },
      onceWritable: (resume) => resume(),
    },
  };
  return { call, events };
}

/** All events that a decoder makes of `pieces`. */
export function decodeAll(decoder: StreamDecoder, pieces: readonly (Buffer | string)[]): ChatEvent[] {
  const events = pieces.flatMap((piece) => decoder.push(Buffer.from(piece as string)));
  return [...events, ...decoder.end()];
}

/** The provider error that `read` throws; what else it throws goes on. */
export function providerErrorOf(read: () => unknown): ProviderError {
  try {
    read();
  } catch (error) {
    if (error instanceof StreamError) return error.providerError;
    throw error;
  }
  throw new Error('no provider error was thrown');
}

/** The events with neighbouring texts, reasoning and pieces of a call joined: what must not depend on where the bytes were cut. */
export function joinTexts(events: readonly ChatEvent[]): ChatEvent[] {
  const joined: ChatEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (event.type === 'text' && last?.type === 'text') joined[joined.length - 1] = { type: 'text', text: last.text + event.text };
    else if (event.type === 'reasoning' && last?.type === 'reasoning') joined[joined.length - 1] = { type: 'reasoning', text: last.text + event.text };
    else if (event.type === 'toolCallDelta' && last?.type === 'toolCallDelta' && last.index === event.index)
      joined[joined.length - 1] = { ...last, text: last.text + event.text };
    else joined.push(event);
  }
  return joined;
}

/** A core with one adapter, no workspace and no environment but `env`. */
export function coreWith(t: Test, adapter: Adapter, env: Environment = {}, timeouts: Partial<AdapterCall['timeouts']> = {}): ReturnType<typeof createCore> {
  const core = createCore({ adapters: [adapter], env, timeouts, random: () => 0 });
  t.teardown(() => core.close());
  return core;
}

/** Keeps one answer. Set `writable` to false to ask for a pause; `resume()` ends it. */
export class Collector implements UpstreamHandler {
  status = 0;
  headers: IncomingHttpHeaders = {};
  bytes = 0;
  writable = true;
  ended = false;
  /** The bytes after which it has all it needs. */
  completeAfter = Number.POSITIVE_INFINITY;
  readonly chunks: Buffer[] = [];
  #resume: (() => void) | undefined;

  head(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  data(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    this.chunks.push(chunk);
    return this.writable;
  }

  onceWritable(resume: () => void): void {
    this.#resume = resume;
  }

  end(): void {
    this.ended = true;
  }

  get complete(): boolean {
    return this.bytes >= this.completeAfter;
  }

  get paused(): boolean {
    return this.#resume !== undefined;
  }

  resume(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    this.writable = true;
    resume?.();
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

export interface RawConnection {
  readonly socket: Socket;
  closed: boolean;
}

export interface RawUpstream {
  readonly url: URL;
  readonly connections: RawConnection[];
  /** Requests that arrived whole, as they were sent. */
  readonly requests: string[];
  /** Accepts no connection from now on; those there are stay. */
  stop(): void;
}

/** A provider that answers with bytes instead of HTTP. `answer` is called for each request that arrived with its body. */
export async function startRawUpstream(
  t: Test,
  answer: (socket: Socket, index: number, connection: number) => unknown,
  onConnect: (socket: Socket) => void = () => undefined,
): Promise<RawUpstream> {
  const connections: RawConnection[] = [];
  const requests: string[] = [];
  const server = createServer((socket) => {
    const connection: RawConnection = { socket, closed: false };
    const number = connections.push(connection) - 1;
    let pending = '';
    socket.on('error', () => undefined); // resets are what these tests are about
    socket.once('close', () => {
      connection.closed = true;
    });
    socket.on('data', (bytes) => {
      pending += bytes.toString('latin1');
      for (let length = requestLength(pending); length !== undefined && length <= pending.length; length = requestLength(pending)) {
        requests.push(pending.slice(0, length));
        pending = pending.slice(length);
        answer(socket, requests.length - 1, number);
      }
    });
    onConnect(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const { socket } of connections) socket.destroy();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), connections, requests, stop: () => void server.close() };
}

/** How long the first request in `text` is; undefined while its headers are incomplete. */
function requestLength(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  return end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
}

/** A port of loopback where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Answers name look-ups until the test ends, as the resolver of the machine would. Start servers before: they look up their host, too. */
export function resolveNames(t: Test, resolver: (hostname: string) => dns.LookupAddress[]): string[] {
  const asked: string[] = [];
  const original = dns.lookup;
  const lookup = (hostname: string, _options: unknown, callback: (error: Error | null, addresses: dns.LookupAddress[]) => void): void => {
    asked.push(hostname);
    const addresses = resolver(hostname);
    const error = addresses.length === 0 ? Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }) : null;
    setImmediate(() => callback(error, addresses));
  };
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
  t.teardown(() => {
    Object.assign(dns, { lookup: original });
    syncBuiltinESMExports();
  });
  return asked;
}

/** What a stream and a whole answer have in common: calls without their pieces. */
export function withoutPieces(events: readonly ChatEvent[]): ChatEvent[] {
  return events
    .filter(({ type }) => type !== 'toolCallStart' && type !== 'toolCallDelta' && type !== 'reasoningState')
    .map((event) => (event.type === 'toolCall' ? { type: 'toolCall', toolCall: event.toolCall } : event));
}
