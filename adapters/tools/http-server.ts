// A session with a server at an address.
//
// safe-address: in clear only to this machine; what the outbound client refuses is refused here, too: metadata services and link-local addresses, also behind a name.
import { redact } from '../../core/base/redact.ts';
import { BlockhouseError, isLoopbackHost } from '../../core/index.ts';
import type { Upstream } from '../outbound/client.ts';
import { ClientSession } from './client-session.ts';
import { connect } from './era.ts';
import { type Authorization, HttpTransport } from './http-transport.ts';
import type { SignIns } from './oauth/sign-ins.ts';
import { type RunningServer, Throttle } from './running-server.ts';
import type { Sdk } from './sdk.ts';
import type { CallableServer, Era, HttpStart } from './server.ts';

/** So long does an end wait for the news that tasks are cancelled. */
const CANCEL_MS = 1000;

/** A server at an address, and how it is greeted. */
export interface HttpStarting {
  readonly server: CallableServer & { readonly start: HttpStart };
  readonly era: Era;
  readonly signal: AbortSignal;
}

/** What sessions over HTTP share. */
export interface HttpSurroundings {
  readonly sdk: Sdk;
  readonly upstream: Upstream;
  /** Gives the tokens of servers that want a sign-in. */
  readonly signIns?: SignIns | undefined;
  readonly listMs: number;
}

/** Rejects with TOOL_SERVER_FAILED. */
export async function startHttp({ server, era, signal }: HttpStarting, { sdk, upstream, signIns, listMs }: HttpSurroundings): Promise<RunningServer> {
  const { name, start, settings } = server;
  const url = addressOf(start.url);
  const failed = (why: string, cause?: unknown): BlockhouseError =>
    new BlockhouseError('TOOL_SERVER_FAILED', `${name} can't be used: ${why.replace(/\.$/, '')}.`, { cause });
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw failed('its url is no address of HTTP');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw failed('its url must begin with https:, because anybody on the way could read what goes over http:'); // safe-address
  const authorization = signIns && authorizationOf(signIns, server);
  const transport = new HttpTransport({ url, headers: start.headers, maxBytes: settings.maxResultBytes, upstream, authorization });
  const running = new HttpServer(transport, listMs);
  const cut = (): void => void transport.close();
  signal.addEventListener('abort', cut, { once: true });
  try {
    signal.throwIfAborted();
    const isProgram = start.oauth?.grant === 'client_credentials';
    const client = await connect(sdk, transport, { era, timeoutMs: settings.startTimeoutMs, isProgram, onListChanged: () => running.lists.ask() });
    running.session = new ClientSession({ sdk, client, transport, ending: () => (running.hasEnded ? 'has ended the session' : undefined) });
    return running;
  } catch (error) {
    await running.end();
    throw failed(signal.aborted ? 'the start was cut off' : redact(whyOf(error), server.secrets), error);
  } finally {
    signal.removeEventListener('abort', cut);
  }
}

function addressOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Undefined for a server whose token stands in its headers. */
function authorizationOf(signIns: SignIns, { name, start, ownSecrets: secrets }: HttpStarting['server']): Authorization | undefined {
  if (Object.keys(start.headers).some((header) => /^authorization$/i.test(header))) return undefined;
  const place = { name, url: start.url, oauth: start.oauth, secrets };
  return { token: (signal) => signIns.token(place, signal), afterRefusal: (refusal, signal) => signIns.afterRefusal(place, refusal, signal) };
}

function whyOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: unknown; readonly cause?: unknown };
  return cause instanceof BlockhouseError ? cause.message : String(message);
}

class HttpServer implements RunningServer {
  onTools: (() => void) | undefined;
  hasEnded = false;
  session: ClientSession | undefined;
  readonly lists: Throttle;
  readonly ended: Promise<string>;
  readonly #transport: HttpTransport;

  constructor(transport: HttpTransport, listMs: number) {
    this.#transport = transport;
    this.lists = new Throttle(listMs, () => this.onTools?.());
    this.ended = new Promise((resolve) => {
      transport.onLost = () => {
        this.hasEnded = true;
        resolve('does not know the session any more');
      };
    });
  }

  call(...[server, call, signal]: Parameters<RunningServer['call']>): ReturnType<RunningServer['call']> {
    return this.#greeted.call(server, call, signal);
  }

  list(timeoutMs: number): ReturnType<RunningServer['list']> {
    return this.#greeted.list(timeoutMs);
  }

  async end(): Promise<void> {
    this.hasEnded = true;
    this.lists.end();
    await this.session?.told(CANCEL_MS);
    await this.#transport.close();
  }

  get #greeted(): ClientSession {
    if (this.session === undefined) throw new Error('The server was not greeted.');
    return this.session;
  }
}
