// What is known of all servers of tools: mcp.json, the pins and the secrets, put together.
//
// approved-only: a server is called only as it was approved: its definition, and the tool by its pin. Anything else is TOOL_NOT_BEGUN.
// late-secrets: references are followed when a server is about to be started; nothing keeps their values.
import {
  BlockhouseError,
  CredentialStore,
  createBus,
  literalSecrets,
  marksOf,
  namesSecret,
  openSettings,
  resolved,
  secretsNamedIn,
  type ServerSettings,
  type Sources,
  type ToolDefinition,
  variablesNamedIn,
  withPasswords,
} from '../../core/index.ts';
import type { ServerEntry } from './entry.ts';
import type { BookOptions } from './host-options.ts';
import { isMasked } from './masked-result.ts';
import { McpJson } from './mcp-json.ts';
import { neededSecret, type OAuthSettings, recordOf, signInFault, type SignInPlace, type SignInView, viewOf } from './oauth/records.ts';
import { Pins, type ServerPins, stateOf } from './pins.ts';
import type { CallableServer, ListedTool, ServerBook, ServerStart } from './server.ts';
import { workspaceFault } from './workspace-guard.ts';

/** An era is looked for again after so long. */
const ERA_DAYS = 30;
const DAY_MS = 86_400_000;
/** A shorter text is no secret that could be told from words. */
const SHORTEST_SECRET = 4;

/** A server as it would be started, or why it can't be. */
export type Resolved = { readonly start: ServerStart; readonly secrets: readonly string[]; readonly fault?: undefined } | { readonly fault: string };

/** What is known of all servers. */
export class Book implements ServerBook {
  readonly mcp: McpJson;
  readonly pins: Pins;
  readonly credentials: CredentialStore;
  readonly #options: BookOptions;
  readonly #clock: () => number;

  /** `onGone` gets the names of servers whose processes must end: they are not there any more, or another definition is. */
  constructor(options: BookOptions, onGone: (server: string) => void) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.credentials = new CredentialStore(options.workspace, createBus(), options.now);
    const settings = options.settings ?? openSettings(options.workspace, options.now);
    this.pins = new Pins(settings, this.#clock);
    this.mcp = new McpJson(settings, (before) => {
      const now = this.mcp.entries();
      for (const [name, { definition }] of before) if (now.get(name)?.definition !== definition) onGone(name);
    });
  }

  /** Looks at once at what is stored: a person or another server may have changed it a moment ago. Rejects with STORE_UNREACHABLE. */
  async look(): Promise<void> {
    await Promise.all([this.mcp.look(), this.pins.look()]);
  }

  async catalogue(servers: readonly string[]): Promise<Awaited<ReturnType<ServerBook['catalogue']>>> {
    const tools: ToolDefinition[] = [];
    const settings: [string, ServerSettings][] = [];
    const problems: { server: string; problem: string }[] = [];
    for (const server of new Set(servers)) {
      const entry = this.mcp.entries().get(server);
      const problem = entry === undefined ? missing(server, this.mcp.fault) : await this.problemOf(entry);
      if (problem !== undefined || entry === undefined) {
        problems.push({ server, problem: problem ?? '' });
        continue;
      }
      const known = this.pins.of(server).tools;
      for (const [tool, { pin, ...rest }] of known)
        if (pin !== undefined && stateOf({ pin, ...rest }) === 'approved') tools.push(definitionOf(server, tool, pin.hash, pin.definition));
      settings.push([server, settingsOf(entry)]);
      problems.push(...unofferedOf(server, known).map((text) => ({ server, problem: text })));
    }
    return { tools, settings: Object.fromEntries(settings), problems };
  }

  async callable(server: string, tool: string, pin: string): Promise<CallableServer> {
    const entry = this.mcp.entries().get(server);
    if (entry === undefined) throw notBegun(`There is no server of tools ${server} in mcp.json.`);
    const problem = this.#approval(entry);
    if (problem !== undefined) throw notBegun(`${server} can't be called: ${problem}.`);
    const known = this.pins.of(server).tools.get(tool);
    if (known?.pin?.hash !== pin || stateOf(known) !== 'approved')
      throw notBegun(`${server}/${tool} is not the tool that was approved. Look at it: \`blockhouse tools diff ${server}\`.`);
    const one = await this.resolve(entry);
    if (one.fault !== undefined) throw notBegun(`${server} can't be called: ${one.fault}.`);
    const { readOnly } = marksOf(definitionOf(server, tool, pin, known.pin.definition), settingsOf(entry));
    return { ...this.callableOf(entry, one), isReadOnly: readOnly };
  }

  /** A server that may be started, with what it gets. */
  callableOf({ name, definition, settings, template }: ServerEntry, { start, secrets }: Exclude<Resolved, { readonly fault: string }>): CallableServer {
    const { era, eraSeenAt } = this.pins.of(name);
    const isFresh = eraSeenAt !== undefined && this.#clock() - Date.parse(eraSeenAt) < ERA_DAYS * DAY_MS;
    return { name, definition, start, settings, era: isFresh ? era : undefined, secrets, ownSecrets: this.#ownSecrets(template, start) };
  }

  /** Those that stand in its entry as `${auth:…}`, and the values of its variables that are secret: HOME is not, and results may show it. */
  #ownSecrets({ command = '', args = [], env = {}, url = '', headers = {} }: ServerEntry['template'], start: ServerStart): readonly string[] {
    const texts = [command, ...args, ...Object.values(env), url, ...Object.values(headers)];
    const stored = secretsNamedIn(texts).flatMap(({ server, field }) => this.secret(server, field) ?? []);
    const ofVariables = [...variablesNamedIn(texts)].filter(namesSecret).flatMap((name) => this.#options.env[name] ?? []);
    const placed = literalSecrets(partsOf(start)).map(({ value }) => value); // in the entry itself, none stands in clear
    return [...new Set([...stored, ...ofVariables, ...placed].flatMap(withPasswords))].filter(isMasked);
  }

  /** Why nothing of a server is offered: its entry, its approval, or what it refers to; undefined if it can be called. Ends without a full stop. */
  async problemOf(entry: ServerEntry): Promise<string | undefined> {
    return this.#approval(entry) ?? (await this.resolve(entry)).fault;
  }

  /** held, changed, or undefined for a definition that is approved. */
  approvalOf({ name, definition }: ServerEntry): 'held' | 'changed' | undefined {
    const approved = this.pins.of(name).definition;
    if (approved === undefined) return 'held';
    return approved === definition ? undefined : 'changed';
  }

  #approval(entry: ServerEntry): string | undefined {
    if (entry.fault !== undefined) return entry.fault;
    const state = this.approvalOf(entry);
    return state && approvalText(state, entry.name);
  }

  /** Follows the references of an entry (late-secrets). What nobody has signed in to can't be called, either. */
  async resolve(entry: ServerEntry): Promise<Resolved> {
    const resolved = await this.resolveStart(entry);
    if (resolved.fault !== undefined || resolved.start.kind !== 'http') return resolved;
    const { url, oauth } = resolved.start;
    const fault = signInFault(entry.name, recordOf(this.credentials, { name: entry.name, url, oauth }), oauth, this.#clock());
    return fault === undefined ? resolved : { fault };
  }

  /** How a server is signed in to, as people see it; undefined where nothing is known of that. */
  async signInOf(entry: ServerEntry): Promise<SignInView | undefined> {
    const place = await this.signInPlace(entry);
    if (place === undefined) return undefined;
    try {
      return viewOf(recordOf(this.credentials, place), place.oauth, this.#clock());
    } catch (error) {
      if (error instanceof BlockhouseError) return undefined; // auth.json can't be read, which the state of the server says
      throw error;
    }
  }

  /** A server as a sign-in knows it; undefined for one that can't be signed in to. */
  async signInPlace(entry: ServerEntry): Promise<SignInPlace | undefined> {
    const resolved = await this.resolveStart(entry);
    if (resolved.fault !== undefined || resolved.start.kind !== 'http') return undefined;
    const { url, oauth, headers } = resolved.start;
    if (Object.keys(headers).some((name) => /^authorization$/i.test(name))) return undefined;
    return { name: entry.name, url, oauth, secrets: this.#ownSecrets(entry.template, resolved.start) };
  }

  /** The same, whether somebody has signed in or not. */
  async resolveStart(entry: ServerEntry): Promise<Resolved> {
    const { fault, template, name } = entry;
    if (fault !== undefined) return { fault };
    const values: string[] = [];
    try {
      const follow = (text: string): string => resolved(text, this.#sources(), values);
      const start = this.#startOf(template, follow);
      const needed = start.kind === 'http' ? neededSecret(template.oauth) : undefined;
      if (needed !== undefined) follow(`\${auth:${name}.${needed}}`);
      const wrong = await this.#startFault(name, start);
      if (wrong !== undefined) return { fault: wrong };
      const secrets = new Set([...values, ...this.credentials.secretTexts()].flatMap(withPasswords).filter((text) => text.length >= SHORTEST_SECRET));
      return { start, secrets: [...secrets] };
    } catch (error) {
      return { fault: (error as Error).message.replace(/\.$/, '') };
    }
  }

  #startOf({ kind, command = '', args = [], env = {}, url = '', headers = {}, oauth }: ServerEntry['template'], follow: (text: string) => string): ServerStart {
    const all = (texts: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, follow(text)]));
    const atHome = (text: string): string => text.replace(/^~(?=\/|$)/, this.#options.env['HOME'] ?? '~');
    if (kind === 'http') {
      const keyFile = oauth?.['keyFile'] === undefined ? {} : { keyFile: atHome(String(oauth['keyFile'])) };
      return { kind, url: follow(url), headers: all(headers), ...(oauth && { oauth: { grant: 'authorization_code', ...oauth, ...keyFile } as OAuthSettings }) };
    }
    const path = (text: string): string => follow(atHome(text));
    return { kind, command: path(command), args: args.map(path), env: all(env) };
  }

  async #startFault(name: string, start: ServerStart): Promise<string | undefined> {
    if (start.kind === 'http') {
      const bad = Object.entries(start.headers).find(([, value]) => /[^\t\x20-\x7e]/.test(value));
      if (bad !== undefined) return `headers.${bad[0]} has characters that a header can't have`;
      return this.#options.isOwn?.(new URL(start.url)) === true ? 'url leads back to this server of Blockhouse, so calls would never end' : undefined;
    }
    const env = Object.entries(start.env).filter(([variable]) => variable !== 'HOME' && variable !== 'PATH');
    return workspaceFault(this.#options.workspace, name, [
      ...start.args.map((arg, index) => [`args[${index}]`, arg] as const),
      ...env.map(([variable, value]) => [`env.${variable}`, value] as const),
    ]);
  }

  /** The value of a secret; undefined if there is none, and while auth.json can't be read, which the state of its server says. */
  secret(server: string, field: string): string | undefined {
    try {
      return ownOf(this.credentials.serverSecrets(server), field);
    } catch (error) {
      if (error instanceof BlockhouseError) return undefined;
      throw error;
    }
  }

  #sources(): Sources {
    const { env, providerVariables, isSecret } = this.#options;
    return {
      secret: (server, field) => ownOf(this.credentials.serverSecrets(server), field),
      variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
      isWithheld: (name) => /^BLOCKHOUSE_/i.test(name) || providerVariables?.has(name) === true || isSecret?.(name) === true,
    };
  }
}

function partsOf(start: ServerStart): Parameters<typeof literalSecrets>[0] {
  const none = { args: [], env: {}, headers: {}, url: undefined };
  return start.kind === 'http' ? { ...none, url: start.url, headers: start.headers } : { ...none, args: start.args, env: start.env };
}

function ownOf(secrets: Readonly<Record<string, string>>, field: string): string | undefined {
  return Object.hasOwn(secrets, field) ? secrets[field] : undefined;
}

/** What a definition that is not approved needs. */
export function approvalText(state: 'held' | 'changed', server: string): string {
  const what = state === 'held' ? 'it is not approved' : 'its entry in mcp.json is not the approved one any more';
  return `${what}; look at it with \`blockhouse tools test ${server}\`, then \`blockhouse tools approve ${server}\``;
}

/** Sentences about the tools of a server that are not offered, for `why` and the doctor. */
export function unofferedOf(server: string, known: ServerPins['tools']): string[] {
  const states = [...known.values()].map(stateOf);
  const count = (state: string): number => states.filter((one) => one === state).length;
  const said = (number: number, what: string, command: string): string[] =>
    number === 0
      ? []
      : [
          `${number} ${number === 1 ? `tool of ${server} ${what.replace('are', 'is')}` : `tools of ${server} ${what}`} (\`blockhouse tools ${command} ${server}\`)`,
        ];
  return [
    ...said(count('changed'), 'changed and are not offered', 'diff'),
    ...said(count('new'), 'are new and not offered', 'diff'),
    ...said(count('unusable'), 'can not be used', 'ls'),
    ...said(count('gone'), 'are not listed by it any more', 'test'),
  ];
}

function missing(server: string, fault: string | undefined): string {
  return fault === undefined ? `there is no server ${server} in mcp.json` : `mcp.json can't be used: ${fault}`;
}

/** A tool as it was approved. */
export function definitionOf(server: string, tool: string, pin: string, { title, description, inputSchema, annotations }: ListedTool): ToolDefinition {
  return { server, tool, pin, title, description, inputSchema, annotations };
}

/** What the core knows of the settings of a server. */
export function settingsOf({ rawSettings, settings, template }: ServerEntry): ServerSettings {
  const { marks, keyArguments, probe, usdPerCall } = (rawSettings ?? {}) as ServerSettings;
  const { callTimeoutMs, maxResultBytes } = settings;
  return { marks, keyArguments, probe, usdPerCall, isRemote: template.kind === 'http', callTimeoutMs, maxResultBytes };
}

function notBegun(message: string): BlockhouseError {
  return new BlockhouseError('TOOL_NOT_BEGUN', message);
}
