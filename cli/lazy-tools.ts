// Runs tools for a server, and loads what does so with the first use: without a server of tools nothing is loaded.
//
// nothing-configured: without mcp.json and pins there is nothing to find fault with, and without `.servers.json` nothing that an earlier process has left.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Environment,
  type Finding,
  invalidRequest,
  isLoopbackHost,
  type ProcessConfig,
  type SettingCodec,
  type SettingStore,
  type SkillHost,
  type ToolHost,
  type ToolServers,
} from '../core/index.ts';

/** What is known of the server. */
export interface LazyToolsOptions {
  readonly config: Pick<ProcessConfig, 'workspace' | 'host' | 'port' | 'ollamaPort' | 'store'>;
  readonly env: Environment;
  /** Variables with keys of providers. */
  readonly providerVariables: ReadonlySet<string>;
}

/** Whether there is anything. */
const IS_THERE: SettingCodec<boolean> = { parse: (text) => text !== undefined, format: () => undefined };
const FILES = ['mcp.json', 'mcp-pins.json'];

/** A host that loads itself. */
export function lazyTools(options: LazyToolsOptions): ToolHost {
  const { workspace } = options.config;
  let known = (_url: URL): boolean => false;
  let isSecret = (_variable: string): boolean => false;
  let loading: Promise<ToolHost> | undefined;
  let kept: SettingStore | undefined;
  let kind = 'files';
  const listeners: Parameters<NonNullable<ToolHost['onServer']>>[0][] = [];
  const open = async (): Promise<ToolHost> => {
    const { createToolHost } = await import('../adapters/tools/index.ts');
    const { env, providerVariables, config } = options;
    const host = createToolHost({
      workspace,
      env,
      providerVariables,
      isSecret: (variable) => isSecret(variable),
      settings: kept,
      isOwn: (url) => leadsTo(url, config) || known(url),
    });
    for (const listener of listeners) host.onServer?.(listener);
    return host;
  };
  const load = (): Promise<ToolHost> => {
    loading ??= open();
    return loading;
  };
  const has = (file: string): boolean => existsSync(join(workspace, file));
  /** A database keeps the workspace, and no server runs, so that nothing of it is seen but what the folder has. */
  const isElsewhere = (): boolean => kind === 'files' && options.config.store !== undefined;
  const isConfigured = async (): Promise<boolean> => {
    if (isElsewhere()) return false;
    if (kept === undefined) return FILES.some(has);
    const states = await Promise.all([kept.check('mcp', IS_THERE), kept.check('mcp-pins', IS_THERE)]);
    return states.some(({ good, fault }) => good === true || fault !== undefined);
  };
  /** Of a workspace in a database. */
  const unread = (): readonly Finding[] => (kind === 'files' && !isElsewhere() ? [] : FILES.filter(has).map(unreadFile));
  return {
    servers: lazyServers(load, isConfigured, unread),
    skills: lazySkills(load, { has, namesIn: (folder) => readdirSync(join(workspace, folder)), isConfigured }),
    keepIn(settings, ofKind) {
      kept = settings;
      kind = ofKind;
    },
    tidy() {
      if (has('.servers.json')) void load().then((host) => host.tidy?.());
    },
    know(...said) {
      [known, isSecret] = said;
    },
    onServer: (listener) => void listeners.push(listener),
    catalogue: async (servers) => (await load()).catalogue(servers),
    call: async (call, signal) => (await load()).call(call, signal),
    halt: async () => (await loading)?.halt(),
    close: async () => (await loading)?.close(),
  };
}

function lazyServers(load: () => Promise<ToolHost>, isConfigured: () => Promise<boolean>, unread: () => readonly Finding[]): ToolServers {
  const servers = async (): Promise<ToolServers> => (await load()).servers as ToolServers;
  return {
    findings: async () => [...unread(), ...((await isConfigured()) ? await (await servers()).findings() : [])],
    list: async () => ((await isConfigured()) ? (await servers()).list() : []),
    get: async (name) => (await servers()).get(name),
    put: async (name, body) => (await servers()).put(name, body),
    remove: async (name) => (await servers()).remove(name),
    test: async (name, body, signal) => (await servers()).test(name, body, signal),
    call: async (name, body, signal) => (await servers()).call(name, body, signal),
    approve: async (name, body, by) => (await servers()).approve(name, body, by),
    beginSignIn: async (name, body, signal) => (await servers()).beginSignIn(name, body, signal),
    finishSignIn: async (name, body) => (await servers()).finishSignIn(name, body),
    async answerSignIn(query, redirectURI) {
      if (!(await isConfigured())) throw invalidRequest('query', 'is no answer to a sign-in that has begun; begin it again');
      return (await servers()).answerSignIn(query, redirectURI);
    },
    signOut: async (name) => (await servers()).signOut(name),
    setSecret: async (server, field, body) => (await servers()).setSecret(server, field, body),
  };
}

/** What tells whether there may be skills. */
interface SkillPlaces {
  /** In the folder of the workspace. */
  has(file: string): boolean;
  namesIn(folder: string): readonly string[];
  /** Something may be approved. */
  isConfigured(): Promise<boolean>;
}

function lazySkills(load: () => Promise<ToolHost>, { has, namesIn, isConfigured }: SkillPlaces): SkillHost {
  const folderOf = (owner: string): string => (owner === '_' ? 'skills' : join('blocks', owner, 'skills'));
  const hasOwn = (): boolean => has('blocks') && namesIn('blocks').some((name) => has(folderOf(name)));
  const skills = async (): Promise<SkillHost> => (await load()).skills as SkillHost;
  return {
    offered: async (owners, names) => (await skills()).offered(owners, names),
    read: async (owners, name) => (await skills()).read(owners, name),
    list: async (owners) => (owners.some((owner) => has(folderOf(owner))) ? (await skills()).list(owners) : []),
    get: async (owner, name) => (await skills()).get(owner, name),
    approve: async (owner, name, body, by) => (await skills()).approve(owner, name, body, by),
    forget: async (owner) => ((await isConfigured()) ? (await skills()).forget(owner) : undefined),
    rename: async (from, to) => ((await isConfigured()) ? (await skills()).rename(from, to) : undefined),
    findings: async ({ blocks }) => (has('skills') || (blocks && hasOwn()) ? (await skills()).findings({ blocks }) : []),
  };
}

function unreadFile(place: string): Finding {
  const problem = 'is not read: the servers of tools of this workspace, and what of them is approved, are in its database';
  const missing =
    place === 'mcp.json' ? 'Add what is missing with `blockhouse tools import <the file>`' : 'Approve what is missing with `blockhouse tools approve <server>`';
  return { severity: 'warning', place, problem, fix: `${missing}, and remove ${place} from the folder.` };
}

/** True for an address where this server listens, or is about to. With port 0, and behind a proxy, only the core knows it. */
function leadsTo(url: URL, { host, port, ollamaPort }: LazyToolsOptions['config']): boolean {
  const own = [port, ollamaPort].flatMap((each) => (each === undefined ? [] : [String(each)]));
  return own.includes(url.port) && (url.hostname === host || isLoopbackHost(url.hostname));
}
