// What a change of an entry over the API or the CLI has to fulfil. Who may write auth.json itself may write there what they like. Pure: no I/O.
//
// given-again: stored secrets belong to the address that they were stored for. A change that leads elsewhere brings them again.
// variable-at-home: a variable of the server goes only to the address of its preset, because who may call the API could send it to an address of their own otherwise.
// command-by-hand: no change writes a command, and none leads the output of one to another address.
import type { EntryFields } from '../../auth/credentials.ts';
import type { Entry } from '../../auth/entry.ts';
import type { Preset } from '../../auth/preset.ts';
import { originOf, placeOf } from '../../auth/settings.ts';
import { nearest } from '../../base/closest.ts';
import { invalidRequest } from '../../errors.ts';
import type { Adapter } from '../../ports.ts';
import { ENTRY_FIELDS } from '../../schemas/connections.ts';
import { parseBaseURL } from '../egress.ts';

/** An entry with what it is built on. */
export interface BuiltEntry {
  readonly entry: Entry;
  /** The adapter whose protocol it speaks. */
  readonly base: Adapter;
  readonly preset: Preset | undefined;
}

/** Throws INVALID_REQUEST naming the field. `before` is undefined for a new entry, and for one that could not be used. */
export function assertChange(name: string, change: EntryFields, before: BuiltEntry | undefined, after: BuiltEntry): void {
  assertFields(name, change, after.base);
  if (change['keyCommand'] != null) throw invalidRequest('keyCommand', 'can only be written into auth.json by hand, because it runs a program'); // command-by-hand
  if (after.entry.settings['baseURL'] !== undefined) parseBaseURL(after.entry.settings['baseURL'], 'baseURL');
  const isMoved = before !== undefined && homeOf(before) !== homeOf(after);
  if (isMoved) assertRenewed(name, change, before, after);
  const readsOthers = before === undefined || String(variablesOf(before)) !== String(variablesOf(after));
  if (name !== after.base.id && (isMoved || readsOthers)) assertVariableAtHome(name, after);
}

/** Strict: a misspelt field would have no effect. */
function assertFields(name: string, change: EntryFields, { settings }: Adapter): void {
  const known = [...Object.keys(ENTRY_FIELDS), ...Object.keys(settings)];
  const unknown = Object.keys(change).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  // What was meant as a value may stand in the place of a name.
  throw invalidRequest(
    '',
    `The entry ${name} would have a field that there is not${meant === undefined ? '' : ` (did you mean ${meant}?)`}; the fields are ${known.join(', ')}.`,
  );
}

/** Where an entry leads, with its path: on a shared host, another path may be another tenant's. */
function homeOf({ entry, base, preset }: BuiltEntry): string | undefined {
  const address = entry.settings['baseURL'] ?? preset?.baseURL ?? base.settings['baseURL']?.default;
  const place = placeOf(address);
  return place === undefined ? undefined : `${base.id} ${place}`;
}

/** given-again. */
function assertRenewed(name: string, change: EntryFields, before: BuiltEntry, after: BuiltEntry): void {
  const { settings, fields } = before.entry;
  if (fields.keyCommand !== undefined && after.entry.fields.keyCommand !== undefined)
    throw invalidRequest('baseURL', `of an entry with a keyCommand can only be changed in auth.json by hand`); // command-by-hand
  const secrets = Object.keys(settings).filter((field) => (after.base.settings[field] ?? before.base.settings[field])?.secret === true);
  if (fields.keys?.some(({ apiKey }) => apiKey !== undefined) === true) secrets.push('keys');
  if (fields.headers !== undefined) secrets.push('headers');
  const missing = secrets.find((field) => change[field] === undefined);
  if (missing === undefined) return;
  const from = originOf(before.entry.settings['baseURL'] ?? before.preset?.baseURL) ?? "the adapter's own address";
  throw invalidRequest(missing, `of ${name} is needed again, because the stored one belongs to ${from}. Send it with the new address, or remove it with null.`);
}

/** The variables that an entry reads: those that it names, or that of its preset. */
function variablesOf({ entry, preset }: BuiltEntry): string[] {
  const { apiKeyEnv, keys = [], keyCommand, auth } = entry.fields;
  const named = [apiKeyEnv, ...keys.map((key) => key.apiKeyEnv)].filter((variable) => variable !== undefined);
  const hasOwn = named.length > 0 || keys.length > 0 || keyCommand !== undefined || entry.settings['apiKey'] !== undefined || auth === 'none';
  return hasOwn || preset?.variable === undefined ? named : [preset.variable];
}

/** variable-at-home. */
function assertVariableAtHome(name: string, after: BuiltEntry): void {
  const { entry, preset, base } = after;
  const [variable] = variablesOf(after);
  const address = entry.settings['baseURL'];
  const own = preset === undefined ? base.settings['baseURL']?.default : preset.baseURL;
  if (variable === undefined || address === undefined || placeOf(address) === placeOf(own)) return;
  throw invalidRequest(
    entry.fields.apiKeyEnv === undefined ? 'baseURL' : 'apiKeyEnv',
    `would send the variable ${variable} to ${originOf(address)}, which is not the address of its preset. Store the key beside the address (apiKey), or write ${name} into auth.json by hand.`,
  );
}
