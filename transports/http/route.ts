// One route of the server: what serves it, and what the published contract says about it. Pure: no I/O.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Core, ErrorCode } from '../../core/index.ts';
import type { ImportQueue } from './imports.ts';
import type { Reply } from './reply.ts';
import type { SseTiming } from './sse.ts';

/** What the requests of one server share. */
export interface ServerContext {
  readonly routes: readonly Route[];
  readonly sse: SseTiming;
  /** Milliseconds without a byte of a body after which its request is refused. */
  readonly bodyStallMs: number;
  readonly imports: ImportQueue;
  /** Since the server began to listen. */
  uptimeMs(): number;
}

export interface RouteContext {
  readonly core: Core;
  readonly server: ServerContext;
  readonly req: IncomingMessage;
  /** For the SSE writer only; everything else returns a reply. */
  readonly res: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** Aborted when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
}

/** A part of the path, decoded; '' for one that the route doesn't have. */
export function param({ params }: RouteContext, name: string): string {
  return params[name] ?? '';
}

export type Handler = (context: RouteContext) => Reply | Promise<Reply>;

/** A query parameter or a header; always optional. */
export interface Parameter {
  readonly schema: object;
  readonly description: string;
}

/** A response of the contract, as OpenAPI writes it. */
export interface ResponseWords {
  readonly description: string;
  readonly headers?: object;
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

/** The entry of a route in the table, whose key is its method and path. */
export interface RouteEntry {
  /** `operationId` of the contract. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Needs no token. */
  readonly public?: true;
  /** What each parameter of the path is. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
  /** The request body, as OpenAPI writes it. */
  readonly body?: { readonly required: boolean; readonly content: object };
  /** By status. */
  readonly answers: Readonly<Record<number, ResponseWords>>;
  /** Beside those that every route may answer with. */
  readonly errors?: readonly ErrorCode[];
  readonly handler: Handler;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `GET /api/blocks/:name` */
export type RouteKey = `${Method} /${string}`;

export interface Route extends RouteEntry {
  readonly method: Method;
  /** `/v1/adapters/:provider/models` */
  readonly path: string;
}

/** The entries of a table with method and path read out of their keys. */
export function routesOf(table: Readonly<Record<RouteKey, RouteEntry>>): Route[] {
  return Object.entries(table).map(([key, entry]) => {
    const [method, path = ''] = key.split(' ');
    return { method: method as Method, path, ...entry };
  });
}
