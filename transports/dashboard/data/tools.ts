// The servers of tools: reading, changing, and what the form of one is made of.
import type { SkillList, SkillView, ToolServerChanged, ToolServerList, ToolServerView, ToolSignInBegun, ToolView } from '../../../core/types.ts';
import { isObject, parsedJson } from './config.ts';
import { call, get, post } from './http.ts';

const pathOf = (name: string): string => `/api/tools/${encodeURIComponent(name)}`;

export async function readToolServers(): Promise<readonly ToolServerView[]> {
  return (await get<ToolServerList>('/api/tools')).servers;
}

/** With the definitions of its tools. */
export async function readToolServer(name: string): Promise<ToolServerView> {
  const { server } = await get<Pick<ToolServerChanged, 'server'>>(pathOf(name));
  return server;
}

/** Each of these rejects with an ApiError. */
export async function putToolServer(name: string, server: object, settings?: object): Promise<void> {
  await call('PUT', pathOf(name), { body: { server, ...(settings !== undefined && { settings }) } });
}

export async function removeToolServer(name: string): Promise<void> {
  await call('DELETE', pathOf(name));
}

/** Starts the server as it was shown, and asks what it has. */
export async function testToolServer({ name, definition }: ToolServerView): Promise<void> {
  await post(`${pathOf(name)}/test`, { definition });
}

/** Approves what was shown: the command, and these tools. */
export async function approveToolServer({ name, definition }: ToolServerView, tools: readonly ToolView[]): Promise<void> {
  await post(`${pathOf(name)}/approve`, { definition, tools: Object.fromEntries(tools.map((tool) => [tool.name, tool.hash])) });
}

/** A page draws so many characters at once; a server may list two million. */
const MOST_OPEN = 200_000;

/** The tools whose definitions are open at first: what is to be approved is read before, and what has changed comes first. */
export function openDefinitions(tools: readonly Pick<ToolView, 'name' | 'state' | 'now'>[]): ReadonlySet<string> {
  let room = MOST_OPEN;
  const waiting = (['changed', 'new'] as const).flatMap((state) => tools.filter((tool) => tool.state === state));
  const open = waiting.filter(({ now }) => {
    const { length } = JSON.stringify(now ?? null);
    const fits = length <= room;
    if (fits) room -= length;
    return fits;
  });
  return new Set(open.map(({ name }) => name));
}

/** Stores a secret, which no answer ever shows; null takes it away. `secret` is `github.token`. */
export async function setToolSecret(secret: string, value: string | null): Promise<void> {
  const [server = '', field = ''] = secret.split('.');
  await call('PUT', `${pathOf(server)}/secrets/${encodeURIComponent(field)}`, { body: { value } });
}

const isLocal = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'http:' && /^(?:127\.0\.0\.1|localhost|\[::1])$/.test(hostname);

/** A browser comes back from a sign-in to its own machine, so the server must be there. */
export const canSignIn = (at: Pick<URL, 'protocol' | 'hostname'> = location): boolean => isLocal(at);

/** True where a person must sign in. `failure` is why the last look has failed. */
export function waitsForSignIn({ signIn, problem = '' }: Pick<ToolServerView, 'signIn' | 'problem'>, failure: unknown): boolean {
  if (signIn?.state === 'signed-in') return false;
  return /`blockhouse tools login /.test(`${problem}${failure instanceof Error ? failure.message : ''}`);
}

/** True for an address that may be opened: a server chooses it. */
export function mayOpen(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === 'https:' || isLocal(url);
}

/** Begins to sign in. Undefined where Blockhouse has done so for itself, else what a person must open. */
export async function beginSignIn(name: string): Promise<string | undefined> {
  const { url } = await post<ToolSignInBegun>(`${pathOf(name)}/login`, { redirectURI: `http://127.0.0.1:${location.port || 80}/callback` });
  return url ?? undefined;
}

export async function signOut(name: string): Promise<void> {
  await call('DELETE', `${pathOf(name)}/login`);
}

const skillPath = ({ owner, name }: SkillView): string => `/api/skills/${owner}/${encodeURIComponent(name)}`;

export async function readSkills(): Promise<readonly SkillView[]> {
  return (await get<SkillList>('/api/skills')).skills;
}

/** With its texts. */
export async function readSkill(listed: SkillView): Promise<SkillView> {
  return (await get<{ readonly skill: SkillView }>(skillPath(listed))).skill;
}

/** Approves what was shown. */
export async function approveSkill(shown: SkillView): Promise<void> {
  await post(`${skillPath(shown)}/approve`, { hash: shown.hash });
}

export const MARKS = ['readOnly', 'idempotent', 'closedWorld'] as const;
export type MarkName = (typeof MARKS)[number];

/** Whether the server itself says so of a tool, without which a mark holds nothing. */
export function isSaid({ annotations }: ToolView, mark: MarkName): boolean {
  return mark === 'closedWorld' ? annotations['openWorldHint'] === false : annotations[`${mark}Hint`] === true;
}

/** The settings of a server with a mark of one tool set or taken away. A pattern that has marked it gives way to the names of the others. */
export function withMark({ settings, tools }: Pick<ToolServerView, 'settings' | 'tools'>, tool: string, mark: MarkName, isSet: boolean): object {
  const marks = isObject(settings['marks']) ? settings['marks'] : {};
  const list = (Array.isArray(marks[mark]) ? marks[mark] : []).map(String);
  const fits = (pattern: string, name: string): boolean =>
    new RegExp(`^${pattern.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`, 'su').test(name);
  const kept = list.filter((pattern) => !fits(pattern, tool));
  const others = tools
    .map(({ name }) => name)
    .filter((name) => name !== tool && list.some((pattern) => fits(pattern, name)) && !kept.some((pattern) => fits(pattern, name)));
  return { ...settings, marks: { ...marks, [mark]: isSet ? [...list, tool] : [...kept, ...others] } };
}

/** A server as it is typed. */
export interface TypedServer {
  readonly name: string;
  /** A command with its arguments, an address, or JSON. */
  readonly what: string;
  /** Variables as `NAME=value` or headers as `Name: value`, one a line. */
  readonly more: string;
  /** Of a client with which Blockhouse signs in for itself; empty for none. */
  readonly clientId: string;
  readonly issuer: string;
}

/** True for an address. */
export const isAddress = (what: string): boolean => /^\s*https?:\/\//i.test(what);

/** The settings with what was typed of the sign-in; undefined where nothing of it changes. */
export function signInOf({ what, clientId, issuer }: TypedServer, settings: Readonly<Record<string, unknown>> = {}): object | undefined {
  const { oauth, ...others } = settings;
  if (!isAddress(what) || (clientId === '' && issuer === '')) return oauth === undefined ? undefined : others;
  const before = isObject(oauth) ? oauth : { grant: 'client_credentials' };
  return { ...others, oauth: { ...before, clientId: clientId || undefined, issuer: issuer || undefined } };
}

/** The name and the entry; undefined if it can't be made out. JSON may be what other programs keep, with one server in it. */
export function serverOf({
  name,
  what,
  more,
}: Pick<TypedServer, 'name' | 'what' | 'more'>): { readonly name: string; readonly server: Readonly<Record<string, unknown>> } | undefined {
  const text = what.trim();
  if (text.startsWith('{')) return fromJson(name, text);
  const pairs = more.split('\n').flatMap((line): [string, string][] => {
    const [, key, value] = /^\s*([\w-]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value.trim()]];
  });
  const record = pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  if (name === '' || text === '') return undefined;
  if (isAddress(text)) return { name, server: { type: 'http', url: text, ...(record && { headers: record }) } };
  const [command = '', ...args] = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
  return { name, server: { command, args, ...(record && { env: record }) } };
}

function fromJson(name: string, text: string): ReturnType<typeof serverOf> {
  const result = parsedJson(text);
  let value = typeof result === 'string' ? undefined : result.value;
  for (const outer of ['mcpServers', 'servers']) if (isObject(value) && isObject(value[outer])) value = value[outer];
  if (!isObject(value)) return undefined;
  if ('command' in value || 'url' in value) return name === '' ? undefined : { name, server: value };
  const [first, ...others] = Object.entries(value);
  return first === undefined || others.length > 0 || !isObject(first[1]) ? undefined : { name: name === '' ? first[0] : name, server: first[1] };
}

/** What is started, or where it is, on one line. */
export function commandOf({ server }: Pick<ToolServerView, 'server'>): string {
  const { command, args, url } = server;
  if (typeof url === 'string') return url;
  return [command, ...(Array.isArray(args) ? args : [])].map((word) => (/[\s"']/.test(String(word)) ? JSON.stringify(word) : String(word))).join(' ');
}
