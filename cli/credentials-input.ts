// The values of `auth set`: which fields there are, how they are asked or read, which values are fit.
// What is wrong is named by field, never by value.
import { type Adapter, isObject, maskSecret, SECRET_PATTERN, type SettingSpec, tryParseJson } from '../core/index.ts';
import { CliError } from './exit-codes.ts';
import { createPrompter, type PromptStreams } from './prompt.ts';

const SECRET = new RegExp(SECRET_PATTERN);
const PRINTABLE = /^[\x20-\x7e]{1,2048}$/;
const ADDRESS_FIELD = 'baseURL';

/**
 * The named field, or those that `auth set` asks for: what a request could bring, too. An address has a default
 * and is asked for only where there may be no key, as it is all there is to set then. Throws for an unknown field.
 */
export function fieldsOf(adapter: Adapter, named?: string): string[] {
  const all = Object.keys(adapter.settings);
  if (named !== undefined) {
    if (!all.includes(named)) throw new CliError('usage', `${adapter.id} has no field of that name; it has ${all.join(', ')}.`);
    return [named];
  }
  return all.filter((name) => !adapter.settings[name]?.storedOnly && (name !== ADDRESS_FIELD || !adapter.authRequired));
}

/** Asks for each field; an empty answer skips it. A value that is not fit is asked for again. */
export async function askValues(
  adapter: Adapter,
  fields: readonly string[],
  stored: Readonly<Record<string, string>>,
  streams: PromptStreams,
): Promise<Record<string, string>> {
  const prompter = createPrompter(streams);
  const values: Record<string, string> = {};
  try {
    for (const field of fields) {
      const spec = adapter.settings[field] ?? {};
      for (;;) {
        const value = await prompter.ask(question(adapter, field, spec, stored[field]), { hidden: spec.secret === true });
        const fault = value === '' ? undefined : faultOf(field, value, spec);
        if (fault !== undefined) streams.output.write(`  ${fault}\n`);
        else if (value !== '') values[field] = value;
        if (fault === undefined) break;
      }
    }
  } finally {
    prompter.close();
  }
  return values;
}

function question(adapter: Adapter, field: string, spec: SettingSpec, stored: string | undefined): string {
  const kept = stored ?? spec.default;
  const shown = kept === undefined ? 'Enter skips' : `Enter keeps ${spec.secret ? maskSecret(kept) : kept}`;
  return `${adapter.displayName} ${field} (${spec.secret ? `hidden, ${shown}` : shown}): `;
}

/** What was piped in: a JSON object of fields, or the value of the one field that can be meant. */
export function parseValues(adapter: Adapter, fields: readonly string[], text: string): Record<string, string> {
  const value = text.trim();
  if (value === '') throw new CliError('usage', 'standard input is empty; pipe the value in.');
  // No key, address or name begins like this: it is JSON, or was meant to be.
  if (/^[{["]/.test(value)) return parseObject(adapter, value);
  // Where there may be no key, one value could be the address or the key; it must be named then.
  const [field, second] = fields.length === 1 || !adapter.authRequired ? fields : fields.filter((name) => adapter.settings[name]?.secret);
  if (field !== undefined && second === undefined) return { [field]: value };
  throw new CliError(
    'usage',
    `${adapter.id} has several fields; name one with --field (${fields.join(', ')}), or pipe a JSON object such as {"${fields[0]}":"…"}.`,
  );
}

function parseObject(adapter: Adapter, text: string): Record<string, string> {
  const json = tryParseJson(text);
  if (!isObject(json)) throw new CliError('usage', 'standard input begins like JSON, but is no JSON object of fields.');
  for (const [name, value] of Object.entries(json)) {
    fieldsOf(adapter, name);
    if (typeof value !== 'string') throw new CliError('usage', `${name} must be a string.`);
  }
  return json as Record<string, string>;
}

/** Passes values on. Throws for one that could not be used. */
export function checkValues(adapter: Adapter, values: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(values)) {
    const fault = faultOf(name, value, adapter.settings[name] ?? {});
    if (fault !== undefined) throw new CliError('usage', fault);
  }
  return values;
}

function faultOf(field: string, value: string, spec: SettingSpec): string | undefined {
  if (spec.secret) return SECRET.test(value) ? undefined : `${field} has characters that no key has (spaces, line ends or non-ASCII).`;
  if (!PRINTABLE.test(value)) return `${field} must be one line of printable ASCII.`;
  if (spec.oneOf !== undefined && !spec.oneOf.includes(value)) return `${field} must be one of ${spec.oneOf.join(', ')}.`;
  if (field !== ADDRESS_FIELD) return undefined;
  const address = spec.normalize?.(value) ?? value;
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? undefined : `${field} must be an address such as https://host:port.`;
}
