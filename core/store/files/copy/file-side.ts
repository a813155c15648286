// A workspace in its folder, as a source or a target of a copy. The lock is held meanwhile, so that no server starts.
//
// whole-block: a block is written under a temporary name, and then renamed into its place.
// own-machine: the credentials of providers and the text of the token stay with the machine; they are neither read from nor written to another store.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { createBus } from '../../../bus.ts';
import { BlockhouseError } from '../../../errors.ts';
import { isBlockName, nameInArchive } from '../../../schemas/names.ts';
import type { CopiedBlock, CopiedLine, CopiedSetting, CopiedSpend, CopyNote, CopyTarget } from '../../parts/copied.ts';
import type { GatewayCall, Spend } from '../../port.ts';
import { replaceFile, syncFolder } from '../atomic-file.ts';
import { findArchive } from '../block/archive-info.ts';
import { BlockFolders } from '../block/block-folders.ts';
import { RENAME_NOTE } from '../block/rename-note.ts';
import { COPY_NOTE, readCopyNote } from '../copy-note.ts';
import { GATEWAY_FILES } from '../ledger/gateway-ledger.ts';
import { LEDGER_FILE, Ledger } from '../ledger/ledger.ts';
import { WorkspaceLock } from '../lock.ts';
import { readRegular } from '../regular-file.ts';
import { readBlock } from './block-reading.ts';
import { writeBlock } from './block-writing.ts';
import { ClientCalls, readLedger, writeCalls, writeLedger } from './ledgers.ts';

const SETTINGS: Readonly<Record<CopiedSetting, string>> = {
  halt: 'halted.json',
  keys: 'keys.json',
  models: 'models.json',
  token: '.api-token',
  mcp: 'mcp.json',
  'mcp-pins': 'mcp-pins.json',
  prices: 'prices.json',
  presets: 'presets.json',
};
/** A server may have it, or another copy. */
const CURE = 'end it, and copy again';
const MAX_SETTING_BYTES = 64 * 1024 * 1024;
/** What makes a folder hold a workspace. Its machine may have other files there, also for a workspace in a database. */
const CONTENTS: readonly string[] = [
  LEDGER_FILE,
  GATEWAY_FILES.ledger,
  GATEWAY_FILES.spend,
  SETTINGS.halt,
  SETTINGS.keys,
  SETTINGS.models,
  SETTINGS.mcp,
  SETTINGS['mcp-pins'],
];
const TEMPORARY = /^(?:gateway-)?ledger\.jsonl(?:\.\d+)?\.tmp$/;

/** Takes the lock, except of a folder that is not there: that is made with the first write. Rejects with WORKSPACE_BUSY, or the system's own error. */
export async function openFileSide(given: string): Promise<CopyTarget> {
  const folder = await realpath(given).catch(undefinedFor('ENOENT'));
  if (folder === undefined) return new FileSide(resolve(given), '', undefined);
  const { ino } = await stat(folder);
  return new FileSide(folder, `${folder}#${ino}`, await WorkspaceLock.acquire(folder, { cure: CURE }));
}

class FileSide implements CopyTarget {
  readonly kind = 'files';
  readonly shown: string;
  readonly id: string;
  readonly #folder: string;
  readonly #folders: BlockFolders;
  readonly #calls: ClientCalls;
  #lock: WorkspaceLock | undefined;

  constructor(folder: string, id: string, lock: WorkspaceLock | undefined) {
    this.#folder = folder;
    this.shown = folder;
    this.id = id;
    this.#lock = lock;
    this.#folders = new BlockFolders(folder);
    this.#calls = new ClientCalls(folder);
  }

  get isThere(): boolean {
    return this.#lock !== undefined;
  }

  /** The lock says that no server has it. */
  async assertUnused(): Promise<void> {
    if (existsSync(join(this.#folders.archive, RENAME_NOTE)))
      throw new BlockhouseError('WORKSPACE_DAMAGED', `A rename in ${this.shown} was interrupted. Start a server there once, which ends it, and stop it.`);
  }

  async places(): Promise<readonly string[]> {
    const blocks = (await foldersIn(this.#folders.blocks)).filter(isBlockName).map((name) => `blocks/${name}`);
    const archived = (await foldersIn(this.#folders.archive)).filter((name) => nameInArchive(name) !== undefined).map((name) => `archive/${name}`);
    return [...blocks, ...archived].sort();
  }

  async block(place: string): Promise<CopiedBlock> {
    const [kind, name = ''] = place.split('/');
    const info = kind === 'archive' ? await findArchive(this.#folders.archive, name) : undefined;
    return readBlock(place, join(this.#folder, place), info?.originalName ?? name, info);
  }

  ledger(): AsyncIterable<CopiedLine> {
    return readLedger(this.#folder);
  }

  async spends(blocks: readonly string[], sinceMs: number): Promise<readonly Spend[]> {
    const ledger = new Ledger(this.#folder, createBus());
    return Promise.all(blocks.map(async (block) => (await ledger.spend(block, [sinceMs]))[0]));
  }

  calls(): AsyncIterable<GatewayCall> {
    return this.#calls.calls();
  }

  spent(): Promise<readonly CopiedSpend[]> {
    return this.#calls.spent();
  }

  async settings(): Promise<ReadonlyMap<CopiedSetting, string>> {
    const found = new Map<CopiedSetting, string>();
    for (const [name, file] of Object.entries(SETTINGS) as [CopiedSetting, string][]) {
      const text = (await readRegular(join(this.#folder, file), MAX_SETTING_BYTES))?.toString();
      if (text !== undefined) found.set(name, name === 'token' ? createHash('sha256').update(text.trim()).digest('hex') : text); // own-machine
    }
    return found;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.places()).length === 0 && !CONTENTS.some((name) => existsSync(join(this.#folder, name)));
  }

  note(): Promise<CopyNote | undefined> {
    return readCopyNote(this.#folder);
  }

  async setNote(note: CopyNote): Promise<void> {
    this.#lock ??= await WorkspaceLock.acquire(this.#folder, { cure: CURE });
    await replaceFile(join(this.#folder, COPY_NOTE), `${JSON.stringify(note)}\n`);
    if (note.isWhole) return;
    await this.#folders.open((what, error) => {
      throw new Error(`${what}, which an earlier copy has left, can't be removed`, { cause: error });
    });
    for (const name of await readdir(this.#folder)) if (TEMPORARY.test(name)) await rm(join(this.#folder, name));
  }

  /** whole-block. */
  async put(block: CopiedBlock): Promise<void> {
    const path = join(this.#folder, block.place);
    const hidden = join(dirname(path), `.new.${randomBytes(8).toString('hex')}.tmp`);
    try {
      await writeBlock(hidden, block, Date.now());
      await this.#hide(path);
      await rename(hidden, path);
    } catch (error) {
      await rm(hidden, { recursive: true, force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  }

  async remove(place: string): Promise<void> {
    await this.#hide(join(this.#folder, place));
  }

  putLedger(lines: () => AsyncIterable<CopiedLine>): Promise<void> {
    return writeLedger(this.#folder, lines());
  }

  putCalls(calls: () => AsyncIterable<GatewayCall>, spent: readonly CopiedSpend[]): Promise<void> {
    return writeCalls(this.#folder, calls(), spent);
  }

  async putSettings(settings: ReadonlyMap<CopiedSetting, string>): Promise<void> {
    for (const [name, file] of Object.entries(SETTINGS) as [CopiedSetting, string][]) {
      const text = settings.get(name);
      if (name === 'token') continue; // own-machine
      if (text !== undefined) await replaceFile(join(this.#folder, file), text);
      else if (CONTENTS.includes(file)) await rm(join(this.#folder, file), { force: true });
    }
  }

  async close(): Promise<void> {
    await this.#lock?.release();
  }

  /** Whatever is at `path` goes; a crash leaves it under a temporary name. */
  async #hide(path: string): Promise<void> {
    if (!existsSync(path)) return;
    const hidden = join(dirname(path), `.old.${randomBytes(8).toString('hex')}.tmp`);
    await rename(path, hidden);
    await rm(hidden, { recursive: true });
  }
}

/** Links lead out of the workspace, and are no blocks. */
async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(undefinedFor('ENOENT'));
  return (entries ?? []).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
