// The world of a fault rig: the built server as a process of its own, before providers that the rig commands; a canary in each secret, and
// what the operating system and the event loop say about it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CANARIES, canaryCredentials, canaryEnvironment } from '../../spec/support/canaries.ts';
import { stallEnvironment, stallFileOf, worstStallMs } from '../../spec/support/process-watch.ts';
import { until } from '../../spec/support/until.ts';
import { type Framing, WIRE } from '../servers/wire.ts';

export { CANARIES } from '../../spec/support/canaries.ts';
export { openFiles } from '../../spec/support/process-watch.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const START_LIMIT_MS = 60_000;
/** Of what the server has said, for the message about its death. */
const KEPT_OUTPUT = 64 * 1024;

export interface Asked {
  readonly framing: Framing;
  readonly path: string;
  readonly body: string;
  readonly stream: boolean;
}

/** Answers a request that has arrived whole. */
export type Provider = (asked: Asked, res: ServerResponse) => void | Promise<void>;

export interface WorldOptions {
  readonly provider?: Provider;
  readonly env?: Readonly<Record<string, string>>;
  /** Base URLs that are not the provider's, by adapter. */
  readonly baseURLs?: Readonly<Record<string, string>>;
  /** Where the workspace stands; the system's temporary folder unless given. */
  readonly folder?: string;
  /** Puts into the workspace what the server shall find. */
  readonly prepare?: (workspace: string) => void;
}

/** Finds canaries in what comes in pieces, from any number of sources. */
export class CanaryWatch {
  readonly found: string[] = [];
  readonly #canaries: readonly Buffer[];
  readonly #longest: number;
  readonly #tails = new Map<string, Buffer>();

  constructor(canaries: readonly string[]) {
    this.#canaries = canaries.map((text) => Buffer.from(text));
    this.#longest = Math.max(...canaries.map(({ length }) => length));
  }

  /** True when this piece, with the end of the one before it, holds a canary. */
  hear(source: string, piece: Buffer): boolean {
    const tail = this.#tails.get(source);
    const text = tail === undefined ? piece : Buffer.concat([tail, piece]);
    this.#tails.set(source, Buffer.from(text.subarray(Math.max(0, text.length - this.#longest + 1))));
    const canary = this.#canaries.find((one) => text.includes(one));
    if (canary !== undefined) this.found.push(`${canary.toString().slice(0, 12)}… in ${source}`);
    return canary !== undefined;
  }

  forget(source: string): void {
    this.#tails.delete(source);
  }
}

export class World {
  readonly workspace: string;
  readonly child: ChildProcess;
  readonly canaries: CanaryWatch;
  readonly upstream: Server;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** Resolves with the exit code, or the signal, once it has ended. */
  readonly ended: Promise<number | string>;
  readonly #home: string;
  readonly #output: { text: string };

  constructor(parts: {
    readonly home: string;
    readonly child: ChildProcess;
    readonly upstream: Server;
    readonly url: string;
    readonly ended: Promise<number | string>;
    readonly output: { text: string };
  }) {
    this.#home = parts.home;
    this.#output = parts.output;
    this.workspace = join(parts.home, 'workspace');
    this.child = parts.child;
    this.upstream = parts.upstream;
    this.url = parts.url;
    this.ended = parts.ended;
    this.port = Number(new URL(parts.url).port);
    this.token = readFileSync(join(this.workspace, '.api-token'), 'utf8').trim();
    this.canaries = new CanaryWatch([this.token, ...Object.values(CANARIES)]);
    for (const stream of ['stdout', 'stderr'] as const) this.child[stream]?.on('data', (bytes: Buffer) => this.canaries.hear(stream, bytes));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The end of its log and standard output. */
  get output(): string {
    return this.#output.text;
  }

  /** One request by `fetch`, with the token. */
  async call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** The longest time that work held up the event loop since the last call, in milliseconds; 0 for a server that has ended. Linux only. */
  async worstStallMs(): Promise<number> {
    return (await worstStallMs(this.child, this.#home, { limitMs: START_LIMIT_MS })) ?? 0;
  }

  /** Ends what was started and removes what was written. */
  async close(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
    this.upstream.closeAllConnections();
    this.upstream.close();
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 3 });
    rmSync(stallFileOf(this.#home), { force: true });
  }
}

/** A server that is ready and warm, so that code loaded at the first use does not count as a leak. */
export async function startWorld({ provider = friendly, env = {}, baseURLs = {}, folder = tmpdir(), prepare }: WorldOptions = {}): Promise<World> {
  const home = mkdtempSync(join(folder, 'blockhouse-fault-'));
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { mode: 0o700 });
  prepare?.(workspace);
  const upstream = await listen(provider);
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(canaryCredentials(upstreamUrl, baseURLs)), { mode: 0o600 });
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'cli', 'main.js'), 'serve', '--json', '--port', '0', '--workspace', workspace], {
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      NO_COLOR: '1',
      ...canaryEnvironment(upstreamUrl),
      ...stallEnvironment(home),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close').then(([code, signal]) => {
    process.off('exit', kill);
    return (code ?? signal) as number | string;
  });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output.text = (output.text + bytes.toString('latin1')).slice(-KEPT_OUTPUT);
    });
  const url = await urlOf(child, output);
  const world = new World({ home, child, upstream, url, ended, output });
  await warmUp(world);
  await world.worstStallMs(); // of the start
  return world;
}

async function urlOf(child: ChildProcess, output: { readonly text: string }): Promise<string> {
  let url: string | undefined;
  const isListening = (): boolean => {
    url = /"url":\s*"([^"]+)"/.exec(output.text)?.[1];
    return url !== undefined || child.exitCode !== null;
  };
  await until('the server listens', isListening, START_LIMIT_MS);
  if (url === undefined) throw new Error(`the server did not start; is it built? ${output.text}`);
  return url;
}

async function warmUp(world: World): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const adapter of ['ollama', 'openai', 'anthropic', 'google', 'bedrock'])
      for (const stream of [true, false]) await world.call('POST', '/v1/chat', chat({ adapter, stream }));
    for (const path of ['/v1/adapters', '/api/blocks', '/nowhere', '/openapi.json']) await world.call('GET', path);
  }
}

export function chat({ adapter = 'ollama', model = 'm', stream = false, content = 'hi' } = {}): object {
  return { adapter, model, messages: [{ role: 'user', content }], stream };
}

async function listen(provider: Provider): Promise<Server> {
  const server = createServer((req, res) => {
    req.on('error', () => undefined); // a server that leaves in the middle is what the rigs are about
    res.on('error', () => undefined);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const path = req.url ?? '';
      const stream = body.includes('"stream":true') || path.includes('stream');
      const framing = framingOf(path);
      if (framing === undefined) res.writeHead(404).end();
      else void provider({ framing, path, body, stream }, res);
    });
  });
  server.keepAliveTimeout = 65_000; // so that it is the gateway that closes
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function framingOf(path: string): Framing | undefined {
  if (path.endsWith('/chat/completions')) return WIRE['openai-chat'];
  if (path.endsWith('/messages')) return WIRE.anthropic;
  if (path.includes('enerateContent')) return WIRE.google;
  if (path.endsWith('/api/chat')) return WIRE.ollama;
  return path.startsWith('/model/') ? WIRE.bedrock : undefined;
}

/** Answers at once, as it was asked. */
export const friendly: Provider = ({ framing, stream }, res) => {
  if (!stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(framing.whole('m', 'Hello, you'));
    return;
  }
  res.writeHead(200, { 'content-type': framing.streamType });
  res.end(Buffer.concat([framing.opening('m'), framing.piece('m', 'Hello, you'), framing.ending('m')]));
};

/** Asks for health again and again on one connection until `isOver`; the times it took, in milliseconds. */
export async function watchHealth(world: World, isOver: () => boolean, everyMs = 10): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const from = performance.now();
    const response = await fetch(`${world.url}/v1/health`);
    await response.text();
    times.push(response.status === 200 ? performance.now() - from : Number.POSITIVE_INFINITY);
    await delay(everyMs);
  }
  return times;
}
