// The names that a completion can offer. Blocks and archives come from their folders, or where there are none from the running server, as keys and aliases
// do; providers and models come from that server, or from a core of this process if no server runs, which is the only case that loads the core.
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { timeLimit } from '../../core/base/abort.ts';
import type { Api } from '../client/api.ts';
import { CURATED_NAMES } from '../input/curated-servers.ts';
import { EFFORTS } from '../talk/answer-options.ts';
import { LEVELS } from '../views/log-tail.ts';
import { PATH_WANTED, SHELLS } from './completion-scripts.ts';

/** A word that fits, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly description?: string | undefined;
}

/** What is asked for. */
export interface Names {
  /** The word for the argument or the value, such as `name` or `model`. */
  readonly kind: string;
  readonly command: string;
  /** The arguments before it, which are not offered again. */
  readonly given: readonly string[];
  /** The values of the options before it. */
  readonly values: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A person waits at a line that does not change. */
const PATIENCE_MS = 1500;

type Find = (names: Names) => readonly string[] | Promise<readonly string[]>;

/** What `<name>` is; a name that is new is offered nothing. */
const NAME_IN: Readonly<Record<string, Find>> = {
  'key set': (names) => keys(names),
  'key debug': (names) => keys(names),
  'key rm': (names) => keys(names),
  'key group set': (names) => groups(names),
  'key group rm': (names) => groups(names),
  'alias set': (names) => aliases(names),
  'alias rm': (names) => aliases(names),
};

const BY_KIND: Readonly<Record<string, Find>> = {
  name: (names) => (Object.hasOwn(NAME_IN, names.command) ? NAME_IN[names.command]?.(names) : undefined) ?? [],
  block: (names) => (names.command === 'new' ? [] : blocks(names)),
  old: (names) => blocks(names),
  archive: (names) =>
    isInDatabase(names) ? ofServer(names, async (api) => (await api.archives()).map(({ archiveName }) => archiveName)) : foldersIn('archive', names),
  group: (names) => groups(names),
  id: (names) => providers(names),
  'id|name': (names) => providers(names),
  provider: (names) => providers(names),
  model: (names) => models(names),
  'connection/model': (names) => asked(names, fullNames),
  'provider/model': (names) => asked(names, fullNames),
  schedule: (names) => (names.command === 'schedule add' ? [] : schedules(names)),
  hook: (names) => (names.command === 'hook new' ? [] : hooks(names)),
  target: (names) => ofServer(names, async (api) => (await api.notifyTargets()).targets.map(({ name }) => name)),
  event: () => ['approval.asked', 'message.failed', 'cap.reached', 'message.done'],
  approval: (names) => ofServer(names, async (api) => (await api.approvals()).map(({ id }) => id)),
  message: (names) => (names.command === 'run' ? runs(names) : []),
  server: (names) => (names.command === 'tools add' ? CURATED_NAMES : servers(names)),
  secret: (names) => secrets(names),
  tool: (names) => tools(names),
  'standard|github': () => ['standard', 'github'],
  zone: () => Intl.supportedValuesOf('timeZone'),
  'none|one|all': () => ['none', 'one', 'all'],
  level: () => LEVELS,
  effort: () => EFFORTS,
  grouping: ({ values }) => [values.has('--gateway') ? 'key' : 'block', 'connection', 'credential', 'model', 'day'],
  right: () => ['blocks', 'mcp'],
  'allow|refuse': () => ['allow', 'refuse'],
  format: () => ['litellm'],
  shell: () => SHELLS,
  file: () => [PATH_WANTED],
  folder: () => [PATH_WANTED],
};

/** The names of that kind; nothing for a kind without names. */
export async function namesOf(names: Names): Promise<readonly Candidate[]> {
  const words = (await (Object.hasOwn(BY_KIND, names.kind) ? BY_KIND[names.kind] : undefined)?.(names)) ?? [];
  return words.filter((word) => !names.given.includes(word)).map((word) => ({ word }));
}

/** As core/config.ts finds it; that file would load the core. */
function workspaceOf({ values, env }: Names): string {
  const given = (values.get('--workspace') ?? env['BLOCKHOUSE_WORKSPACE'])?.replace(/^(["'])(.*)\1$/, '$2');
  if (given === undefined) return join(homedir(), '.blockhouse');
  return given === '~' || given.startsWith('~/') ? join(homedir(), given.slice(1)) : given;
}

/** The folders are the blocks, with or without a server. */
function foldersIn(place: string, names: Names): string[] {
  const entries = readdirSync(join(workspaceOf(names), place), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && /^[a-z0-9]/.test(entry.name) ? [entry.name] : []));
}

function isInDatabase({ env }: Names): boolean {
  return (env['BLOCKHOUSE_STORE'] ?? '') !== '';
}

function blocks(names: Names): readonly string[] | Promise<readonly string[]> {
  return isInDatabase(names) ? ofServer(names, async (api) => (await api.list()).blocks.map(({ name }) => name)) : foldersIn('blocks', names);
}

/** Of the block that the line names. */
function schedules(names: Names): Promise<readonly string[]> {
  const [block = ''] = names.given;
  return ofServer(names, async (api) => (await api.schedules(block)).schedules.map(({ id }) => id));
}

function hooks(names: Names): Promise<readonly string[]> {
  const [block = ''] = names.given;
  return ofServer(names, async (api) => (await api.hooks(block)).hooks.map(({ id }) => id));
}

/** The newest messages with tools. */
function runs(names: Names): Promise<readonly string[]> {
  const [block = ''] = names.given;
  return ofServer(names, async (api) =>
    (await api.history(block, { limit: '100' })).flatMap(({ id, role, run }) => (role === 'user' && run !== undefined ? [id] : [])),
  );
}

function servers(names: Names): Promise<readonly string[]> {
  return ofServer(names, async (api) => (await api.toolServers()).servers.map(({ name }) => name));
}

function secrets(names: Names): Promise<readonly string[]> {
  return ofServer(names, async (api) => (await api.toolServers()).servers.flatMap((server) => (server.secrets ?? []).map(({ name }) => name)));
}

/** Of the server that the line names. */
function tools(names: Names): Promise<readonly string[]> {
  const [server = ''] = names.given;
  return ofServer(names, async (api) => (await api.toolServer(server)).server.tools.map(({ name }) => name));
}

function keys(names: Names): Promise<readonly string[]> {
  return ofServer(names, async (api) => (await api.keys()).keys.map(({ name }) => name));
}

function groups(names: Names): Promise<readonly string[]> {
  return ofServer(names, async (api) => (await api.keyGroups()).groups.map(({ name }) => name));
}

function aliases(names: Names): Promise<readonly string[]> {
  return ofServer(names, async (api) => (await api.modelNames()).aliases.map(({ name }) => name));
}

/** Nothing when no server runs. Rejects when it takes too long. */
async function ofServer(names: Names, question: (api: Api) => Promise<readonly string[]>): Promise<readonly string[]> {
  const api = await serverOf(names, timeLimit(PATIENCE_MS));
  return api === undefined ? [] : question(api);
}

/** The calls of the running server; undefined when none runs. */
async function serverOf(names: Names, signal: AbortSignal): Promise<Api | undefined> {
  const [{ Client, runningServer }, { Api }] = await Promise.all([import('../client/client.ts'), import('../client/api.ts')]);
  const place = await runningServer(workspaceOf(names), 0);
  return place && new Api(new Client(place, signal));
}

/** Who knows the providers and their models. */
interface Source {
  /** A provider is the connection of its own name. */
  readonly connections: () => Promise<readonly { readonly name: string; readonly adapter: string }[]>;
  readonly models: (id: string) => Promise<readonly string[]>;
  /** What clients may send: aliases, and provider/model of each that could be called. */
  readonly offered: () => Promise<readonly { readonly id: string; readonly adapter: string }[]>;
}

function providers(names: Names): Promise<readonly string[]> {
  return asked(names, async (source) => (await source.connections()).map(({ name }) => name));
}

/** The models of the provider that the line names; or those of the five by their own names, and of connections, to which no bare name leads, as connection/model. */
function models(names: Names): Promise<readonly string[]> {
  const given = names.values.get('--provider');
  return asked(names, async (source) => {
    const own = given === undefined ? (await source.connections()).flatMap(({ name, adapter }) => (name === adapter ? [name] : [])) : [given];
    const lists = await Promise.allSettled(own.map((id) => source.models(id))); // a daemon that does not run has no models
    const bare = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
    if (given !== undefined) return bare;
    return [...bare, ...(await fullNames(source)).filter((name) => !own.some((id) => name.startsWith(`${id}/`)))];
  });
}

/** provider/model and connection/model, without the aliases. */
async function fullNames(source: Source): Promise<readonly string[]> {
  return (await source.offered()).flatMap(({ id, adapter }) => (id.startsWith(`${adapter}/`) ? [id] : []));
}

/** Asks the running server, or, when none runs, a core of this process. Rejects when that takes too long. */
async function asked<T>(names: Names, question: (source: Source) => Promise<T>): Promise<T> {
  const signal = timeLimit(PATIENCE_MS);
  const api = await serverOf(names, signal);
  if (api === undefined) return askedHere(names, question, signal);
  return question({
    connections: () => api.connections(),
    models: async (id) => (await api.models(id)).models,
    offered: async () => (await api.modelNames()).models,
  });
}

async function askedHere<T>(names: Names, question: (source: Source) => Promise<T>, signal: AbortSignal): Promise<T> {
  const [{ createConfiguredCore }, { readConfig }] = await Promise.all([import('../compose.ts'), import('../serve/place.ts')]);
  const core = await createConfiguredCore(readConfig({ workspace: workspaceOf(names) }, names.env), names.env);
  try {
    return await question({
      connections: async () => core.connections.list(),
      models: async (id) => (await core.models(id, { signal })).models,
      offered: () => core.router.offered(),
    });
  } finally {
    await core.close();
  }
}
