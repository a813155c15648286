// What a change of an entry over the API or the CLI has to fulfil. Who may write auth.json itself may write there what they like. Pure: no I/O.
//
// given-again: stored secrets belong to the address that they were stored for. A change that leads elsewhere brings them again.
// variable-at-home: a variable of the server goes only to the address of its preset, because who may call the API could send it to an address of their own otherwise.
//   On loopback, where any program of this machine may listen, that holds for the preset's own variable alone.
// command-by-hand: no change writes a command, and none leads the output of one to another address.
import type { EntryFields } from '../../auth/credentials.ts';
import { originOf, placeOf } from '../../auth/settings.ts';
import { nearest } from '../../base/closest.ts';
import { urlOf } from '../../base/url.ts';
import { invalidRequest } from '../../errors.ts';
import type { Adapter } from '../../ports.ts';
import { ENTRY_FIELDS } from '../../schemas/connections.ts';
import { isLoopbackHost, parseBaseURL } from '../egress.ts';
import { addressFields, addressIn, type BuiltEntry, homeOf, usualAddress } from './built-entry.ts';

/** Throws INVALID_REQUEST naming the field. `before` is undefined for a new entry, and for one that could not be used. */
export function assertChange(name: string, change: EntryFields, before: BuiltEntry | undefined, after: BuiltEntry): void {
  assertFields(name, change, after.base);
  if (change['keyCommand'] != null) throw invalidRequest('keyCommand', 'can only be written into auth.json by hand, because it runs a program'); // command-by-hand
  for (const field of addressFields(after)) if (after.entry.settings[field] !== undefined) parseBaseURL(after.entry.settings[field], field);
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
  const origins = addressFields(before).map((field) => originOf(addressIn(before, field)));
  const from = origins.find((origin) => origin !== undefined) ?? "the adapter's own address";
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
  const { entry, preset } = after;
  const variables = variablesOf(after);
  const [variable] = variables;
  if (variable === undefined) return;
  const { settings, fields } = entry;
  const foreign = addressFields(after).find((field) => settings[field] !== undefined && placeOf(settings[field]) !== placeOf(usualAddress(after, field)));
  const cure = `Store the key beside the address (apiKey), or write ${name} into auth.json by hand.`;
  if (foreign !== undefined)
    throw invalidRequest(
      fields.apiKeyEnv === undefined ? foreign : 'apiKeyEnv',
      `would send the variable ${variable} to ${originOf(settings[foreign])}, which is not the address of its preset. ${cure}`,
    );
  const other = variables.find((each) => each !== preset?.variable);
  const address = addressIn(after, 'baseURL');
  if (other === undefined || !isLoopbackHost(urlOf(address ?? '')?.hostname ?? '')) return;
  throw invalidRequest(
    fields.apiKeyEnv === undefined ? 'keys' : 'apiKeyEnv',
    `would send the variable ${other} to ${originOf(address)}, where any program of this machine may listen. ${cure}`,
  );
}
