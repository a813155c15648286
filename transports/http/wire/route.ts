// One route of the server: its handler, and what the published contract says about it. Pure: no I/O.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type BlockhouseError, type Core, type ErrorCode, forKeys, type NamedKey } from '../../../core/index.ts';
import type { BodyRoom } from './body-room.ts';
import type { ImportQueue } from './imports.ts';
import type { RateHeaders, RateWords } from './rate-headers.ts';
import type { JsonReply, Reply } from './reply.ts';
import type { TagName } from './route-tags.ts';
import type { SseTiming } from './sse.ts';

/** What the requests of one server share. */
export interface ServerContext {
  readonly routes: readonly Route[];
  readonly sse: SseTiming;
  /** Milliseconds without a byte of a body after which its request is refused. */
  readonly bodyStallMs: number;
  /** The room for bodies. */
  readonly bodies: BodyRoom;
  readonly imports: ImportQueue;
  /** Whether the server takes upgrades at this moment. */
  hasWebSocket(): boolean;
  /** Ends the work for an open request; false if there is none with this id. */
  endRequest(requestId: string): boolean;
  /** The address of the page: below the public origin if there is one, else a path; null if the server has no page. */
  readonly page: string | null;
  /** Whether browsers come under a public origin, through a proxy. */
  readonly isBehindProxy: boolean;
  /** Fires when the server begins to drain. */
  readonly draining: AbortSignal;
  /** Milliseconds since the server began to listen. */
  uptimeMs(): number;
}

/** What a handler gets. */
export interface RouteContext {
  readonly core: Core;
  readonly server: ServerContext;
  readonly req: IncomingMessage;
  /** Only for the SSE writer; every other handler returns a reply. */
  readonly res: ServerResponse;
  /** The decoded parts of the path that the route names with `:`. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** The path that the client has called. */
  readonly path: string;
  /** The key that the client has presented; undefined for the token of the workspace, and on public routes. */
  readonly key: NamedKey | undefined;
  /** Set for a request of a key that is debugged: gets its body. */
  readonly tap?: { request(bytes: Uint8Array): void } | undefined;
  /** Set for a key with limits by the minute. */
  readonly rates?: RateHeaders | undefined;
  /** Fires when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
}

/** An error as its caller may read it, for answers that the handler writes itself. */
export function forCaller(failure: BlockhouseError, key: NamedKey | undefined): BlockhouseError {
  return key === undefined ? failure : forKeys(failure);
}

/** A decoded part of the path; '' for a name that the route does not have. */
export function param({ params }: RouteContext, name: string): string {
  return params[name] ?? '';
}

/** Serves a request: one call of the core, whose result it returns as a reply. May throw; the server answers with the error body. */
export type Handler = (context: RouteContext) => Reply | Promise<Reply>;

/** A query parameter or a header; always optional. */
export interface Parameter {
  readonly schema: object;
  readonly description: string;
}

/** A Response Object of OpenAPI. */
export interface ResponseWords {
  readonly description: string;
  readonly headers?: object;
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

/** The entry of a route in the table. Its key is the method and the path. */
export interface RouteEntry {
  /** The `operationId` of the contract. */
  readonly id: string;
  readonly tag: TagName;
  /** A few words, such as `Read a block`. */
  readonly summary: string;
  /** Whole sentences. */
  readonly description: string;
  /** Set for a route that needs no token. */
  readonly public?: true;
  /** The description of each parameter of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
  /** The Request Body Object of OpenAPI. */
  readonly body?: { readonly required: boolean; readonly content: ResponseWords['content'] };
  /** The successful answers by status. */
  readonly answers: Readonly<Record<number, ResponseWords>>;
  /** The error codes of this route, besides those of every route. */
  readonly errors?: readonly ErrorCode[];
  readonly handler: Handler;
  /** The error answers of a route that speaks another protocol. A route of several protocols tells them apart by the request's headers. */
  readonly fault?: (failure: BlockhouseError, requestId: string, headers: IncomingHttpHeaders) => JsonReply;
  /** How a route of another protocol than OpenAI's says what is left of the limits of a key. */
  readonly rates?: RateWords;
}

/** The methods that routes use; the router adds HEAD and OPTIONS. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The key of a route in the table, such as `GET /api/blocks/:name`. */
export type RouteKey = `${Method} /${string}`;

/** An entry of the table with the method and path of its key. */
export interface Route extends RouteEntry {
  readonly method: Method;
  /** With named parts, such as `/v1/adapters/:provider/models`. */
  readonly path: string;
}

/** The routes of a table, with method and path parsed from their keys. */
export function routesOf(table: Readonly<Record<RouteKey, RouteEntry>>): Route[] {
  return Object.entries(table).map(([key, entry]) => {
    const [method, path = ''] = key.split(' ');
    return { method: method as Method, path, ...entry };
  });
}
