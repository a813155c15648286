// The doctor's checks outside of blocks: the files of the workspace itself, and the archive. Reads only.
import { type Dirent, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isConnectionName } from '../auth/connection-name.ts';
import { type Entry, parseEntry } from '../auth/entry.ts';
import { PRESETS_FILE, PresetFile } from '../auth/preset-file.ts';
import { PRICES_FILE, parsePrices } from '../auth/price-file.ts';
import { isSection } from '../auth/secret-sections.ts';
import { MAX_NAME_CHARACTERS, type UnusedSetting, unusedSettings } from '../auth/unused-settings.ts';
import { nearest } from '../base/closest.ts';
import { isObject, tryParseJson } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import { urlOf } from '../base/url.ts';
import { BlockhouseError } from '../errors.ts';
import { addressFields, addressIn, type BuiltEntry } from '../gateway/connections/built-entry.ts';
import { Connections, presetsOf } from '../gateway/connections/connections.ts';
import { isLoopbackHost } from '../gateway/egress.ts';
import type { Adapter } from '../ports.ts';
import type { ModelTable } from '../routing/model-table.ts';
import { MODELS_FILE, modelsCodec } from '../routing/models-file.ts';
import { nameInArchive } from '../schemas/names.ts';
import type { Finding } from '../schemas/workspace-api.ts';
import { isTemporaryName } from '../store/files/atomic-file.ts';
import type { BlockFolders } from '../store/files/block/block-folders.ts';
import { BLOCK_FILE_LIMITS, ALL_BLOCK_FOLDERS } from '../store/parts/block-layout.ts';
import { RENAME_NOTE } from '../store/files/block/rename-note.ts';
import { readState } from '../store/files/fresh-file.ts';
import { NOTICE_FOLDER } from '../store/files/notice-folder.ts';
import { foreignKind } from '../store/files/regular-file.ts';
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
    ...ownPresets(workspace, adapters),
    ...(await models(workspace, adapters)),
    ...filedPrices(workspace, adapters),
    ...killSwitch(workspace),
    ...notifyTargets(workspace),
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
    const stats = statsOf(join(workspace, name));
    if (stats?.isFile() !== true || (stats.mode & 0o077) === 0) return [];
    return [error(name, 'other users of this machine can read or write it', `chmod 600 ${name}`)];
  });
}

/** Undefined for what can't be looked at, such as a ring of links: that it can't be read is a finding of its own. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const UNREAD_AUTH =
  'Repair it, or move it away (`mv auth.json auth.json.damaged`) and store what it held again: keys with `blockhouse auth set <id>`, secrets of servers of tools with `blockhouse tools secret set <secret>`.';

function credentials(workspace: string, adapters: readonly Adapter[]): Finding[] {
  const found = (problem: string): Finding => error('auth.json', problem, UNREAD_AUTH);
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
  const presets = new PresetFile(workspace, presetsOf(adapters));
  const connections = new Connections({ adapters, credentials: undefined, presets, names: [] });
  return Object.entries(stored).flatMap(([name, entry]): Finding[] => {
    if (isSection(name)) return [];
    try {
      const parsed = parseEntry(name, entry);
      if (isMeantAsConnection(name, parsed, adapters, presets)) return connectionFindings(name, connections.built(name, parsed));
      const unused = unusedSettings(adapters, { [name]: parsed.settings }).map(unusedFinding);
      return adapters.some(({ id }) => id === name) ? [...unused, ...keyFindings(name, connections.built(name, parsed))] : unused;
    } catch (fault) {
      const { message } = fault as Error;
      if (!(fault instanceof BlockhouseError)) return [found(message)];
      const word = /^[a-z0-9.-]+$/.test(name) ? name : '<name>';
      const fix = `Repair the entry, or remove it (\`blockhouse auth rm ${word}\`) and store it again (\`blockhouse auth set ${word}\`).`;
      return [error('auth.json', `${shown(name)}.${message.replace(/\.$/, '')}`, fix)];
    }
  });
}

/** An entry of another name with neither of the two is a near miss, or belongs to another program. */
function isMeantAsConnection(name: string, { fields }: Entry, adapters: readonly Adapter[], presets: PresetFile): boolean {
  if (adapters.some(({ id, aliases }) => id === name || aliases.includes(name))) return false;
  return fields.adapter !== undefined || fields.preset !== undefined || presets.names().includes(name);
}

function connectionFindings(name: string, built: BuiltEntry): Finding[] {
  const unread = Object.keys(built.entry.settings).filter((field) => !Object.hasOwn(built.base.settings, field));
  return [...unread.map((field) => unusedFinding({ entry: name, field })), ...keyFindings(name, built)];
}

function keyFindings(name: string, built: BuiltEntry): Finding[] {
  const { keys = [] } = built.entry.fields;
  const findings: Finding[] = [];
  const open = hasKey(built) ? addressFields(built).map((field) => urlOf(addressIn(built, field) ?? '')) : [];
  const url = open.find((each) => each?.protocol === 'http:' && !isLoopbackHost(each.hostname));
  if (url !== undefined)
    findings.push(
      warning('auth.json', `the key of ${name} goes to ${url.origin} without encryption`, 'Use https, or a tunnel, if anybody can listen on the way.'),
    );
  const values = keys.map(({ apiKey, apiKeyEnv }) => apiKey ?? `$${apiKeyEnv}`);
  const twice = values.findIndex((value, index) => values.indexOf(value) < index);
  if (twice >= 0) findings.push(warning('auth.json', `${name}.keys[${twice}] is the same key as one before it, so it has no effect`, 'Remove one of the two.'));
  return findings;
}

/** True if anything secret is sent to where an entry leads: what it has, what it names, or the variable of its preset. */
function hasKey({ entry: { settings, fields }, base, preset }: BuiltEntry): boolean {
  const { auth = preset?.auth, keys, apiKeyEnv, keyCommand, headers } = fields;
  const readsPreset = auth !== 'none' && preset?.variable !== undefined;
  const isNamed = [keys, apiKeyEnv, keyCommand, headers].some((way) => way !== undefined);
  return readsPreset || isNamed || Object.keys(settings).some((field) => base.settings[field]?.secret === true);
}

/** What presets.json says is read with the first connection, so a fault of it would come late. */
function ownPresets(workspace: string, adapters: readonly Adapter[]): Finding[] {
  const presets = new PresetFile(workspace, presetsOf(adapters));
  try {
    for (const name of presets.names()) presets.of(name);
    return [];
  } catch (fault) {
    return [error(PRESETS_FILE, (fault as Error).message.replace(/^.*can't be used: (.*)\. Repair it or remove it\.$/, '$1'), 'Repair it, or remove it.')];
  }
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
  const { good, fault } = await new FileSettings(workspace).check('models', modelsCodec(idOf, ids, isConnectionName));
  if (fault === undefined) return lostTargets(workspace, good?.table, idOf, ids);
  const fix = 'Repair it, or remove it. A server that has read it before goes on with what it said then; after a restart, only `provider/model` can be used.';
  return [error(MODELS_FILE, fault, fix)];
}

/** Prices that can't be read are unknown, and those of a connection which is not there have no effect. */
function filedPrices(workspace: string, adapters: readonly Adapter[]): Finding[] {
  try {
    const { models: prices } = parsePrices(readState(join(workspace, PRICES_FILE)));
    const names = new Set(Object.keys(prices).map((name) => name.slice(0, name.indexOf('/'))));
    const isLost = lostIn(workspace, (name) => adapters.find(({ id }) => id === name)?.id);
    const fix = 'Add the connection, or remove its prices. One in BLOCKHOUSE_CONNECTIONS is not seen here.';
    return [...names].filter(isLost).map((name) => warning(PRICES_FILE, `${shown(name)} is neither a provider nor a connection in auth.json`, fix));
  } catch (fault) {
    const fix = `Repair it, or remove it. A server that has read it before goes on with what it said then; after a restart, the price of a model is known only if auth.json has it.`;
    return [error(PRICES_FILE, (fault as Error).message, fix)];
  }
}

/** True for a name that is neither that of a provider nor of an entry of auth.json. */
function lostIn(workspace: string, idOf: (name: string) => string | undefined): (name: string) => boolean {
  const state = readState(join(workspace, 'auth.json'));
  const entries = state.kind === 'text' ? tryParseJson(state.text) : {};
  return (name) => idOf(name) === undefined && !(isObject(entries) && Object.hasOwn(entries, name));
}

/** Names that lead to a connection which is not there. */
function lostTargets(workspace: string, table: ModelTable | undefined, idOf: (name: string) => string | undefined, ids: readonly string[]): Finding[] {
  const lost = lostIn(workspace, idOf);
  const leads = [...(table?.aliases.values() ?? []), ...(table?.patterns ?? [])].flatMap(({ name, targets }) =>
    targets.map(({ adapter }): [string, string] => [`the alias ${shown(name)}`, adapter]),
  );
  if (table?.defaultProvider !== undefined) leads.push(['defaultProvider', table.defaultProvider]);
  return leads
    .filter(([, name]) => lost(name))
    .map(([what, name]) => {
      const meant = nearest(name, ids);
      return warning(
        MODELS_FILE,
        `${what} leads to ${shown(name)}, which is neither a provider nor a connection in auth.json`,
        `${meant === undefined ? '' : `Did you mean ${meant}? `}Add the connection, or change the name. One in BLOCKHOUSE_CONNECTIONS is not seen here.`,
      );
    });
}

/** The kill switch may have been set long ago, or by a file that happens to have this name. */
function killSwitch(workspace: string): Finding[] {
  if (lstatSync(join(workspace, 'halted.json'), { throwIfNoEntry: false }) === undefined) return [];
  return [warning('halted.json', 'all blocks are halted', 'Run `blockhouse unhalt` when they should continue.')];
}

/** Targets of notifications that have answered 410, with what waits for them; of each process that has a part of the folder. */
function notifyTargets(workspace: string): Finding[] {
  const own = join(workspace, NOTICE_FOLDER);
  const parts = itemsOf(own).flatMap((item) => (item.isDirectory() && /^part-\d+$/.test(item.name) ? [join(own, item.name)] : []));
  return [own, ...parts].flatMap((folder) =>
    itemsOf(join(folder, 'targets')).flatMap(({ name: file }) => {
      const name = file.replace(/\.json$/, '');
      const state = readState(join(folder, 'targets', file));
      const value = state.kind === 'text' ? tryParseJson(state.text) : undefined;
      if (isTemporaryName(file) || !isObject(value) || value['off'] !== true) return [];
      const pending = itemsOf(join(folder, `pending-${name}`)).filter((item) => !isTemporaryName(item.name)).length;
      const problem = `the target ${shown(name)} of notifications has answered 410, so it gets no more; ${pending} wait for it`;
      return [
        warning(
          NOTICE_FOLDER,
          problem,
          `Set it again (\`blockhouse notify set ${shown(name)} --url …\`), or remove it (\`blockhouse notify rm ${shown(name)}\`).`,
        ),
      ];
    }),
  );
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
  return ALL_BLOCK_FOLDERS.flatMap((name) => {
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
