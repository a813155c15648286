// A host of tools with one server at an address that wants a sign-in, and an authorization server of our own.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createToolHost } from '../../../adapters/tools/index.ts';
import type { ToolHost, ToolOutcome, ToolServers } from '../../../core/index.ts';
import { testFolder } from '../test-folder.ts';
import { authorizationServer, type AuthorizationServer, guardedTools, type GuardedOptions, ROBOT_SECRET, type StandInOptions } from './authorization-server.ts';
import { textOf } from './sessions-rig.ts';

export interface SignedOptions extends StandInOptions, GuardedOptions {
  /** What stands in mcp.json besides; undefined for nothing. */
  readonly oauth?: ((issuer: string) => object | undefined) | undefined;
  readonly workspace?: string;
}

export interface SignedHost {
  readonly workspace: string;
  readonly stand: AuthorizationServer;
  readonly tools: Awaited<ReturnType<typeof guardedTools>>;
  readonly host: ToolHost;
  readonly servers: ToolServers;
  /** Another process of the same workspace. */
  another(): ToolHost;
  write(oauth: object | undefined, url?: string): void;
  /** Looks at the server, and approves it. */
  approve(): Promise<void>;
  /** The text of a call of `echo`. */
  call(text: string, host?: ToolHost, tool?: string): Promise<string>;
  outcome(text: string, tool?: string): Promise<ToolOutcome>;
  auth(): { readonly oauth?: Record<string, Record<string, Record<string, unknown>>> };
  /** Makes the token that is stored one that has ended. */
  expire(): void;
  now: number;
}

export const ROBOT = (issuer: string): object => ({ grant: 'client_credentials', clientId: 'robot', issuer });

let calls = 0;

export async function signedHost(t: Test, { oauth = ROBOT, ...options }: SignedOptions = {}): Promise<SignedHost> {
  const stand = await authorizationServer(t, options);
  const tools = await guardedTools(t, stand, options);
  const workspace = options.workspace ?? testFolder(t, {});
  const clock = { now: 0 };
  let tick = 0;
  const make = (): ToolHost => {
    // A look at each use, so that a change by hand is seen at once.
    const host = createToolHost({ workspace, env: { HOME: '/home/ada' }, clock: () => Date.now() + clock.now, now: () => (tick += 1000), backOffMs: 1 });
    t.teardown(() => host.close());
    return host;
  };
  const write = (settings: object | undefined, url = tools.url): void =>
    writeFileSync(
      join(workspace, 'mcp.json'),
      JSON.stringify({ mcpServers: { crm: { type: 'http', url } }, ...(settings !== undefined && { blockhouse: { crm: { oauth: settings } } }) }),
    );
  write(oauth(stand.issuer));
  const host = make();
  const servers = host.servers as ToolServers;
  const outcome = async (text: string, tool = 'echo', on = host): Promise<ToolOutcome> => {
    const { tools: known } = await on.catalogue(['crm']);
    calls += 1;
    const { pin = '' } = known.find((one) => one.tool === 'echo') ?? {};
    const call = { block: 'ada', server: 'crm', tool, arguments: { text }, pin, timeoutMs: 20_000, maxBytes: 1_000_000, callId: `ada/m/${calls}.1` };
    const outcome = await on.call(call, new AbortController().signal);
    if (outcome.kind !== 'result') throw new Error('The tool asks a person.');
    return outcome;
  };
  const file = join(workspace, 'auth.json');
  const auth = (): ReturnType<SignedHost['auth']> => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
  return {
    workspace,
    stand,
    tools,
    host,
    servers,
    another: make,
    write,
    approve: async () => {
      const { definition } = await servers.get('crm');
      const seen = await servers.test('crm', { definition }, new AbortController().signal);
      await servers.approve('crm', { definition, tools: Object.fromEntries(seen.tools.map(({ name, hash }) => [name, hash])) }, 'cli');
    },
    call: async (text, on, tool) => textOf(await outcome(text, tool, on)),
    outcome,
    auth,
    expire: () => {
      const all = auth();
      for (const record of Object.values(all.oauth?.['crm'] ?? {})) record['expiresAt'] = 1;
      for (const given of stand.tokens.values()) Object.assign(given, { endsAt: 0 });
      writeFileSync(file, JSON.stringify(all));
    },
    get now() {
      return clock.now;
    },
    set now(value: number) {
      clock.now = value;
    },
  };
}

/** A host whose program signs in for itself, approved. */
export async function robotHost(t: Test, options: SignedOptions = {}): Promise<SignedHost> {
  const signed = await signedHost(t, options);
  await signed.servers.setSecret('crm', 'client_secret', { value: ROBOT_SECRET });
  await signed.approve();
  return signed;
}
