// The presets that are known: those that the adapters bring along, and those of `<workspace>/presets.json`, which win by field.
//
// last-good: a damaged file never counts as an empty one. Its last good content stays in use, and if there was none, every connection that may need it says so.
// no-secrets: the file holds neither keys nor commands, because a company hands it to everybody. A field that could be one is refused.
import { join } from 'node:path';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import { BlockhouseError } from '../errors.ts';
import { PresetFields } from '../schemas/connections.ts';
import { compile, faultOf, type Validator } from '../schemas/validate.ts';
import { type FileState, FreshFile } from '../store/files/fresh-file.ts';
import { isConnectionName } from './connection-name.ts';
import type { KnownPreset } from './preset.ts';

/** The name of the file in a workspace. */
export const PRESETS_FILE = 'presets.json';

type Own = ReadonlyMap<string, PresetFields>;
const NONE: Own = new Map();
const check: Validator<PresetFields> = compile(PresetFields);

/** The presets of a workspace. */
export class PresetFile {
  readonly #file: FreshFile | undefined;
  readonly #known: ReadonlyMap<string, KnownPreset>;
  #own: Own | undefined;
  #fault: string | undefined;

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string | undefined, known: readonly (readonly [name: string, preset: KnownPreset])[], now?: () => number) {
    this.#known = new Map(known);
    this.#file = workspace === undefined ? undefined : new FreshFile(join(workspace, PRESETS_FILE), (state) => this.#take(state), now);
  }

  /** The content of presets.json that is in use, another object after each change. */
  content(): object | undefined {
    this.#file?.refresh();
    return this.#own;
  }

  /** The preset of this name; undefined if there is none. Throws ADAPTER_NOT_CONFIGURED if presets.json was never good (last-good). */
  of(name: string): KnownPreset | undefined {
    this.content();
    if (this.#fault !== undefined && this.#own === undefined)
      throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${this.#file?.path} can't be used: ${this.#fault}. Repair it or remove it.`, {
        forKeys: `${PRESETS_FILE} of this server is damaged. The log of the server says what is wrong.`,
      });
    const known = this.#known.get(name);
    const own = this.#own?.get(name);
    if (own === undefined) return known;
    const quirks = { ...known?.quirks, ...own.quirks };
    const adapter = own.adapter ?? known?.adapter;
    if (adapter === undefined)
      throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', `${name}.adapter is missing in ${PRESETS_FILE}, because no preset has this name.`);
    return { source: PRESETS_FILE, ...known, ...own, adapter, ...(Object.keys(quirks).length > 0 && { quirks }) };
  }

  /** The names of all presets, in order. */
  names(): string[] {
    this.content();
    return [...new Set([...this.#known.keys(), ...(this.#own?.keys() ?? [])])].sort();
  }

  #take(state: FileState): void {
    try {
      this.#own = parsePresets(state);
      this.#fault = undefined;
    } catch (error) {
      this.#fault = (error as Error).message;
    }
  }
}

/** Throws an Error that names the field. */
export function parsePresets(state: FileState): Own {
  if (state.kind === 'missing') return NONE;
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const json = parseBytes(Buffer.from(state.text));
  if (!isObject(json)) throw new Error('it must contain a JSON object with one entry for each preset');
  for (const [name, preset] of Object.entries(json)) {
    if (!isConnectionName(name)) throw new Error('a name must have 1 to 32 characters of a-z, 0-9 and -, and begin with a letter');
    try {
      check(preset); // no-secrets
    } catch (error) {
      throw new Error(`${name}.${faultOf(error)}`);
    }
  }
  return new Map(Object.entries(json as Record<string, PresetFields>));
}
