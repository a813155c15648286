// An authorization server of our own, and a server of tools that takes its tokens alone. It keeps to the RFCs, and forgets nothing of what it was asked.
import { createHash, randomBytes, type webcrypto } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { judged, subjectOf } from './assertion-judge.ts';
import { type HttpTools, httpTools } from './http-tools.ts';

interface Given {
  readonly client: string;
  readonly resource: string | null;
  readonly scope: string | null;
  readonly endsAt: number;
}

interface Code extends Given {
  readonly redirect: string;
  readonly challenge: string;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
  readonly body: string;
}

export interface StandInOptions {
  /** A path in its issuer, such as `/tenant`. */
  readonly path?: string;
  /** Of a token. */
  readonly lifeSeconds?: number;
  /** Changes its metadata. */
  readonly metadata?: (metadata: Record<string, unknown>) => Record<string, unknown>;
  /** At which of the well-known places its metadata are. */
  readonly at?: (issuer: URL) => string;
}

/** Clients that it knows: their secrets, and which redirects they may have. */
const SECRETS: Readonly<Record<string, string>> = { robot: 'robot+secret/1 ', person: '' };

export class AuthorizationServer {
  readonly asked: Asked[] = [];
  readonly tokens = new Map<string, Given>();
  /** Refresh tokens, and whether they were used: used a second time, all that the client has is taken away. */
  readonly refresh = new Map<string, Given & { isUsed: boolean }>();
  readonly codes = new Map<string, Code>();
  readonly registered = new Map<string, Record<string, unknown>>();
  readonly revoked: string[] = [];
  /** What the next answer of the endpoint `/token` is instead. */
  answer: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> } | undefined;
  /** Is awaited before a token is given. */
  before: () => Promise<void> = async () => undefined;
  /** What the redirect to the client says instead of its issuer; null for nothing. */
  says: string | null | undefined;
  origin = '';
  /** Clients with a key: their public ones, and what they have signed so far. */
  readonly keys = new Map<string, webcrypto.JsonWebKey>();
  readonly assertions = new Set<string>();
  /** Why an assertion was refused. */
  readonly faults: string[] = [];
  readonly #options: StandInOptions;

  constructor(options: StandInOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return `${this.origin}${this.#options.path ?? ''}`;
  }

  /** Requests for tokens with this grant. */
  grants(grant: string): readonly Asked[] {
    return this.asked.filter(({ path, form }) => path === '/token' && form.get('grant_type') === grant);
  }

  get metadata(): Record<string, unknown> {
    const metadata = {
      issuer: this.issuer,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      revocation_endpoint: `${this.origin}/revoke`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      authorization_response_iss_parameter_supported: true,
    };
    return this.#options.metadata?.(metadata) ?? metadata;
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    let body = '';
    for await (const piece of request) body += piece;
    const form = new URLSearchParams(body);
    this.asked.push({ method: request.method ?? '', path: url.pathname, authorization: request.headers.authorization, form, body });
    const json = (status: number, value: unknown): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const place = this.#options.at?.(new URL(this.issuer)) ?? `/.well-known/oauth-authorization-server${this.#options.path ?? ''}`;
    if (request.method === 'GET' && url.pathname === place) return json(200, this.metadata);
    if (url.pathname === '/authorize') return this.#authorize(url.searchParams, response);
    if (request.method === 'POST' && url.pathname === '/token') {
      await this.before();
      const { answer } = this;
      this.answer = undefined;
      if (answer !== undefined)
        return void response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(textOf(answer.body));
      const [status, value] = this.#token(form, await this.#client(form, request.headers.authorization));
      return json(status, value);
    }
    if (request.method === 'POST' && url.pathname === '/register') {
      const id = `registered-${this.registered.size + 1}`;
      this.registered.set(id, JSON.parse(body));
      return json(201, { ...JSON.parse(body), client_id: id });
    }
    if (request.method === 'POST' && url.pathname === '/revoke') {
      if (form.has('client_assertion') && (await this.#client(form, request.headers.authorization)) === undefined)
        return json(401, { error: 'invalid_client' });
      this.revoked.push(form.get('token') ?? '');
      return void response.writeHead(200).end();
    }
    response.writeHead(404).end('no');
  }

  give(client: string, resource: string | null, scope: string | null, hasRefresh: boolean): Record<string, unknown> {
    const { lifeSeconds = 3600 } = this.#options;
    const [access, refresh] = [`at-${random()}`, `rt-${random()}`];
    const given = { client, resource, scope, endsAt: Date.now() + lifeSeconds * 1000 };
    this.tokens.set(access, given);
    if (hasRefresh) this.refresh.set(refresh, { ...given, isUsed: false });
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: lifeSeconds,
      ...(scope !== null && { scope }),
      ...(hasRefresh && { refresh_token: refresh }),
    };
  }

  /** The browser of a person who agrees at once. */
  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const get = (name: string): string => query.get(name) ?? '';
    if (get('response_type') !== 'code' || get('code_challenge_method') !== 'S256' || get('code_challenge') === '')
      return void response.writeHead(400).end('bad');
    const code = `code-${random()}`;
    const [redirect, client] = [get('redirect_uri'), get('client_id')];
    this.codes.set(code, { redirect, client, challenge: get('code_challenge'), resource: query.get('resource'), scope: query.get('scope'), endsAt: 0 });
    const to = new URL(redirect);
    to.searchParams.set('code', code);
    to.searchParams.set('state', get('state'));
    if (this.says !== null) to.searchParams.set('iss', this.says ?? this.issuer);
    response.writeHead(302, { location: to.href }).end();
  }

  #token(form: URLSearchParams, client: string | undefined): [status: number, body: object] {
    const refused = (error: string, status = 400): [number, object] => [status, { error, error_description: 'SECRET WORDS of the server' }];
    if (client === undefined) return refused('invalid_client', 401);
    const grant = form.get('grant_type');
    if (grant === 'client_credentials') {
      if (SECRETS[client] === '') return refused('unauthorized_client');
      return [200, this.give(client, form.get('resource'), form.get('scope'), false)];
    }
    if (grant === 'refresh_token') {
      const known = this.refresh.get(form.get('refresh_token') ?? '');
      if (known === undefined || known.client !== client) return refused('invalid_grant');
      if (known.isUsed) {
        this.refresh.clear(); // somebody has stolen it
        this.tokens.clear();
        return refused('invalid_grant');
      }
      known.isUsed = true;
      return [200, this.give(client, known.resource, known.scope, true)];
    }
    if (grant !== 'authorization_code') return refused('unsupported_grant_type');
    const code = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const hash = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || code.client !== client || code.redirect !== form.get('redirect_uri') || code.challenge !== hash) return refused('invalid_grant');
    if (code.resource !== form.get('resource')) return refused('invalid_target');
    return [200, this.give(client, code.resource, code.scope, true)];
  }

  /** A client with a key proves itself so and in no other way. */
  async #client(form: URLSearchParams, authorization: string | undefined): Promise<string | undefined> {
    const jwt = form.get('client_assertion');
    if (jwt === null) return this.#clientOf(form, authorization);
    try {
      if (form.get('client_assertion_type') !== 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer') throw new Error('type');
      if (authorization !== undefined || form.has('client_secret') || form.getAll('client_assertion').length !== 1) throw new Error('two ways');
      const client = subjectOf(jwt);
      if (form.has('client_id') && form.get('client_id') !== client) throw new Error('client_id');
      const key = this.keys.get(client);
      if (key === undefined) throw new Error('unknown');
      await judged(jwt, { key, client, issuer: this.issuer, now: Date.now(), seen: this.assertions });
      return client;
    } catch (error) {
      this.faults.push((error as Error).message);
      return undefined;
    }
  }

  #clientOf(form: URLSearchParams, authorization: string | undefined): string | undefined {
    const [id = '', secret = ''] = authorization?.startsWith('Basic ')
      ? Buffer.from(authorization.slice(6), 'base64')
          .toString()
          .split(':')
          .map((text) => new URLSearchParams(`x=${text}`).get('x') ?? '')
      : [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
    if (this.registered.has(id) || id.startsWith('https://')) return id;
    return SECRETS[id] === secret ? id : undefined;
  }
}

function random(): string {
  return randomBytes(18).toString('base64url');
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

export const ROBOT_SECRET = SECRETS['robot'] ?? '';

export async function authorizationServer(t: Test, options: StandInOptions = {}): Promise<AuthorizationServer> {
  const stand = new AuthorizationServer(options);
  const server = createServer((request, response) => void stand.take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  stand.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return stand;
}

export interface GuardedOptions {
  readonly era?: 'legacy' | 'modern';
  /** What its metadata say instead; undefined for none at all. */
  readonly resource?: ((url: string, issuer: string) => Record<string, unknown> | undefined) | undefined;
  /** What its refusals say. */
  readonly challenge?: (url: string) => string;
  /** The scope that a call needs. */
  readonly needs?: string;
}

/** A server of tools that takes only tokens that `stand` has given for it. */
export async function guardedTools(
  t: Test,
  stand: AuthorizationServer,
  options: GuardedOptions = {},
): Promise<HttpTools & { readonly gets: string[]; needs: string | undefined }> {
  const gets: string[] = [];
  const state = { needs: options.needs };
  const tools: HttpTools = await httpTools(t, options.era ?? 'legacy', (request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET') {
      gets.push(path);
      const document =
        options.resource === undefined
          ? { resource: tools.url, authorization_servers: [stand.issuer], scopes_supported: ['read'] }
          : options.resource(tools.url, stand.issuer);
      if (document === undefined || path !== '/.well-known/oauth-protected-resource/mcp') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      return true;
    }
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const given = stand.tokens.get(token);
    const says = options.challenge?.(tools.url) ?? `Bearer resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', tools.url).href}"`;
    if (given === undefined || given.endsAt <= Date.now() || given.resource !== tools.url) {
      response.writeHead(401, { 'www-authenticate': says, 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'unauthorized' } }));
      return true;
    }
    if (state.needs === undefined || given.scope?.split(' ').includes(state.needs)) return false;
    response.writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${state.needs}"` }).end();
    return true;
  });
  return {
    ...tools,
    gets,
    get needs() {
      return state.needs;
    },
    set needs(value: string | undefined) {
      state.needs = value;
    },
  };
}
