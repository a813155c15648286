// mcp.json of the workspace: the servers of tools. Other programs' files of this name fit in. With a database, the document is a row of it.
//
// last-good: a damaged file never counts as an empty one; its last good content stays in use. If there was none, there are no servers.
// kept-whole: a change writes what it changes, and keeps the rest of the file as it is.
import { isObject } from '../../core/base/json.ts';
import { repeatedMember } from '../../core/base/json-members.ts';
import { parseBytes } from '../../core/base/strict-json.ts';
import { BlockhouseError, type Setting, type SettingCodec, type SettingStore } from '../../core/index.ts';
import { readEntry, type ServerEntry } from './entry.ts';

/** The name of the file in a workspace. */
export const MCP_FILE = 'mcp.json';
const MAX_BYTES = 1024 * 1024;
/** The most servers: each is looked at for every list. */
const MAX_SERVERS = 200;
const SERVERS = 'mcpServers';
const SETTINGS = 'blockhouse';

type Document = Readonly<Record<string, unknown>>;

/** How the document is read and written. */
const CODEC: SettingCodec<Document> = { parse: parseDocument, format: (document) => `${JSON.stringify(document, null, 2)}\n` };

/** The servers of the workspace. */
export class McpJson {
  readonly #setting: Setting<Document>;
  #entries: ReadonlyMap<string, ServerEntry> = new Map();

  /** `onChange` is called after each change of the entries, with those before. */
  constructor(settings: SettingStore, onChange: (before: ReadonlyMap<string, ServerEntry>) => void) {
    this.#setting = settings.open('mcp', CODEC, ({ good, fault }) => {
      if (fault !== undefined || good === undefined) return; // last-good
      const before = this.#entries;
      this.#entries = entriesOf(good);
      onChange(before);
    });
  }

  /** Why the document can't be used now; undefined if it can. */
  get fault(): string | undefined {
    return this.#setting.now().fault;
  }

  /** The entries as they are, or last were while the document could be used. */
  entries(): ReadonlyMap<string, ServerEntry> {
    this.#setting.now();
    return this.#entries;
  }

  /** Looks at once. Rejects with STORE_UNREACHABLE. */
  look(): Promise<void> {
    return this.#setting.look();
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
    await this.#setting.update(({ good = {}, fault }) => {
      if (fault !== undefined) throw damaged(MCP_FILE, fault);
      const next = change(good);
      if (next !== undefined && Buffer.byteLength(CODEC.format(next) ?? '') > MAX_BYTES)
        throw new BlockhouseError('TOOL_SERVER_REFUSED', `${MCP_FILE} would be larger than ${MAX_BYTES} bytes. Remove a server first.`);
      return next;
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

/** The object in a JSON text; undefined without one. Throws an Error that says what is wrong, and quotes no values. */
export function strictObject(text: string | undefined, maxValues?: number): Document | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text);
  const json = parseBytes(bytes, maxValues);
  if (!isObject(json)) throw new Error('it must contain a JSON object');
  const twice = repeatedMember(bytes, json);
  if (twice !== undefined) throw new Error(`it has the field ${JSON.stringify(twice.slice(0, 64))} twice in one object`);
  return json;
}

function parseDocument(text: string | undefined): Document {
  const document = strictObject(text) ?? {};
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
