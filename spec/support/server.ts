// A whole server on loopback for one test: core, one adapter before a fake daemon, HTTP transport.
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { createOllama } from '../../adapters/ollama/index.ts';
import { type Adapter, type Core, type CoreOptions, createCore } from '../../core/index.ts';
import { createHttpTransport, type HttpTransport, type HttpTransportOptions } from '../../transports/http/index.ts';
import { testFolder } from './test-folder.ts';
import { type Answerer, type FakeUpstream, sendJson, startUpstream } from './upstream.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface CallOptions {
  readonly headers?: Record<string, string | string[]>;
  /** Objects are sent as JSON, strings and bytes as they are; both with content-type application/json unless `headers` says other. */
  readonly body?: unknown;
  /** False sends no Authorization. */
  readonly token?: false;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly workspace: string;
  readonly core: Core;
  readonly transport: HttpTransport;
  readonly upstream: FakeUpstream;
  readonly log: LogLine[];
  /** One request on a connection of its own. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The same, handed over before the answer has come. */
  open(method: string, path: string, options?: CallOptions): ClientRequest;
}

export interface TestServerOptions extends Partial<Omit<CoreOptions, 'workspace'>> {
  readonly answer?: Answerer;
  readonly http?: HttpTransportOptions;
}

export async function startServer(t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const { answer, http, ...coreOptions } = options;
  const upstream = await startUpstream(t, answer ?? friendlyDaemon);
  const workspace = testFolder(t);
  const log: LogLine[] = [];
  const adapters: readonly Adapter[] = [createOllama()];
  const core = createCore({ workspace, adapters, env: { OLLAMA_BASE_URL: upstream.url }, ...coreOptions });
  await core.start();
  await core.token?.ensure();
  const token = core.token?.reveal() ?? '';
  const transport = createHttpTransport(core, { log: collectLog(log), ...http });
  const url = await transport.listen(0, '127.0.0.1');
  const { port } = transport.server.address() as AddressInfo;
  t.teardown(async () => {
    transport.server.closeAllConnections();
    await transport.close();
    await core.close();
  });
  const open = (method: string, path: string, { headers, body, token: sent }: CallOptions = {}): ClientRequest => {
    const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        ...(sent !== false && { authorization: `Bearer ${token}` }),
        ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(bytes)) }),
        ...headers,
      },
    });
    // A connection that is cut while the body is still on its way is told here, although the response has begun; readers of
    // the response are told as well.
    request.on('error', () => undefined);
    request.end(bytes);
    return request;
  };
  const call = async (method: string, path: string, callOptions?: CallOptions): Promise<Answer> =>
    readAnswer(await responseOf(open(method, path, callOptions)));
  return { url, port, token, workspace, core, transport, upstream, log, call, open };
}

export async function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const text = await readText(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/** Resolves when `condition` holds; throws after a limit that only a defect reaches. What takes longer is asked for less often: most conditions are requests. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, limitMs = 60_000): Promise<void> {
  const from = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - from;
    if (waitedMs > limitMs) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await delay(Math.min(SHORTEST_PAUSE_MS + waitedMs / 20, LONGEST_PAUSE_MS));
  }
}

export interface Frame {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The frames of an event stream, read as strictly as the contract writes them; comments are left out. */
export function framesOf(text: string): Frame[] {
  const blocks = text.split('\n\n');
  if (blocks.pop() !== '') throw new Error(`the stream does not end with a whole frame: ${JSON.stringify(text.slice(-200))}`);
  return blocks
    .filter((block) => block !== ': keep-alive')
    .map((block) => {
      const match = /^event: (start|content|run|approval|done|error)\ndata: ([^\r\n]*)$/.exec(block);
      if (match === null) throw new Error(`not a frame: ${JSON.stringify(block)}`);
      return { event: match[1] as string, data: JSON.parse(match[2] as string) as Record<string, unknown> };
    });
}

export const CHAT = { adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }] };

export function daemonLine(content: string): string {
  return `${JSON.stringify({ message: { role: 'assistant', content }, done: false })}\n`;
}

export const DAEMON_END = `${JSON.stringify({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 })}\n`;

/** Lists two models and answers every chat with "Hello, you". */
export const friendlyDaemon: Answerer = (request, res) => {
  if (request.path === '/api/tags') return sendJson(res, { models: [{ name: 'm:1b' }, { name: 'n:7b' }] });
  if ((JSON.parse(request.body) as { stream: boolean }).stream) {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.end(daemonLine('Hello') + daemonLine(', you') + DAEMON_END);
    return;
  }
  sendJson(res, { message: { role: 'assistant', content: 'Hello, you' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 });
};

function collectLog(lines: LogLine[]): HttpTransportOptions['log'] & object {
  const at = (level: LogLine['level']) => (fields: object, message: string) => void lines.push({ level, fields: fields as Record<string, unknown>, message });
  return { debug: at('debug'), info: at('info'), error: at('error') };
}
