// The values of `auth set`: which fields a provider has, how the values are asked for or read, and which values are valid.
// A message names the field and never repeats the value.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { faultPlace } from '../../core/base/json-place.ts';
import { type Adapter, isAddress, maskSecret, type SettingSpec, secretsToRenew, settingFault } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { createPrompter, type PromptStreams } from '../terminal/prompt.ts';

/**
 * The named field, or the fields that `auth set` asks for: those that a request may contain, too. An address has a default and is asked for
 * only when the provider needs no key, because there may be nothing else to set then. Throws a CliError for an unknown field.
 */
export function fieldsOf(adapter: Adapter, named?: string): string[] {
  const all = Object.keys(adapter.settings);
  if (named !== undefined) {
    if (!all.includes(named)) throw new CliError('usage', `${adapter.id} has no such field. Use one of ${all.join(', ')}.`);
    return [named];
  }
  return all.filter((name) => {
    const spec = adapter.settings[name] ?? {};
    return !spec.storedOnly && (!adapter.authRequired || !isAddress(name, spec));
  });
}

/**
 * Asks for each field, and again for the stored secrets that don't go to a new address by themselves; an empty answer skips the field, and an invalid
 * one repeats the question. Rejects with a CliError at Ctrl-C.
 */
export async function askValues(
  adapter: Adapter,
  fields: readonly string[],
  stored: Readonly<Record<string, string>>,
  streams: PromptStreams,
): Promise<Record<string, string>> {
  const prompter = createPrompter(streams);
  const values: Record<string, string> = {};
  const ask = async (field: string, kept: string | undefined): Promise<void> => {
    const spec = adapter.settings[field] ?? {};
    for (;;) {
      const value = await prompter.ask(question(adapter, field, spec, kept), { hidden: spec.secret === true });
      const fault = value === '' ? undefined : settingFault(field, value, spec);
      if (fault !== undefined) streams.output.write(`  ${fault}\n`);
      else if (value !== '') values[field] = value;
      if (fault === undefined) return;
    }
  };
  try {
    for (const field of fields) await ask(field, stored[field]);
    const renewed = secretsToRenew(adapter.settings, stored, values);
    if (renewed.length > 0) streams.output.write(`  What is stored belongs to the old address. Give ${renewed.join(' and ')} again for the new one.\n`);
    for (const field of renewed) await ask(field, undefined);
  } finally {
    prompter.close();
  }
  return values;
}

/** What is known of the key of a connection before one is typed. */
export interface KnownKey {
  /** The variable of the preset, if it is set. */
  readonly variable: string | null;
  /** True for a server that may ask for none. */
  readonly mayLack: boolean;
}

/** Asks for the key of a connection; undefined if Enter takes a variable, or no key. Rejects with a CliError at Ctrl-C, and where Enter takes nothing. */
export async function askKey(name: string, { variable, mayLack }: KnownKey, streams: PromptStreams): Promise<string | undefined> {
  const prompter = createPrompter(streams);
  const otherwise = variable === null ? (mayLack ? ', Enter if the server asks for none' : '') : `, Enter takes $${variable}`;
  try {
    for (;;) {
      const value = await prompter.ask(`${name} apiKey (hidden${otherwise}): `, { hidden: true });
      const fault = value === '' ? undefined : settingFault('apiKey', value, { secret: true });
      if (fault !== undefined) streams.output.write(`  ${fault}\n`);
      else if (value !== '') return value;
      else if (otherwise !== '') return undefined;
      else throw new CliError('usage', `${name} needs a key; --no-key is for a server without one.`);
    }
  } finally {
    prompter.close();
  }
}

/** Returns the key. Throws a CliError for what is none. */
export function checkedKey(text: string): string {
  const fault = settingFault('apiKey', text, { secret: true });
  if (fault !== undefined) throw new CliError('usage', fault);
  return text;
}

function question(adapter: Adapter, field: string, spec: SettingSpec, stored: string | undefined): string {
  const kept = stored ?? spec.default;
  const shown = kept === undefined ? 'Enter skips' : `Enter keeps ${spec.secret ? maskSecret(kept) : kept}`;
  return `${adapter.displayName} ${field} (${spec.secret ? `hidden, ${shown}` : shown}): `;
}

/** The piped values: a JSON object of fields, or the value of the only field that can be meant. Throws a CliError. */
export function parseValues(adapter: Adapter, fields: readonly string[], text: string): Record<string, string> {
  const value = text.trim();
  if (value === '') throw new CliError('usage', 'Standard input is empty; pipe in the value.');
  // No key, address or name begins with these characters, so it is meant as JSON.
  if (/^[{["]/.test(value)) return parseObject(adapter, value);
  // A provider that needs no key may get an address or a key, so its field must be named.
  const [field, second] = fields.length === 1 || !adapter.authRequired ? fields : fields.filter((name) => adapter.settings[name]?.secret);
  if (field !== undefined && second === undefined) return { [field]: value };
  throw new CliError(
    'usage',
    `${adapter.id} has several fields; name one with --field (${fields.join(', ')}), or pipe a JSON object such as {"${fields[0]}":"…"}.`,
  );
}

function parseObject(adapter: Adapter, text: string): Record<string, string> {
  const json = tryParseJson(text);
  if (!isObject(json))
    throw new CliError('usage', `Standard input looks like JSON, but is not a JSON object of fields${json === undefined ? ` (${faultPlace(text)})` : ''}.`);
  for (const [name, value] of Object.entries(json)) {
    fieldsOf(adapter, name);
    if (typeof value !== 'string') throw new CliError('usage', `${name} must be a string.`);
  }
  return json as Record<string, string>;
}

/** Returns the values unchanged. Throws a CliError for an invalid one. */
export function checkValues(adapter: Adapter, values: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(values)) {
    const fault = settingFault(name, value, adapter.settings[name] ?? {});
    if (fault !== undefined) throw new CliError('usage', fault);
  }
  return values;
}
