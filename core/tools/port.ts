// What the core asks of whatever can run tools. Pure: types only.

import type { SettingStore } from '../store/setting.ts';
import type { ContentPart } from '../types.ts';
import type { JsonRecord, SkillHost, ToolServers } from './servers.ts';

export type { JsonRecord };

/** The user's half of what is known of the tools of a server. */
export interface ServerSettings {
  /** Patterns of tool names. A mark holds only where the annotation of the tool says the same. */
  readonly marks?: { readonly readOnly?: readonly string[]; readonly idempotent?: readonly string[]; readonly closedWorld?: readonly string[] } | undefined;
  /** The argument of a tool that gets the id of the call, and whether the server keeps to it, so that the same id is the same call. */
  readonly keyArguments?: Readonly<Record<string, string | { readonly argument: string; readonly repeatable: boolean }>> | undefined;
  /** By the name of a tool: how another one of the server says whether a call of it ran. */
  readonly probe?: Readonly<Record<string, ToolProbe>> | undefined;
  /** What one call of a tool costs, in USD, by its name or a pattern. */
  readonly usdPerCall?: Readonly<Record<string, number>> | undefined;
  /** The server is reached over a network, where a request may still be on its way. */
  readonly isRemote?: boolean | undefined;
  readonly callTimeoutMs?: number | undefined;
  readonly maxResultBytes?: number | undefined;
}

/** Asks whether a call ran whose outcome is not known. */
export interface ToolProbe {
  /** A tool of the same server with the mark `readOnly`. */
  readonly tool: string;
  /** Its arguments: JSON pointers into the arguments that were sent. */
  readonly with: Readonly<Record<string, string>>;
  /** A JSON pointer into its result. The call ran if something stands there that is neither null nor empty. */
  readonly found: string;
}

/** A tool as it was approved. */
export interface ToolDefinition {
  readonly server: string;
  readonly tool: string;
  /** The hash of the definition. */
  readonly pin: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonRecord;
  /** What the server says of it, which alone counts for nothing. */
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean; readonly openWorldHint?: boolean } | undefined;
}

/** The tools of some servers. */
export interface Catalogue {
  readonly tools: readonly ToolDefinition[];
  readonly settings: Readonly<Record<string, ServerSettings>>;
  /** Why tools are missing: a server that is not there, has changed or failed. */
  readonly problems: readonly { readonly server: string; readonly problem: string }[];
}

/** A call that its server goes on with by itself. Times are milliseconds. */
export interface ToolTask {
  readonly taskId: string;
  /** How long the server keeps it, from its beginning; null: for ever. */
  readonly ttlMs: number | null;
  /** How often the server wants to be asked for it. */
  readonly pollMs: number;
}

/** The task of a call that was made before. */
export interface OpenTask extends ToolTask {
  /** Since it has begun. */
  readonly ageMs: number;
  /** Of that, it has waited for people. */
  readonly pausedMs?: number | undefined;
  /** It is not waited for: its server is asked to cancel it. */
  readonly isCancelled?: boolean | undefined;
}

/** How far a call is, in the words of its server. Nothing of it was checked. */
export interface ToolProgress {
  /** The server goes on with the call as a task. */
  readonly isTask: boolean;
  readonly progress?: unknown;
  readonly total?: unknown;
  readonly message?: unknown;
}

/** One call. */
export interface ToolCallRequest {
  readonly block: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonRecord;
  readonly pin: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** `<block>/<messageId>/<step>.<n>`: the same for each try of one call, and of no other call. */
  readonly callId: string;
  /** The call was made before, and nothing is called: its task is asked for, or cancelled. */
  readonly task?: OpenTask | undefined;
  /** The call was answered with a question to a person. These are the answers, and what goes back to the server with them. */
  readonly input?: { readonly responses: JsonRecord; readonly requestState?: string | undefined } | undefined;
  /** The server has made a task of the call. On disk when it resolves, and nothing is asked of the task before. */
  onTask?(task: ToolTask): Promise<void>;
  /** Told how far the call is, as often as its server says it. */
  onProgress?(progress: ToolProgress): void;
}

/** The reason of a signal that ends a call for good: a task is cancelled. With any other, its server goes on with it, and it can be asked for later. */
export type Cancelled = 'cancel';

/** How a call ended that surely ran. */
export interface ToolOutcome {
  readonly kind: 'result';
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
  /** The JSON object that some tools give beside their text. Shown where there is no text. */
  readonly structuredContent?: unknown;
  readonly ms: number;
  /** What another block has used of models for it. */
  readonly tokens?: number | undefined;
}

/** The server asks a person before it goes on. Nothing of what it says was checked. */
export interface ToolQuestion {
  readonly kind: 'input-required';
  readonly requests: unknown;
  readonly requestState?: string | undefined;
  readonly ms: number;
}

/** A process of a server was started, or has ended for this reason; or a person has signed in to a server. */
export type ServerFact =
  | { readonly kind: 'started' | 'signed-in'; readonly server: string }
  | { readonly kind: 'exited'; readonly server: string; readonly reason: string };

/** Runs tools. Each member rejects with a BlockhouseError and nothing else. */
export interface ToolHost {
  /** Manages the servers, where they can be managed. */
  readonly servers?: ToolServers | undefined;
  /** Reads the skills of the workspace and of its blocks, where that is done. */
  readonly skills?: SkillHost | undefined;
  /** Begins to end what an earlier process of the workspace has left. Called once, when the workspace is held and before any block starts; a call waits for it. */
  tidy?(): void;
  /** Gets where the workspace keeps `mcp.json` and what of it is approved: files of the folder, or a database. Called before anything else is. */
  keepIn?(settings: SettingStore, kind: 'files' | 'postgres'): void;
  /** Tells of processes and sign-ins from now on. */
  onServer?(listener: (fact: ServerFact) => void): void;
  /**
   * Gets what says whether an address is one of a server of this workspace, where a server of tools would call itself without end, and whether a variable has a secret of a
   * provider, which no server of tools gets.
   */
  know?(isOwn: (url: URL) => boolean, isSecret: (variable: string) => boolean): void;
  /** The tools of these servers as they were approved. Starts nothing. What can't be used is in `problems`. */
  catalogue(servers: readonly string[]): Promise<Catalogue>;
  /**
   * One call, never repeated. Resolves for every known outcome. Rejects with TOOL_OUTCOME_UNKNOWN when the request may have been read and no answer came, also when
   * `signal` fires, and when a task is gone; with TOOL_NOT_BEGUN when it surely was not; with what `onTask` rejects with.
   */
  call(call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion>;
  /** Ends all calls, and every process within 3 seconds. */
  halt(): Promise<void>;
  close(): Promise<void>;
}
