// Reads a message of JSON-RPC, and finds out which revision of MCP it speaks. Pure: no I/O.
//
// by-body: the revision is that of the body. Headers that say something else are refused and never believed, because a proxy may have judged the request by them.
// two-eras: from 2026-07-28 on, each request names its revision and there is no session. Before, a client begins with `initialize`; nothing of that is kept here, so every
//   request stands for itself, and an id of a session means nothing.
import { isObject } from '../../../../core/base/json.ts';

/** The revision without sessions. */
export const MODERN = '2026-07-28';
/** Those with `initialize`, the newest first. */
export const WITH_SESSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
};

/** Codes of JSON-RPC and of MCP. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  refused: -32000,
  headerMismatch: -32020,
  unknownVersion: -32022,
} as const;

export type Id = string | number;
const MAX_ID_CHARACTERS = 256;

/** A request that is answered with an error of JSON-RPC. */
export class RpcFault extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: unknown;
  /** Of the request, where it could be read. */
  id: Id | null = null;

  constructor(code: number, status: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** A request to answer. */
export interface Asked {
  readonly id: Id;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly isModern: boolean;
}

/** The headers that repeat something of the body. */
export interface RpcHeaders {
  readonly version?: string | undefined;
  readonly method?: string | undefined;
  readonly name?: string | undefined;
}

/** The request; undefined for a notification and for an answer, which ask for nothing. Throws a RpcFault. */
export function askedIn(message: unknown, headers: RpcHeaders): Asked | undefined {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw notRpc();
  const { id, method, params } = message;
  if (method === undefined && ('result' in message || isObject(message['error']))) return undefined;
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) throw notRpc();
  if (!('id' in message)) return undefined;
  if (!isId(id)) throw notRpc();
  try {
    return { id, method, params: params ?? {}, isModern: isModern(method, params ?? {}, headers) };
  } catch (error) {
    if (error instanceof RpcFault) error.id = id;
    throw error;
  }
}

/** Throws a RpcFault for a request that is not served, whatever it asks. */
function isModern(method: string, params: Readonly<Record<string, unknown>>, headers: RpcHeaders): boolean {
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const claimed = meta[META.version];
  const isHeaderModern = headers.version !== undefined && headers.version >= MODERN;
  if (claimed === undefined || (method === 'initialize' && claimed !== MODERN)) {
    if (isHeaderModern && method === 'initialize')
      throw mismatch('an initialize request belongs to an earlier revision than the header MCP-Protocol-Version names');
    if (isHeaderModern)
      throw new RpcFault(RPC.invalidParams, 400, `The header MCP-Protocol-Version names ${headers.version}, but params._meta lacks ${META.version}.`, {
        envelope: { missing: [META.version] },
      });
    if (headers.version !== undefined && method !== 'initialize' && !WITH_SESSIONS.includes(headers.version))
      throw new RpcFault(RPC.refused, 400, `Unsupported protocol version (supported versions: ${[MODERN, ...WITH_SESSIONS].join(', ')}).`);
    return false;
  }
  if (typeof claimed !== 'string') throw new RpcFault(RPC.invalidParams, 400, `params._meta: ${META.version} must be a text.`);
  if (!isObject(meta[META.capabilities]))
    throw new RpcFault(RPC.invalidParams, 400, `params._meta: ${META.capabilities} must be an object.`, { envelope: { key: META.capabilities } });
  assertSameHeaders(method, params, claimed, headers);
  return true;
}

/** by-body. A header that is missing is one that differs. */
function assertSameHeaders(method: string, params: Readonly<Record<string, unknown>>, claimed: string, headers: RpcHeaders): void {
  if (headers.version !== undefined && headers.version !== claimed)
    throw mismatch(`the body names the revision ${shown(claimed)}, and MCP-Protocol-Version ${shown(headers.version)}`);
  if (headers.method !== undefined && headers.method !== method)
    throw mismatch(`the body names the method ${shown(method)}, and Mcp-Method ${shown(headers.method)}`);
  if (claimed !== MODERN)
    throw new RpcFault(RPC.unknownVersion, 400, `Unsupported protocol version: ${shown(claimed)}`, { supported: [MODERN], requested: claimed });
  if (headers.version === undefined) throw mismatch('the header MCP-Protocol-Version is missing');
  if (headers.method === undefined) throw mismatch('the header Mcp-Method is missing');
  const name = method === 'tools/call' ? params['name'] : undefined;
  if (typeof name !== 'string') return;
  if (headers.name === undefined) throw mismatch('the header Mcp-Name is missing');
  if (decoded(headers.name) !== name) throw mismatch(`the body names the tool ${shown(name)}, and Mcp-Name another one`);
}

const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** What is not plain ASCII comes as base64. */
function decoded(header: string): string {
  const [, base64] = BASE64.exec(header) ?? [];
  return base64 === undefined ? header : Buffer.from(base64, 'base64').toString();
}

function isId(id: unknown): id is Id {
  return Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_ID_CHARACTERS);
}

function notRpc(): RpcFault {
  return new RpcFault(
    RPC.invalidRequest,
    400,
    `The body must be a message of JSON-RPC 2.0; an id is a whole number or a text of at most ${MAX_ID_CHARACTERS} characters.`,
  );
}

function mismatch(what: string): RpcFault {
  return new RpcFault(RPC.headerMismatch, 400, `The headers and the body disagree: ${what}.`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}
