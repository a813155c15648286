// Reads the servers of tools from the files of other programs: `mcpServers`, `servers` of an editor (also below `mcp`), and `extensions` of a config.yaml.
//
// moved-out: secrets that stand there in clear leave the entries; their places get references, and the caller stores the values.
// told: what can't be taken over is said, for each server.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { faultPlace } from '../../core/base/json-place.ts';
import { fieldFor, literalSecrets } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { parseYaml } from './yaml.ts';

/** A server of a file. */
export interface FoundServer {
  readonly name: string;
  readonly server: Readonly<Record<string, unknown>>;
  /** By their fields (moved-out). */
  readonly secrets: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** What a file has. `skipped` are entries that are no servers of this kind, with the reason. */
export interface ServerFile {
  readonly servers: readonly FoundServer[];
  readonly skipped: readonly string[];
}

type Fields = Record<string, unknown>;

/** Rejects with a CliError for a file without servers. */
export async function readServerFile(bytes: Uint8Array): Promise<ServerFile> {
  const document = await parsed(bytes);
  const found = isObject(document) ? serversIn(document) : undefined;
  if (found === undefined) throw new CliError('usage', 'The file has no servers: neither mcpServers, nor servers, nor extensions.');
  const servers: FoundServer[] = [];
  const skipped: string[] = [];
  const taken = new Set<string>();
  for (const [name, raw] of Object.entries(found.entries)) {
    const entry = found.isGoose ? ofGoose(name, raw) : raw;
    if (typeof entry === 'string') skipped.push(entry);
    else if (!isObject(entry)) skipped.push(`${name.slice(0, 64)} is no entry of a server`);
    else servers.push(takenOver(freeName(name, taken), name, entry));
  }
  return { servers, skipped };
}

async function parsed(bytes: Uint8Array): Promise<unknown> {
  const text = new TextDecoder().decode(bytes).replace(/^\ufeff/, '');
  if (/^\s*(?:[{[]|\/[/*])/.test(text)) {
    const plain = withoutComments(text);
    const json = tryParseJson(text) ?? tryParseJson(plain);
    if (json === undefined) throw new CliError('usage', `The file is no valid JSON: ${faultPlace(plain)}.`);
    return json;
  }
  try {
    return await parseYaml(bytes);
  } catch (error) {
    throw new CliError('usage', `The file can't be read: ${(error as Error).message}.`);
  }
}

/** JSON as editors write it: blanks take the place of comments and of commas before a closing bracket. Strings stay as they are, and all else where it is. */
export function withoutComments(text: string): string {
  const token = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*[}\]])/g;
  return text.replace(token, (found) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' ')));
}

interface Entries {
  readonly entries: Fields;
  readonly isGoose: boolean;
}

function serversIn(document: Fields): Entries | undefined {
  const within = isObject(document['mcp']) ? document['mcp'] : {};
  for (const entries of [document['mcpServers'], within['servers'], within['mcpServers'], document['servers']])
    if (isObject(entries)) return { entries, isGoose: false };
  return isObject(document['extensions']) ? { entries: document['extensions'], isGoose: true } : undefined;
}

/** An entry of `extensions` as one of `mcpServers`; a text says why it is none. */
function ofGoose(name: string, raw: unknown): Fields | string {
  if (!isObject(raw)) return `${name.slice(0, 64)} is no entry of a server`;
  const { type, cmd, args, envs, env_keys: keys, uri, headers, enabled } = raw;
  const named = Array.isArray(keys) ? keys.filter((key): key is string => typeof key === 'string') : [];
  const env = { ...(isObject(envs) && envs), ...Object.fromEntries(named.map((key) => [key, `\${input:${key}}`])) };
  const disabled = enabled === false ? { disabled: true } : {};
  if (type === 'stdio') return { command: cmd, args, env, ...disabled };
  if (type === 'streamable_http') return { type: 'http', url: uri, headers, ...disabled };
  return `${name.slice(0, 64)} has the type ${String(type).slice(0, 32)}, which is part of the other program or not spoken here`;
}

/** A name that a server may have, and that no other of the file has. */
function freeName(name: string, taken: Set<string>): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, 60);
  const fit = plain === '' || /^block(?:house)?$/i.test(plain) ? `server-${plain}`.replace(/-$/, '') : plain;
  let free = fit;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${fit}-${number}`;
  taken.add(free.toLowerCase());
  return free;
}

/** Fields that decide nothing of what is started. */
const DROPPED = ['disabled', 'enabled', 'cwd', 'envFile', 'gallery', 'version', 'dev'];

function takenOver(name: string, given: string, entry: Fields): FoundServer {
  const notes: string[] = [];
  if (name !== given) notes.push(`its name ${JSON.stringify(given.slice(0, 64))} became ${name}`);
  const server: Fields = Object.fromEntries(Object.entries(entry).filter(([field, value]) => !DROPPED.includes(field) && value !== undefined));
  if (typeof server['serverUrl'] === 'string' && server['url'] === undefined) {
    server['url'] = server['serverUrl'];
    delete server['serverUrl'];
  }
  if (typeof entry['cwd'] === 'string') notes.push('its working folder (cwd) was left out; write whole paths where it needs them');
  if (typeof entry['envFile'] === 'string') notes.push('its envFile was left out; store what it needs as secrets');
  if (entry['disabled'] === true) notes.push('it was disabled there');
  const inputs = new Set<string>();
  const moved = mapTexts(server, (text) =>
    text.replaceAll(/\$\{userHome\}/g, '~').replaceAll(/\$\{input:([^}]*)\}/g, (_whole, id: string) => {
      inputs.add(fieldFor(id));
      return `\${auth:${name}.${fieldFor(id)}}`;
    }),
  ) as Fields;
  for (const input of inputs) notes.push(`it needs the secret ${name}.${input}, which the file does not have: tools secret set ${name}.${input}`);
  if (!hasVersion(moved)) notes.push('it names no version of its package, so what runs can change; write name@version');
  const { server: clean, secrets } = withoutSecrets(name, moved);
  for (const field of Object.keys(secrets)) notes.push(`a secret was moved to auth.json as ${name}.${field}`);
  return { name, server: clean, secrets, notes };
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, change)])) : value;
}

/** moved-out. Numbers and switches become texts, as programs that read them loosely write them. */
function withoutSecrets(name: string, entry: Fields): { readonly server: Fields; readonly secrets: Record<string, string> } {
  const texts = (value: unknown): Record<string, string> =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, inner]) => inner !== null)
            .map(([key, inner]) => [key, String(inner)]),
        )
      : {};
  const args = Array.isArray(entry['args']) ? entry['args'].map(String) : [];
  const [env, headers] = [texts(entry['env']), texts(entry['headers'])];
  let url = typeof entry['url'] === 'string' ? entry['url'] : undefined;
  const secrets: Record<string, string> = {};
  for (const { place, field, before, value } of literalSecrets({ args, env, headers, url })) {
    let free = field;
    for (let number = 2; Object.hasOwn(secrets, free) && secrets[free] !== value; number += 1) free = `${field}_${number}`;
    secrets[free] = value;
    const put = (text = ''): string => withReference(text, { before, value, reference: `\${auth:${name}.${free}}` });
    if (place === 'url') url = put(url);
    else if (place.startsWith('env.')) env[place.slice(4)] = put(env[place.slice(4)]);
    else if (place.startsWith('headers.')) headers[place.slice(8)] = put(headers[place.slice(8)]);
    else {
      const at = Number(/\d+/.exec(place)?.[0]);
      args[at] = put(args[at]);
    }
  }
  const server = {
    ...entry,
    ...(entry['args'] !== undefined && { args }),
    ...(isObject(entry['env']) && { env }),
    ...(isObject(entry['headers']) && { headers }),
    ...(url !== undefined && { url }),
  };
  return { server, secrets };
}

/** The text with a reference in the place of a secret, and all the rest as it is. What stood before the secret is another text by now if another one stood there. */
function withReference(text: string, { before, value, reference }: { readonly before: string; readonly value: string; readonly reference: string }): string {
  const end = before.length + value.length;
  return text.slice(0, end) === before + value ? before + reference + text.slice(end) : text.replace(value, () => reference);
}

/** False for `npx name` and the like without `@version`. */
function hasVersion({ command, args }: Fields): boolean {
  const runner = typeof command === 'string' ? /(?:^|[\\/])(npx|uvx|bunx|pnpx)(?:\.cmd|\.exe)?$/.exec(command)?.[1] : undefined;
  if (runner === undefined || !Array.isArray(args)) return true;
  const name = args.map(String).find((arg) => !arg.startsWith('-'));
  return name === undefined || /.(?:@(?!latest$)|==)./.test(name);
}
