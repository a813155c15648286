// What a transport asks of whatever manages the servers of tools, and of what reads skills. Pure: types only.
import type { Finding, SkillView, ToolCalled, ToolServerView, ToolSignInBegun, ToolView } from '../types.ts';

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
  /**
   * `{tool, hash, arguments}`: one call of an approved tool for a person, never repeated and in no journal. TOOL_NOT_APPROVED if the hash is not the approved one.
   * TOOL_SERVER_FAILED where it was surely not called, TOOL_OUTCOME_UNKNOWN where it may have run.
   */
  call(name: string, body: unknown, signal: AbortSignal): Promise<ToolCalled['result']>;
  /** `{definition, tools: {name: hash}}`: what may be started and offered. TOOL_CHANGED if it is not what is there by now. */
  approve(name: string, body: unknown, by: string): Promise<ToolServerView>;
  /** `{value}`: keeps a secret for `${auth:<server>.<field>}` in auth.json; null takes it away. NOT_FOUND where there is none to take away. */
  setSecret(server: string, field: string, body: unknown): Promise<void>;
  /** `{redirectURI, clientId?, issuer?, scope?}`: begins to sign in, for a person with a browser. TOOL_SERVER_FAILED, INVALID_REQUEST. */
  beginSignIn(name: string, body: unknown, signal: AbortSignal): Promise<ToolSignInBegun>;
  /** `{query}`: what the browser has brought. INVALID_REQUEST for an answer to another question, TOOL_SERVER_FAILED where the authorization server refuses. */
  finishSignIn(name: string, body: unknown): Promise<ToolServerView>;
  /** The same for a browser that was led to `redirectURI`, an address of this server: its state says which sign-in has begun so. INVALID_REQUEST for none. */
  answerSignIn(query: string, redirectURI: string): Promise<ToolServerView>;
  /** Gives the tokens back and forgets them. Says what was not possible of the first; undefined if all was. */
  signOut(name: string): Promise<string | undefined>;
}

/** A skill that may be offered. */
export interface OfferedSkill {
  readonly name: string;
  /** Of all its files. */
  readonly hash: string;
  readonly description: string;
}

/** A skill as it was approved. */
export interface SkillPin {
  readonly hash: string;
  readonly approvedAt: string;
  readonly approvedBy: string;
  /** Undefined where it was too long to keep. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** By their owner and name. */
export type SkillPins = Readonly<Record<string, Readonly<Record<string, SkillPin>>>>;

/** Skills that may be offered, and sentences without their end about the others. */
export interface OfferedSkills {
  readonly skills: readonly OfferedSkill[];
  readonly problems: readonly string[];
}

/** The texts of a skill, read at once. */
export interface ReadSkill {
  readonly hash: string;
  /** Of SKILL.md, after the front matter. */
  readonly body: string;
  /** By their paths, whole. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Reads skills, and keeps what is approved of them. An owner is a block, or `_` for the workspace; of several, the first that has a skill of a name decides. Each member
 * rejects with a BlockhouseError and nothing else.
 */
export interface SkillHost {
  /** Of these names, the ones that are approved as they lie there now. `*` stands for all. */
  offered(owners: readonly string[], names: readonly string[]): Promise<OfferedSkills>;
  /** Undefined for one that is not there, or not approved as it is now. */
  read(owners: readonly string[], name: string): Promise<ReadSkill | undefined>;
  list(owners: readonly string[]): Promise<readonly SkillView[]>;
  /** With its texts. SKILL_NOT_FOUND. */
  get(owner: string, name: string): Promise<SkillView>;
  /** `{hash}`: what was shown. TOOL_CHANGED if it is another one by now. */
  approve(owner: string, name: string, body: unknown, by: string): Promise<SkillView>;
  /** Nothing of this owner is approved any more. */
  forget(owner: string): Promise<void>;
  /** A block has another name. */
  rename(from: string, to: string, isResumed?: boolean): Promise<void>;
  /** What the doctor says of the skills of the workspace and, with `blocks`, of those in the folders of blocks. */
  findings(options: { readonly blocks: boolean }): Promise<readonly Finding[]>;
}
