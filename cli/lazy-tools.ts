// Runs tools for a server, and loads what does so with the first use: without a server of tools nothing is loaded.
//
// nothing-configured: without mcp.json there is nothing to find fault with, and without `.servers.json` nothing that an earlier process has left.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, isLoopbackHost, type ProcessConfig, type ToolHost, type ToolServers } from '../core/index.ts';

/** What is known of the server. */
export interface LazyToolsOptions {
  readonly config: Pick<ProcessConfig, 'workspace' | 'host' | 'port' | 'ollamaPort'>;
  readonly env: Environment;
  /** Variables with keys of providers. */
  readonly providerVariables: ReadonlySet<string>;
}

/** A host that loads itself. */
export function lazyTools(options: LazyToolsOptions): ToolHost {
  const { workspace } = options.config;
  let known = (_url: URL): boolean => false;
  let loading: Promise<ToolHost> | undefined;
  const listeners: Parameters<NonNullable<ToolHost['onServer']>>[0][] = [];
  const open = async (): Promise<ToolHost> => {
    const { createToolHost } = await import('../adapters/tools/index.ts');
    const { env, providerVariables, config } = options;
    const host = createToolHost({ workspace, env, providerVariables, isOwn: (url) => leadsTo(url, config) || known(url) });
    for (const listener of listeners) host.onServer?.(listener);
    return host;
  };
  const load = (): Promise<ToolHost> => {
    loading ??= open();
    return loading;
  };
  const has = (file: string): boolean => existsSync(join(workspace, file));
  return {
    servers: lazyServers(load, () => has('mcp.json') || has('mcp-pins.json')),
    tidy() {
      if (has('.servers.json')) void load().then((host) => host.tidy?.());
    },
    know(isOwn) {
      known = isOwn;
    },
    onServer: (listener) => void listeners.push(listener),
    catalogue: async (servers) => (await load()).catalogue(servers),
    call: async (call, signal) => (await load()).call(call, signal),
    halt: async () => (await loading)?.halt(),
    close: async () => (await loading)?.close(),
  };
}

function lazyServers(load: () => Promise<ToolHost>, isConfigured: () => boolean): ToolServers {
  const servers = async (): Promise<ToolServers> => (await load()).servers as ToolServers;
  return {
    findings: async () => (isConfigured() ? (await servers()).findings() : []),
    list: async () => (isConfigured() ? (await servers()).list() : []),
    get: async (name) => (await servers()).get(name),
    put: async (name, body) => (await servers()).put(name, body),
    remove: async (name) => (await servers()).remove(name),
    test: async (name, body, signal) => (await servers()).test(name, body, signal),
    approve: async (name, body, by) => (await servers()).approve(name, body, by),
    beginSignIn: async (name, body, signal) => (await servers()).beginSignIn(name, body, signal),
    finishSignIn: async (name, body) => (await servers()).finishSignIn(name, body),
    signOut: async (name) => (await servers()).signOut(name),
    setSecret: async (server, field, body) => (await servers()).setSecret(server, field, body),
  };
}

/** True for an address where this server listens, or is about to. With port 0, and behind a proxy, only the core knows it. */
function leadsTo(url: URL, { host, port, ollamaPort }: LazyToolsOptions['config']): boolean {
  const own = [port, ollamaPort].flatMap((each) => (each === undefined ? [] : [String(each)]));
  return own.includes(url.port) && (url.hostname === host || isLoopbackHost(url.hostname));
}
