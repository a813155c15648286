// An entry of auth.json, checked. Pure: no I/O. No message repeats a value, which may be a secret.
import { isObject } from '../base/json.ts';
import { ConnectionEntry, ENTRY_FIELDS } from '../schemas/connections.ts';
import { compile, faultOf, type Validator } from '../schemas/validate.ts';
import type { ConnectionEntry as EntryFields, EntryKey } from '../types.ts';

/** The stored settings of one adapter. */
export type StoredSettings = Readonly<Record<string, string>>;

/** An entry: the settings of its adapter, which are strings, and what else is said of the connection. */
export interface Entry {
  readonly settings: StoredSettings;
  readonly fields: EntryFields;
}

const check: Validator<EntryFields> = compile(ConnectionEntry);
const IS_FIELD: ReadonlySet<string> = new Set(Object.keys(ENTRY_FIELDS));
const MAX_HEADER_BYTES = 4096;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** What the client and the connection decide, and what only this server says of itself. */
const OWN_HEADERS = /^(?:authorization|host|connection|content-.*|transfer-encoding|te|upgrade|cookie|accept-encoding|proxy-.*|x-blockhouse-.*)$/;
/** The ways to give a key; an entry uses one of them. */
const KEY_WAYS = ['apiKey', 'apiKeyEnv', 'keys', 'keyCommand'] as const;
const NO_FIELDS: EntryFields = Object.freeze({});

/** Throws an Error that names the field, such as `gpu.models.x.price must be …`. */
export function parseEntry(name: string, entry: unknown): Entry {
  if (!isObject(entry)) throw new Error(noObject(name));
  const names = Object.keys(entry);
  const isPlain = names.every((field) => typeof entry[field] === 'string' && !IS_FIELD.has(field));
  if (isPlain) return { settings: entry as StoredSettings, fields: NO_FIELDS }; // as every entry was before there were connections
  try {
    check(entry);
    assertEntry(entry);
  } catch (error) {
    throw new Error(`${name}.${faultOf(error)}`);
  }
  const settings: Record<string, string> = {};
  for (const field of names) if (!IS_FIELD.has(field)) settings[field] = (entry as Readonly<Record<string, unknown>>)[field] as string;
  return { settings, fields: entry };
}

/** What is wrong with an entry that is none. */
export function noObject(name: string): string {
  return `the entry ${name} must be an object`;
}

function assertEntry(entry: EntryFields): void {
  const given = KEY_WAYS.filter((way) => (entry as Readonly<Record<string, unknown>>)[way] !== undefined);
  if (given.length > 1) throw new Error(`${given[1]} can't stand beside ${given[0]}; give the key in one way`);
  if (entry.keyTtlSeconds !== undefined && entry.keyCommand === undefined) throw new Error('keyTtlSeconds needs a keyCommand');
  assertHeaders(entry.headers ?? {});
  if (entry.keyHeader !== undefined && isOwnHeader(entry.keyHeader) && entry.keyHeader.toLowerCase() !== 'authorization')
    throw new Error(`keyHeader can't be ${entry.keyHeader}, which this server sets itself`);
  assertKeys(entry.keys ?? []);
  for (const pattern of [...Object.keys(entry.models ?? {}), ...(entry.offer ?? [])])
    if (pattern.slice(0, -1).includes('*')) throw new Error('models and offer may have one *, at the end of an id');
}

/** Throws an Error naming the header; its value is secret. */
function assertHeaders(headers: Readonly<Record<string, string>>): void {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) throw new Error('headers has a name that is no name of an HTTP header');
    if (isOwnHeader(name)) throw new Error(`headers.${name} can't be set, because this server sets it itself`);
    bytes += name.length + value.length;
  }
  if (bytes > MAX_HEADER_BYTES) throw new Error(`headers must not have more than ${MAX_HEADER_BYTES} bytes together`);
}

function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.test(name.toLowerCase());
}

function assertKeys(keys: readonly EntryKey[]): void {
  const labels = new Set<string>();
  for (const [index, { label, apiKey, apiKeyEnv }] of keys.entries()) {
    if ((apiKey === undefined) === (apiKeyEnv === undefined)) throw new Error(`keys[${index}] needs either apiKey or apiKeyEnv`);
    if (label === undefined) continue;
    if (labels.has(label)) throw new Error(`keys[${index}].label is used twice (${label})`);
    labels.add(label);
  }
}
