// What a transport asks of whatever manages the servers of tools. Pure: types only.
import type { Finding, ToolServerView, ToolSignInBegun, ToolView } from '../types.ts';

/** The state of a server. */
export type ToolServerState = ToolServerView['state'];

export type { ToolServerView, ToolView };

/** A JSON object. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Manages servers. Each member rejects with a BlockhouseError and nothing else. */
export interface ToolServers {
  /** What is wrong with the files and servers, for the doctor. Starts nothing. */
  findings(): Promise<readonly Finding[]>;
  list(): Promise<readonly ToolServerView[]>;
  /** TOOL_SERVER_NOT_FOUND. */
  get(name: string): Promise<ToolServerView>;
  /** `{server, settings?}`: the entries of mcp.json. The server is `held` until it is approved. TOOL_SERVER_REFUSED, INVALID_REQUEST. */
  put(name: string, body: unknown): Promise<ToolServerView>;
  remove(name: string): Promise<void>;
  /** `{definition}`: starts it once, also if it is held, and remembers what it lists. TOOL_NOT_APPROVED if the definition is another one by now. */
  test(name: string, body: unknown, signal: AbortSignal): Promise<ToolServerView>;
  /** `{definition, tools: {name: hash}}`: what may be started and offered. TOOL_CHANGED if it is not what is there by now. */
  approve(name: string, body: unknown, by: string): Promise<ToolServerView>;
  /** `{value}`: keeps a secret for `${auth:<server>.<field>}` in auth.json; null takes it away. NOT_FOUND where there is none to take away. */
  setSecret(server: string, field: string, body: unknown): Promise<void>;
  /** `{redirectURI, clientId?, issuer?, scope?}`: begins to sign in, for a person with a browser. TOOL_SERVER_FAILED, INVALID_REQUEST. */
  beginSignIn(name: string, body: unknown, signal: AbortSignal): Promise<ToolSignInBegun>;
  /** `{query}`: what the browser has brought. INVALID_REQUEST for an answer to another question, TOOL_SERVER_FAILED where the authorization server refuses. */
  finishSignIn(name: string, body: unknown): Promise<ToolServerView>;
  /** Gives the tokens back and forgets them. Says what was not possible of the first; undefined if all was. */
  signOut(name: string): Promise<string | undefined>;
}
