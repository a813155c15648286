// What a transport asks of whatever manages the servers of tools. Pure: types only.

/** A JSON object. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** held: its definition is not approved. changed: it is not the approved one any more. failed: it does not start, or its entry can't be used. */
export type ToolServerState = 'idle' | 'starting' | 'ready' | 'stopping' | 'failed' | 'held' | 'changed';

/** A tool of a server. */
export interface ToolView {
  readonly name: string;
  /** Only approved ones are offered. unusable: its schema is beyond the bounds. gone: the server does not list it any more. */
  readonly state: 'approved' | 'changed' | 'new' | 'unusable' | 'gone';
  readonly hash: string;
  /** Of its definition, by estimate. */
  readonly tokens: number;
  readonly description: string;
  readonly annotations: JsonRecord;
  /** Those that hold: annotation and settings say the same. */
  readonly marks: { readonly readOnly: boolean; readonly idempotent: boolean; readonly closedWorld: boolean };
  /** The approved definition beside this one, for a tool that has changed. */
  readonly was?: JsonRecord | undefined;
}

/** A server, without any secret. */
export interface ToolServerView {
  readonly name: string;
  readonly state: ToolServerState;
  /** Why it is failed, held or changed, and the command that helps. */
  readonly problem?: string | undefined;
  /** sha256 of what is started. */
  readonly definition: string;
  /** The entry as mcp.json has it: `${…}` is not resolved, literal secrets are masked. */
  readonly server: JsonRecord;
  readonly settings: JsonRecord;
  readonly era: 'legacy' | 'modern' | null;
  readonly tools: readonly ToolView[];
}

/** Manages servers. Each member rejects with a BlockhouseError and nothing else. */
export interface ToolServers {
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
  /** `{value}`: keeps a secret for `${auth:<server>.<field>}` in auth.json; null takes it away. */
  setSecret(server: string, field: string, body: unknown): Promise<void>;
}
