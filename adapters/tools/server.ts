// A server of tools: what its entry in mcp.json says, how it is started, and a session with it. Pure: types only.
import type { JsonRecord, ServerSettings, ToolCallRequest, ToolDefinition, ToolOutcome, ToolQuestion } from '../../core/index.ts';
import type { OAuthSettings } from './oauth/records.ts';

/** Settings of a server with their defaults filled in. Times are milliseconds. */
export interface FullServerSettings extends ServerSettings {
  /** One process for all blocks, or one for each. */
  readonly share: 'workspace' | 'block';
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** The most that progress can extend a call to. */
  readonly maxCallMs: number;
  readonly idleStopMs: number;
  /** Calls side by side. */
  readonly concurrency: number;
  readonly maxResultBytes: number;
  readonly sandbox: 'bwrap' | 'bwrap+net' | undefined;
}

/** A program that speaks over its standard input and output; everything is resolved, so it holds secrets. */
export interface StdioStart {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Besides HOME, PATH, SHELL, TERM, LANG and TZ. */
  readonly env: Readonly<Record<string, string>>;
}

/** A server at an address; everything is resolved, so it holds secrets. */
export interface HttpStart {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How it is signed in to, where mcp.json says that. */
  readonly oauth?: OAuthSettings | undefined;
}

/** How a server is reached. */
export type ServerStart = StdioStart | HttpStart;

/** legacy: `initialize` (2025-11-25 and older). modern: `server/discover` (2026-07-28). */
export type Era = 'legacy' | 'modern';

/** A tool as a server lists it now. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonRecord;
  readonly outputSchema?: JsonRecord | undefined;
  readonly annotations?: ToolDefinition['annotations'];
}

/** A server whose definition is approved, ready to be called. */
export interface CallableServer {
  readonly name: string;
  /** sha256 of the definition. Another one is another server. */
  readonly definition: string;
  readonly start: ServerStart;
  readonly settings: FullServerSettings;
  /** As found when the server was last looked at; undefined before. */
  readonly era: Era | undefined;
  /** True if the tool that is called has the mark `readOnly`: a call that took too long is then a known outcome. Only from `ServerBook.callable`. */
  readonly isReadOnly?: boolean | undefined;
  /** Values of `auth.json` that its entry names. They must not be in results. */
  readonly ownSecrets?: readonly string[] | undefined;
  /** Values that must not be in logs and messages. */
  readonly secrets: readonly string[];
}

/** What a server showed when it was started once to be looked at. */
export interface LookedAt {
  readonly era: Era;
  readonly tools: readonly ListedTool[];
}

/** Starts servers and calls them. Each member rejects with a BlockhouseError and nothing else. */
export interface Sessions {
  /** Starts the server apart from those at work, lists its tools and ends it. TOOL_SERVER_FAILED with the last line of its standard error, redacted. */
  look(server: CallableServer, signal: AbortSignal): Promise<LookedAt>;
  /** As `ToolHost.call`. */
  call(server: CallableServer, call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion>;
  /** Ends what a killed program has left. Before the first call. */
  tidy(): Promise<void>;
  /** Whether a process of the server runs, and why it does not. */
  stateOf(server: string): { readonly state: 'idle' | 'starting' | 'ready' | 'stopping' | 'failed'; readonly problem?: string | undefined };
  /** Forgets why a server has failed, after a person has done something about it. Calls under way go on. */
  forgive(server: string): void;
  /** Ends the server's processes, for a definition that has changed or was taken away. */
  end(server: string): Promise<void>;
  /** Lists of tools that servers have announced as changed, by server, as `RunningServer.onTools`: gets what is listed then. */
  onTools(listener: (server: string, tools: readonly ListedTool[]) => void): void;
  halt(): Promise<void>;
  close(): Promise<void>;
}

/** What is known of all servers: mcp.json, pins and secrets. Each member rejects with a BlockhouseError and nothing else. */
export interface ServerBook {
  /** The tools as they were approved; see `ToolHost.catalogue`. */
  catalogue(servers: readonly string[]): Promise<{
    readonly tools: readonly ToolDefinition[];
    readonly settings: Readonly<Record<string, ServerSettings>>;
    readonly problems: readonly { readonly server: string; readonly problem: string }[];
  }>;
  /** The server with its secrets resolved. TOOL_NOT_BEGUN if it may not be called: held, changed, gone, or this pin is not the approved one. */
  callable(server: string, tool: string, pin: string): Promise<CallableServer>;
}
