// Finds secrets that stand in an entry of mcp.json in clear. They belong in auth.json, because mcp.json is shown, and shared with other programs. Pure: no I/O.
import { redact } from '../base/redact.ts';
import { soundsSecret } from '../schemas/secret-fields.ts';
import { withFallbacks, withoutReferences } from './references.ts';

/** The last word of a name; those of servers are shorter than those that we know of providers. */
const LAST_WORD =
  /(?:^|[-_. ])(?:[tT](?:oken|OKEN)|[kK](?:ey|EY)|[sS](?:ecret|ECRET)|[pP](?:at|AT|ass|ASS|wd|WD|assword|ASSWORD)|[cC](?:redential|REDENTIAL|ookie|OOKIE)|[dD](?:sn|SN))[sS]?$|[a-z0-9](?:Token|Key|Secret|Pat|Pass|Pwd|Password|Credential|Cookie|Dsn)s?$/;
const SHAPES = /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|hf_|ntn_|lin_api_|shpat_)[A-Za-z0-9_-]{8,}/;
/** What says nothing of a secret, such as `true`. */
const HARMLESS = /^(?:true|false|none|null|yes|no|on|off|[01]?)$/i;
const SCHEME = /^\s*(?:bearer|basic|token|apikey)\s*$/i;
/** A name and a password, as they stand in a header. */
const BASIC = /\bBasic\s+([A-Za-z0-9+/]{8,}={0,2})/;
/** Names that are those of a secret only there. */
const AUTH_HEADER = /^(?:x-)?auth$/i;
const SIGNATURE = /^sig(?:nature)?$/i;
/** `NAME=value` in a text, also as a parameter of an address; `--name value`; a member of JSON. What begins with `$` is a variable, and a shorter value would be found by chance. */
const WITHIN = [
  /(?:^|[\s;&|'"?#])-{0,2}([A-Za-z][\w-]{0,63})=["']?([^\s'"$`;&|#]{8,})/g,
  /(?:^|[\s;&|'"])--?([A-Za-z][\w-]{0,63})\s+["']?([^\s'"$`;&|-][^\s'"$`;&|]{7,})/g,
  /"([^"\\]{1,64})"\s*:\s*"([^"\\$]{8,})"/g,
];
/** Such a name has many meanings, so its value must look like a secret, too. */
const WEAK_NAME = /keys?$/i;
const HEADER_FLAG = /^(?:-H|--headers?)$/;
const MASK = '••••';

/** Where a secret stands, and how its field in auth.json may be named. */
export interface LiteralSecret {
  readonly place: string;
  readonly field: string;
  /** What to write in place of the secret, before and after it. */
  readonly before: string;
  readonly value: string;
}

/** The parts of an entry that may hold secrets. */
export interface Parts {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string | undefined;
}

/** All secrets of an entry that stand there in clear. */
export function literalSecrets({ args, env, headers, url }: Parts): LiteralSecret[] {
  return [
    ...Object.entries(env).flatMap(([name, value]) => inNamed(`env.${name}`, name, value, false)),
    ...Object.entries(headers).flatMap(([name, value]) => inNamed(`headers.${name}`, name, value, true)),
    ...args.flatMap((arg, index) => inArgument(args, arg, index)),
    ...(url === undefined ? [] : inAddress(url)),
  ];
}

/** True for a name that sounds like that of a secret. */
export function namesSecret(name: string): boolean {
  return soundsSecret(name) || LAST_WORD.test(name);
}

function inNamed(place: string, name: string, value: string, isHeader: boolean): LiteralSecret[] {
  const [, before = '', rest = ''] = /^((?:bearer|basic|token|apikey)\s+)?(.*)$/is.exec(value) ?? [];
  const left = withoutReferences(value);
  const isHarmless = HARMLESS.test(left.trim()) || SCHEME.test(left);
  const isNamed = namesSecret(name) || (isHeader && AUTH_HEADER.test(name));
  const isSecret = hasSecretFallback(value) || (!isHarmless && (isNamed || looksSecret(left) || hasPassword(left)));
  if (!isSecret) return inText(place, value);
  const field = isHeader && /^authorization$/i.test(name) ? 'token' : fieldFor(name);
  return [{ place, field, before, value: rest }];
}

function inArgument(args: readonly string[], arg: string, index: number): LiteralSecret[] {
  const place = `args[${index}]`;
  const flag = args[index - 1] ?? '';
  const [, own, value] = /^(--?[A-Za-z][\w-]*)=(.*)$/s.exec(arg) ?? [];
  const header = HEADER_FLAG.test(flag) ? arg : own !== undefined && HEADER_FLAG.test(own) ? value : undefined;
  if (header !== undefined) {
    const [, name = '', blank = '', text = ''] = /^([^:]*):(\s*)(.*)$/s.exec(header) ?? [];
    const prefix = `${arg.slice(0, arg.length - text.length - blank.length)}${blank}`;
    return inNamed(place, name, text, true).map((found) => ({ ...found, before: `${prefix}${found.before}` }));
  }
  if (own !== undefined && value !== undefined)
    return inNamed(place, plainFlag(own), value, false).map((found) => ({ ...found, before: `${own}=${found.before}` }));
  if (/^--?[A-Za-z]/.test(flag) && !flag.includes('=') && !arg.startsWith('-') && namesSecret(plainFlag(flag)))
    return inNamed(place, plainFlag(flag), arg, false);
  const left = withoutReferences(arg);
  return looksSecret(left) || hasPassword(left) || hasSecretFallback(arg) ? [{ place, field: `arg${index}`, before: '', value: arg }] : inText(place, arg);
}

/** Secrets within a text, such as a command for a shell. */
function inText(place: string, text: string): LiteralSecret[] {
  return WITHIN.flatMap((form) =>
    [...text.matchAll(form)].flatMap(({ 0: whole, 1: name = '', 2: value = '', index }) => {
      const isNamed = soundsSecret(name) || (namesSecret(name) && (!WEAK_NAME.test(name) || /\d/.test(value)));
      if (!isNamed || /^no-/i.test(name) || HARMLESS.test(value)) return [];
      return [{ place, field: fieldFor(name), before: text.slice(0, index + whole.lastIndexOf(value)), value }];
    }),
  );
}

function inAddress(url: string): LiteralSecret[] {
  const found: LiteralSecret[] = [];
  for (const [, name = '', value = ''] of url.matchAll(/[?&#]([^=&#]*)=([^&#]*)/g))
    found.push(...inNamed('url', SIGNATURE.test(name) ? 'key' : name, value, false).map((one) => ({ ...one, field: fieldFor(name) })));
  if (found.length === 0 && (looksSecret(withoutReferences(url)) || hasPassword(url) || hasSecretFallback(url)))
    found.push({ place: 'url', field: 'url', before: '', value: url });
  return found;
}

/** `--api-key` is `api-key`. */
function plainFlag(flag: string): string {
  return flag.replace(/^--?/, '');
}

/** True for a text with a key or a token in it, by its form. */
export function looksSecret(text: string): boolean {
  return SHAPES.test(text) || isBasic(text) || redact(text, []) !== text;
}

function isBasic(text: string): boolean {
  const [, encoded] = BASIC.exec(text) ?? [];
  return encoded !== undefined && /^[ -~]*:[ -~]*$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}

/** `${TOKEN:-ghp_…}`: by its form alone, since a default such as `${DB_PASSWORD:-postgres}` hides nothing. */
function hasSecretFallback(text: string): boolean {
  return text.includes(':-') && looksSecret(withFallbacks(text));
}

/** `postgres://user:password@host`, where the password is no reference. */
const WITH_PASSWORD = /[a-z][\w+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/gi;

function hasPassword(text: string): boolean {
  return text.search(WITH_PASSWORD) >= 0;
}

/** A secret, and the passwords of addresses in it, which may stand without the rest elsewhere. */
export function withPasswords(secret: string): string[] {
  return [secret, ...Array.from(secret.matchAll(WITH_PASSWORD), ([, password = '']) => password)];
}

/** A name that a field of auth.json can have. */
export function fieldFor(name: string): string {
  const fit = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return fit === '' ? 'secret' : fit;
}

/** A value of an entry as it may be shown. */
export function masked(text: string, secrets: readonly LiteralSecret[], place: string): string {
  return secrets.filter((found) => found.place === place && found.value !== '').reduce((shown, { value }) => shown.replaceAll(value, MASK), text);
}
