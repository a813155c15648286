// An entry of mcp.json: what other programs write there, and our settings beside it, checked. Pure: no I/O.
//
// no-literal: a secret that stands in the entry in clear makes it unusable.
// fixed-origin: the origin of an address has no references, so that a variable can't lead a secret elsewhere.
import { isObject } from '../../core/base/json.ts';
import { urlOf } from '../../core/base/url.ts';
import {
  assertRoutable,
  compile,
  faultOf,
  isLoopbackHost,
  type JsonRecord,
  type LiteralSecret,
  literalSecrets,
  masked,
  type Parts,
  schemas,
  type Validator,
  withoutReferences,
} from '../../core/index.ts';
import type { ToolServerSettings } from '../../core/index.ts';
import { definitionHash, type StartTemplate } from './hashes.ts';
import { scopeOf } from './oauth/challenge.ts';
import { checkedIssuer } from './oauth/places.ts';
import { DOWNLOAD_MS, mayDownload } from './package-runners.ts';
import type { FullServerSettings } from './server.ts';

/** A name of a server: a part of file names, of `server/tool` and of `${auth:server.field}`. */
export const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** Names of our own servers. */
const RESERVED: ReadonlySet<string> = new Set(['block', 'blockhouse']);
const MAX_TEXTS = 256;
const MAX_TEXT = 8192;
const MAX_ALL = 65_536;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** What the client decides. */
const OWN_HEADERS = /^(?:host|connection|content-.*|transfer-encoding|te|upgrade|cookie|accept|accept-encoding|proxy-.*|mcp-.*|last-event-id)$/i;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** How others write that a server is at an address. */
const HTTP_TYPES: ReadonlySet<string> = new Set(['http', 'streamable-http', 'streamableHttp', 'streamable_http']);

const DEFAULTS: FullServerSettings = {
  share: 'workspace',
  startTimeoutMs: 20_000,
  callTimeoutMs: 60_000,
  maxCallMs: 600_000,
  idleStopMs: 300_000,
  concurrency: 4,
  maxResultBytes: 8_388_608,
  sandbox: undefined,
};

const checkSettings: Validator<ToolServerSettings> = compile(schemas.ToolServerSettings);

/** An entry as it stands, and what can be made of it. */
export interface ServerEntry {
  readonly name: string;
  readonly raw: unknown;
  readonly rawSettings: unknown;
  readonly settings: FullServerSettings;
  readonly newTools: 'hold' | 'offer';
  readonly template: StartTemplate;
  readonly definition: string;
  readonly secrets: readonly LiteralSecret[];
  /** Why it can't be used. */
  readonly fault: string | undefined;
}

/** Reads an entry; never throws. */
export function readEntry(name: string, raw: unknown, rawSettings: unknown): ServerEntry {
  const parts = partsOf(raw);
  const settings = isObject(rawSettings) ? rawSettings : {};
  const sandbox = typeof settings['sandbox'] === 'string' ? settings['sandbox'] : undefined;
  const oauth = isObject(settings['oauth']) ? settings['oauth'] : undefined;
  const template: StartTemplate =
    parts.url !== undefined && parts.command === undefined
      ? { kind: 'http', url: parts.url, headers: parts.headers, sandbox, oauth }
      : { kind: 'stdio', command: parts.command ?? '', args: parts.args, env: parts.env, sandbox, oauth };
  const secrets = literalSecrets(parts);
  let fault: string | undefined;
  try {
    assertName(name);
    assertForm(raw);
    assertSettings(rawSettings);
    assertTemplate(template);
    assertNoLiteral(name, secrets);
  } catch (error) {
    fault = faultOf(error);
  }
  const known = fault === undefined ? (rawSettings as ToolServerSettings | undefined) : undefined;
  const { newTools = 'hold', ...given } = known ?? {};
  return {
    name,
    raw,
    rawSettings,
    settings: { ...DEFAULTS, ...(mayDownload(parts.command ?? '') && { startTimeoutMs: DOWNLOAD_MS }), ...given, sandbox: given.sandbox },
    newTools,
    template,
    definition: definitionHash(template),
    secrets,
    fault,
  };
}

/** Throws an Error for a name that no server may have. */
export function assertName(name: string): void {
  if (RESERVED.has(name.toLowerCase())) throw new Error(`the name ${name} belongs to Blockhouse; give the server another one`);
  if (!SERVER_NAME.test(name)) throw new Error('its name must have 1 to 64 letters, digits, _ and -, and begin with a letter or digit; rename it in mcp.json');
}

interface AllParts extends Parts {
  readonly command: string | undefined;
}

function partsOf(raw: unknown): AllParts {
  const entry = isObject(raw) ? raw : {};
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const { args } = entry;
  return {
    command: text(entry['command']),
    args: Array.isArray(args) ? args.filter((arg): arg is string => typeof arg === 'string') : [],
    env: textsOf(entry['env']),
    headers: textsOf(entry['headers']),
    url: text(entry['url']),
  };
}

function textsOf(value: unknown): Record<string, string> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter((member): member is [string, string] => typeof member[1] === 'string')) : {};
}

function assertForm(raw: unknown): void {
  if (!isObject(raw)) throw new Error('the entry must be an object with command and args, or url');
  const { type, command, args, env, headers, url, disabled, cwd } = raw;
  const hasCommand = command !== undefined;
  if (hasCommand === (url !== undefined)) throw new Error(hasCommand ? 'it has both command and url; keep one' : 'it has neither command nor url');
  if (hasCommand && (typeof command !== 'string' || command.trim() === '')) throw new Error('command must be the name or path of a program');
  if (!hasCommand && typeof url !== 'string') throw new Error('url must be a text');
  if (type !== undefined && !(hasCommand ? type === 'stdio' : typeof type === 'string' && HTTP_TYPES.has(type)))
    throw new Error(
      hasCommand ? 'type must be stdio for a server with command' : 'type must be http for a server with url; the older transport sse is not spoken here',
    );
  if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === 'string'))) throw new Error('args must be a list of texts');
  for (const [name, value] of [['env', env] as const, ['headers', headers] as const]) {
    if (value !== undefined && !(isObject(value) && Object.values(value).every((text) => typeof text === 'string')))
      throw new Error(`${name} must be an object of texts`);
  }
  if (disabled === true) throw new Error('it is disabled; remove `disabled` from its entry');
  if (typeof cwd === 'string') throw new Error('cwd is not used here, as a server works in a folder of its own; write whole paths, and remove cwd');
}

function assertSettings(rawSettings: unknown): void {
  if (rawSettings === undefined) return;
  try {
    checkSettings(rawSettings);
  } catch (error) {
    throw new Error(`its settings can't be used: ${faultOf(error)}`);
  }
}

function assertTemplate({ kind, command = '', args = [], env = {}, url = '', headers = {}, sandbox, oauth }: StartTemplate): void {
  const texts = [command, ...args, ...Object.entries(env).flat(), ...Object.entries(headers).flat(), url];
  if (texts.some((text) => text.includes('\0'))) throw new Error('a text in it has a NUL character');
  if (args.length > MAX_TEXTS || Object.keys(env).length > MAX_TEXTS || Object.keys(headers).length > MAX_TEXTS)
    throw new Error(`it has more than ${MAX_TEXTS} args, env or headers`);
  if (texts.some(({ length }) => length > MAX_TEXT) || texts.reduce((sum, { length }) => sum + length, 0) > MAX_ALL)
    throw new Error(`a text in it is longer than ${MAX_TEXT} characters, or all are longer than ${MAX_ALL}`);
  if (kind === 'http') {
    assertAddress(url, headers, sandbox);
    assertSignIn(oauth, headers);
    return;
  }
  if (oauth !== undefined) throw new Error('oauth is for a server at an address');
  const wrong = Object.keys(env).find((name) => !ENV_NAME.test(name) || /^BLOCKHOUSE_/i.test(name));
  if (wrong !== undefined) throw new Error(`env.${wrong.slice(0, 64)} is no name that a variable of a server can have`);
  if (leadsBack(command, args)) throw new Error('it leads back to this server of Blockhouse, so calls would never end; name another one with --workspace');
}

function assertAddress(url: string, headers: Readonly<Record<string, string>>, sandbox: string | undefined): void {
  const [, origin = ''] = /^([^/]*\/\/[^/?#]*)/.exec(url) ?? [];
  if (origin.includes('$')) throw new Error('url must have its origin without references'); // fixed-origin
  const address = urlOf(withoutReferences(url));
  if (address === undefined || !/^https?:$/.test(address.protocol))
    throw new Error(`url must be an absolute https URL, such as https://crm.example/mcp, not ${quoted(url)}`);
  if (address.protocol === 'http:' && !isLoopbackHost(address.hostname)) throw new Error('url must begin with https://; http is for this machine alone');
  if (address.username !== '' || address.password !== '') throw new Error('url must have no user and no password; give them as a header');
  assertRoutable(address);
  if (sandbox !== undefined) throw new Error('sandbox is for servers with a command');
  const wrong = Object.keys(headers).find((name) => !HEADER_NAME.test(name) || OWN_HEADERS.test(name));
  if (wrong !== undefined) throw new Error(`headers.${wrong.slice(0, 64)} can't be set`);
  const line = Object.entries(headers).find(([, value]) => /[^\t\x20-\x7e]/.test(value));
  if (line !== undefined) throw new Error(`headers.${line[0]} has characters that a header can't have`);
}

/** Without what may be a secret in it. */
function quoted(url: string): string {
  return JSON.stringify(
    url
      .replace(/[?#].*/s, '')
      .replace(/^.*@/s, '…@')
      .slice(0, 80),
  );
}

/** A secret goes to nobody that the user has not named. */
function assertSignIn(oauth: Readonly<Record<string, unknown>> | undefined, headers: Readonly<Record<string, string>>): void {
  if (oauth === undefined) return;
  const { grant, clientId, issuer, scope, method, keyFile, keyId } = oauth;
  if (Object.keys(headers).some((name) => /^authorization$/i.test(name))) throw new Error('it has both oauth and a header Authorization; keep one');
  if (issuer !== undefined) {
    try {
      checkedIssuer(issuer);
    } catch {
      throw new Error('oauth.issuer must be an https URL without a query and a fragment');
    }
  }
  if (scope !== undefined && scopeOf(scope) === undefined) throw new Error('oauth.scope must be words with one space between them');
  const isSigned = method === 'private_key_jwt';
  if ((grant === 'client_credentials' || isSigned) && (clientId === undefined || issuer === undefined)) {
    const what = isSigned ? 'the method private_key_jwt' : 'the grant client_credentials';
    throw new Error(`oauth with ${what} needs clientId and issuer, so that ${isSigned ? 'it signs for' : 'the secret goes to'} nobody else`);
  }
  if (method === 'client_secret' && grant !== 'client_credentials')
    throw new Error('oauth.method client_secret is for the grant client_credentials; a client with which you sign in uses its secret if it has one');
  if (!isSigned && (keyFile !== undefined || keyId !== undefined)) throw new Error('oauth.keyFile and keyId are for the method private_key_jwt');
  if (keyFile !== undefined && !(typeof keyFile === 'string' && /^(?:~\/|\/|[A-Za-z]:[\\/])[^\p{Cc}]+$/u.test(keyFile)))
    throw new Error('oauth.keyFile must be a whole path, or one that begins with ~/');
}

/** `blockhouse mcp`, also through npx, of this workspace. */
function leadsBack(command: string, args: readonly string[]): boolean {
  const words = [command.split(/[\\/]/).at(-1) ?? '', ...args].map((word) => word.toLowerCase());
  const at = words.findIndex((word) => /^blockhouse(?:@.*|\.cmd|\.exe)?$/.test(word));
  return at >= 0 && words.slice(at + 1).includes('mcp') && !words.some((word) => /^--workspace(?:=|$)/.test(word));
}

/** no-literal. */
function assertNoLiteral(name: string, secrets: readonly LiteralSecret[]): void {
  const [found] = secrets;
  if (found === undefined) return;
  const { place, field } = found;
  const before = masked(found.before, secrets, place); // another one may stand there
  throw new Error(
    `${place} holds a secret in clear; store it with \`blockhouse tools secret set ${name}.${field}\` and write "${before}\${auth:${name}.${field}}" there`,
  );
}

/** The entry as it may be shown: secrets that stand in it are masked. */
export function shownEntry({ raw, secrets }: ServerEntry): JsonRecord {
  if (!isObject(raw)) return {};
  const mask = (value: unknown, place: string): unknown => {
    if (typeof value === 'string') return masked(value, secrets, place);
    if (Array.isArray(value)) return value.map((item, index) => mask(item, `${place}[${index}]`));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mask(inner, place === '' ? name : `${place}.${name}`)]));
  };
  return mask(raw, '') as JsonRecord;
}
