// The doctor's checks outside of blocks: the files of the workspace itself, and the archive. Reads only.
import { type Dirent, existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_NAME_CHARACTERS, type UnusedSetting, unusedSettings } from '../auth/unused-settings.ts';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { Adapter } from '../ports.ts';
import { MODELS_FILE, modelsCodec } from '../routing/models-file.ts';
import { nameInArchive } from '../schemas/names.ts';
import type { Finding } from '../schemas/workspace-api.ts';
import { isTemporaryName } from '../store/files/atomic-file.ts';
import type { BlockFolders } from '../store/files/block/block-folders.ts';
import { BLOCK_FILE_LIMITS, BLOCK_FOLDERS } from '../store/parts/block-layout.ts';
import { RENAME_NOTE } from '../store/files/block/rename-note.ts';
import { readState } from '../store/files/fresh-file.ts';
import { foreignKind } from '../store/files/own-folder.ts';
import { readFault, readRegular } from '../store/files/regular-file.ts';
import { FileSettings } from '../store/files/settings.ts';
import type { LedgerStore } from '../store/port.ts';
import { parseConfig } from './documents/document-codecs.ts';

const SECRET_FILES = ['.api-token', 'auth.json', 'keys.json'] as const;

/** A finding that doesn't prevent any work. */
export function warning(place: string, problem: string, fix: string): Finding {
  return { severity: 'warning', place, problem, fix };
}

function error(place: string, problem: string, fix: string): Finding {
  return { severity: 'error', place, problem, fix };
}

/** Examines the files of the workspace itself. */
export async function examineWorkspace(workspace: string, ledger: LedgerStore, adapters: readonly Adapter[]): Promise<Finding[]> {
  return [
    ...openFolder(workspace),
    ...secretFiles(workspace),
    ...credentials(workspace, adapters),
    ...(await models(workspace, adapters)),
    ...killSwitch(workspace),
    ...(await spending(ledger)),
  ];
}

/** Who may write in the folder may replace any of its files, whatever their modes are. */
function openFolder(workspace: string): Finding[] {
  const stats = statSync(workspace, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o022) === 0) return [];
  return [error('.', 'other users of this machine can replace the files of the workspace', 'chmod go-w .')];
}

/** Links are followed, as the server follows them. */
function secretFiles(workspace: string): Finding[] {
  return SECRET_FILES.flatMap((name) => {
    const stats = statSync(join(workspace, name), { throwIfNoEntry: false });
    if (stats?.isFile() !== true || (stats.mode & 0o077) === 0) return [];
    return [error(name, 'other users of this machine can read or write it', `chmod 600 ${name}`)];
  });
}

function credentials(workspace: string, adapters: readonly Adapter[]): Finding[] {
  const found = (problem: string): Finding => error('auth.json', problem, 'Repair it, or remove it and store the keys again (`blockhouse auth set`).');
  const state = readState(join(workspace, 'auth.json'));
  if (state.kind === 'missing') return [];
  if (state.kind === 'unreadable') return [found(state.reason)];
  let stored: unknown;
  try {
    stored = parseBytes(Buffer.from(state.text));
  } catch (fault) {
    return [found((fault as Error).message)];
  }
  if (!isObject(stored)) return [found('it must contain a JSON object with one entry for each provider')];
  const isBad = ([, entry]: [string, unknown]): boolean => !isObject(entry) || Object.values(entry).some((value) => typeof value !== 'string');
  const entries = Object.entries(stored);
  const sound = Object.fromEntries(entries.filter((entry) => !isBad(entry))) as Record<string, object>;
  return [
    ...entries.filter(isBad).map(([adapter]) => found(`the entry ${adapter} must be an object of strings`)),
    ...unusedSettings(adapters, sound).map(unusedFinding),
  ];
}

function unusedFinding({ entry, field, meant }: UnusedSetting): Finding {
  const [name, setting] = [shown(entry), shown(field ?? '')];
  const problem = field === undefined ? `there is no provider ${name}, so the entry has no effect` : `${name} has no setting ${setting}, so it has no effect`;
  return warning('auth.json', problem, meant === undefined ? 'Remove it if no other program uses it.' : `Rename it if you meant ${meant}.`);
}

/** A long name may be a pasted key. */
function shown(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, 4)}…` : name;
}

async function models(workspace: string, adapters: readonly Adapter[]): Promise<Finding[]> {
  const idOf = (name: string): string | undefined => adapters.find(({ id, aliases }) => id === name || aliases.includes(name))?.id;
  const ids = adapters.map(({ id }) => id);
  const { fault } = await new FileSettings(workspace).check('models', modelsCodec(idOf, ids));
  if (fault === undefined) return [];
  const fix = 'Repair it, or remove it. A server that has read it before goes on with what it said then; after a restart, only `provider/model` can be used.';
  return [error(MODELS_FILE, fault, fix)];
}

/** The kill switch may have been set long ago, or by a file that happens to have this name. */
function killSwitch(workspace: string): Finding[] {
  if (lstatSync(join(workspace, 'halted.json'), { throwIfNoEntry: false }) === undefined) return [];
  return [warning('halted.json', 'all blocks are halted', 'Run `blockhouse unhalt` when they should continue.')];
}

/** Spending that can't be read doesn't count towards the caps. */
async function spending(ledger: LedgerStore): Promise<Finding[]> {
  const place = 'ledger.jsonl';
  const lines = ledger.lines();
  try {
    for await (const _ of lines);
  } catch (fault) {
    return [error(place, reasonOf(fault as Error), 'Replace it with a readable file. Until then, no block with a budget calls a model.')];
  }
  const { damagedLines, firstDamaged } = lines;
  if (damagedLines === 0) return [];
  const lost =
    damagedLines === 1
      ? `line ${firstDamaged} can't be read, so its cost does`
      : `${damagedLines} lines can't be read (the first is line ${firstDamaged}), so their costs do`;
  return [error(place, `${lost} not count towards the budgets`, 'Repair or remove them by hand while the server is stopped.')];
}

/** Links and files in place of a block's folders: the server doesn't read or write there. */
export function foreignFolders(folder: string, place: string): Finding[] {
  return BLOCK_FOLDERS.flatMap((name) => {
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return [];
    return [error(`${place}/${name}`, `it ${foreignKind(stats)}, so nothing in it is read or written`, 'Remove it; the server creates the folder.')];
  });
}

/** The reason alone: a ledger error also contains the place and the fix, which a finding has as fields. */
function reasonOf(fault: Error): string {
  return readFault(fault.cause instanceof Error ? fault.cause : fault);
}

/** The contents of a folder; none where no server has made the folder yet. */
export function itemsOf(folder: string): Dirent[] {
  return existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
}

/** Examines every archived block. */
export async function examineArchives(folders: BlockFolders): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const item of itemsOf(folders.archive)) {
    if (isTemporaryName(item.name)) continue;
    const place = `archive/${item.name}`;
    const name = item.isDirectory() ? nameInArchive(item.name) : undefined;
    if (item.name === RENAME_NOTE)
      findings.push(warning(place, 'a rename goes on, or was interrupted', 'If none goes on, start the server again: it ends the rename.'));
    else if (name === undefined) findings.push(warning(place, 'it is not an archived block, so it is ignored', 'Move it elsewhere.'));
    else findings.push(...(await archivedConfig(join(folders.archive, item.name), name, place)));
  }
  return findings;
}

/** Checks config.json, because a block can't be restored without it. */
async function archivedConfig(folder: string, name: string, place: string): Promise<Finding[]> {
  try {
    const bytes = await readRegular(join(folder, 'config.json'), BLOCK_FILE_LIMITS['config.json'].bytes);
    if (bytes === undefined) throw new Error('it is missing');
    const value = parseBytes(bytes);
    parseConfig(isObject(value) ? { ...value, name } : value, name, '');
    return [];
  } catch (fault) {
    return [error(`${place}/config.json`, readFault(fault as Error), "Repair it by hand. Until then, the block can't be restored.")];
  }
}
