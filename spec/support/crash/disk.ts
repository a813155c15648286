// A workspace as it stands on disk while no server runs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface EntryOnDisk {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly status: string;
  readonly clientId?: string;
  readonly replyTo?: string;
  readonly attempts?: number;
}

export interface BlockOnDisk {
  readonly config: { readonly description: string; readonly systemPrompt: string; readonly tags: readonly string[]; readonly enabled: boolean };
  readonly facts: readonly { readonly id: string; readonly text: string }[];
  /** chat-archive/ and chat.json, each entry once. */
  readonly entries: readonly EntryOnDisk[];
}

export interface Snapshot {
  readonly blocks: ReadonlyMap<string, BlockOnDisk>;
  /** By the name that they had; two of one name would be a fault. */
  readonly archived: ReadonlyMap<string, BlockOnDisk>;
  /** Calls in the ledger, by message. */
  readonly ledger: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/** Files that are written without a flush, because a server makes them anew from others: a power cut may leave them empty. */
const DERIVED = /(^|\/)(costs|pulse)\.json$/;

/** With `afterPowerCut`, a derived file may be torn. */
export function readSnapshot(workspace: string, { afterPowerCut = false } = {}): Snapshot {
  const faults: string[] = [];
  for (const path of jsonFiles(workspace)) {
    if (path.includes('.corrupt-')) faults.push(`${path} was put aside as damaged`);
    else if (afterPowerCut && DERIVED.test(path)) continue;
    else if (parse(readFileSync(join(workspace, path), 'utf8')) === undefined) faults.push(`${path} does not parse`);
  }
  const archived = new Map<string, BlockOnDisk>();
  for (const folder of folders(join(workspace, 'archive'))) {
    const name = folder.slice(0, folder.indexOf('_'));
    if (archived.has(name)) faults.push(`${name} is twice in the archive`);
    archived.set(name, readBlock(join(workspace, 'archive', folder), faults));
  }
  const blocks = new Map(folders(join(workspace, 'blocks')).map((name) => [name, readBlock(join(workspace, 'blocks', name), faults)]));
  return { blocks, archived, ledger: readLedger(workspace), faults };
}

/** All that end in .json and are no temporary files. */
function jsonFiles(workspace: string): string[] {
  return readdirSync(workspace, { recursive: true, encoding: 'utf8' }).filter((path) => /\.json(\.corrupt-[^/]*)?$/.test(path) && !/\.tmp(\/|$)/.test(path));
}

function folders(path: string): string[] {
  return existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith('.')) : [];
}

function readBlock(folder: string, faults: string[]): BlockOnDisk {
  const file = (name: string): unknown => (existsSync(join(folder, name)) ? parse(readFileSync(join(folder, name), 'utf8')) : undefined);
  const { facts } = (file('memory.json') ?? { facts: [] }) as BlockOnDisk;
  const chat = (file('chat.json') ?? []) as EntryOnDisk[];
  const ids = chat.map(({ id }) => id);
  for (const id of ids.filter((one, index) => ids.indexOf(one) !== index)) faults.push(`${folder}: entry ${id} is twice in chat.json`);
  // A crash may have left an entry in both, or twice in the archive.
  const byId = new Map([...readArchive(folder), ...chat].map((entry) => [entry.id, entry]));
  const config = (file('config.json') ?? {}) as BlockOnDisk['config'];
  return { config, facts, entries: [...byId.values()] };
}

function readArchive(folder: string): EntryOnDisk[] {
  const archive = join(folder, 'chat-archive');
  if (!existsSync(archive)) return [];
  return readdirSync(archive)
    .filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name))
    .sort()
    .flatMap((name) => linesOf(join(archive, name)) as EntryOnDisk[]);
}

function readLedger(workspace: string): Map<string, number> {
  const calls = new Map<string, number>();
  const path = join(workspace, 'ledger.jsonl');
  if (!existsSync(path)) return calls;
  for (const line of linesOf(path) as { messageId?: string | null }[]) {
    if (typeof line.messageId === 'string') calls.set(line.messageId, (calls.get(line.messageId) ?? 0) + 1);
  }
  return calls;
}

/** A line that a kill has torn was never acknowledged. */
function linesOf(path: string): unknown[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map(parse)
    .filter((value) => value !== undefined);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
