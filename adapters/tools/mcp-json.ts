// mcp.json of the workspace: the servers of tools. Other programs' files of this name fit in.
//
// last-good: a damaged file never counts as an empty one; its last good content stays in use. If there was none, there are no servers.
// kept-whole: a change writes what it changes, and keeps the rest of the file as it is.
import { join } from 'node:path';
import { isObject } from '../../core/base/json.ts';
import { repeatedMember } from '../../core/base/json-members.ts';
import { parseBytes } from '../../core/base/strict-json.ts';
import { BlockhouseError, closeToOthers, type FileState, FreshFile } from '../../core/index.ts';
import { readEntry, type ServerEntry } from './entry.ts';

/** The name of the file in a workspace. */
export const MCP_FILE = 'mcp.json';
/** The most servers: each is looked at for every list. */
const MAX_SERVERS = 200;
const SERVERS = 'mcpServers';
const SETTINGS = 'blockhouse';

type Document = Readonly<Record<string, unknown>>;

/** The servers of the workspace. */
export class McpJson {
  readonly #file: FreshFile;
  #good: Document = {};
  #entries: ReadonlyMap<string, ServerEntry> = new Map();
  #fault: string | undefined;

  /** `onChange` is called after each change of the entries, with those before. `now` in monotonic milliseconds. */
  constructor(workspace: string, onChange: (before: ReadonlyMap<string, ServerEntry>) => void, now?: () => number) {
    this.#file = new FreshFile(
      join(workspace, MCP_FILE),
      (state) => {
        closeToOthers(this.#file.path, state);
        const before = this.#entries;
        try {
          this.#good = parseDocument(state);
          this.#entries = entriesOf(this.#good);
          this.#fault = undefined;
        } catch (error) {
          this.#fault = (error as Error).message; // last-good
          return;
        }
        onChange(before);
      },
      now,
    );
  }

  /** Why the file can't be used now; undefined if it can. */
  get fault(): string | undefined {
    this.#file.refresh();
    return this.#fault;
  }

  /** The entries as they are, or last were while the file could be used. */
  entries(isFresh = false): ReadonlyMap<string, ServerEntry> {
    this.#file.refresh(isFresh);
    return this.#entries;
  }

  /** Writes an entry, and its settings if they are given. Throws WORKSPACE_DAMAGED for a file that can't be used. */
  async put(name: string, server: unknown, settings: unknown): Promise<void> {
    await this.#rewrite((document) => {
      const servers = membersOf(document, SERVERS);
      if (!Object.hasOwn(servers, name) && Object.keys(servers).length >= MAX_SERVERS)
        throw new BlockhouseError('TOOL_SERVER_REFUSED', `${MCP_FILE} has ${MAX_SERVERS} servers already. Remove one first.`);
      const next = { ...document, [SERVERS]: { ...servers, [name]: server } };
      return settings === undefined ? next : { ...next, [SETTINGS]: { ...membersOf(document, SETTINGS), [name]: settings } };
    });
  }

  /** Takes an entry with its settings out; false if there is none. */
  async remove(name: string): Promise<boolean> {
    let existed = false;
    await this.#rewrite((document) => {
      const { [name]: _old, ...servers } = membersOf(document, SERVERS);
      existed = Object.hasOwn(membersOf(document, SERVERS), name);
      if (!existed) return undefined;
      const { [name]: _settings, ...settings } = membersOf(document, SETTINGS);
      const next: Record<string, unknown> = { ...document, [SERVERS]: servers };
      if (Object.keys(settings).length > 0) next[SETTINGS] = settings;
      else delete next[SETTINGS];
      return next;
    });
    return existed;
  }

  async #rewrite(change: (document: Document) => Document | undefined): Promise<void> {
    await this.#file.rewrite(() => {
      if (this.#fault !== undefined) throw damaged(MCP_FILE, this.#fault);
      const next = change(this.#good);
      return next && `${JSON.stringify(next, null, 2)}\n`;
    });
  }
}

/** The error for a file that would lose what it has. */
export function damaged(file: string, fault: string): BlockhouseError {
  return new BlockhouseError('WORKSPACE_DAMAGED', `${file} of the workspace can't be used: ${fault}. Repair it or remove it.`);
}

function membersOf(document: Document, name: string): Record<string, unknown> {
  const members = document[name];
  return isObject(members) ? members : {};
}

/** The object in a JSON file. Throws an Error that says what is wrong, and quotes no values. */
export function strictObject(state: FileState, maxValues?: number): Document | undefined {
  if (state.kind === 'missing') return undefined;
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const bytes = Buffer.from(state.text);
  const json = parseBytes(bytes, maxValues);
  if (!isObject(json)) throw new Error('it must contain a JSON object');
  const twice = repeatedMember(bytes, json);
  if (twice !== undefined) throw new Error(`it has the field ${JSON.stringify(twice.slice(0, 64))} twice in one object`);
  return json;
}

function parseDocument(state: FileState): Document {
  const document = strictObject(state) ?? {};
  for (const name of [SERVERS, SETTINGS])
    if (document[name] !== undefined && !isObject(document[name])) throw new Error(`${name} must be an object with one member for each server`);
  const servers = membersOf(document, SERVERS);
  if (Object.keys(servers).length > MAX_SERVERS) throw new Error(`it has more than ${MAX_SERVERS} servers`);
  const lost = Object.keys(membersOf(document, SETTINGS)).find((name) => !Object.hasOwn(servers, name));
  if (lost !== undefined) throw new Error(`${SETTINGS}.${lost.slice(0, 64)} has settings for a server that is not in ${SERVERS}`);
  return document;
}

function entriesOf(document: Document): ReadonlyMap<string, ServerEntry> {
  const settings = membersOf(document, SETTINGS);
  return new Map(
    Object.entries(membersOf(document, SERVERS)).map(([name, raw]) => [name, readEntry(name, raw, Object.hasOwn(settings, name) ? settings[name] : undefined)]),
  );
}
