// Imports a configuration of LiteLLM: auth.json first, then the names of models (models.json or the database), each in one write.
//
// stays: what exists is not touched without a word. A name that would lead to another address than it was meant for is left out.
import type { Core } from '../../../core/index.ts';
import { CliError } from '../../terminal/exit-codes.ts';
import { oneLine } from '../../terminal/output.ts';
import { parseYaml } from '../yaml.ts';
import type { ImportWorld } from './deployments.ts';
import { type Imported, importLiteLlm } from './import.ts';
import type { ImportReport } from './report.ts';
import { modelOf } from './targets.ts';

/** How it is imported. */
interface ImportWays {
  readonly replaces: boolean;
  readonly isTrial: boolean;
  /** True if the names of models are in a database, and not in models.json. */
  readonly hasDatabase: boolean;
}

/** Translates a file. Rejects with a CliError for one that can't be read. */
export async function readConfig(core: Core, file: string, bytes: Uint8Array): Promise<Imported> {
  try {
    return importLiteLlm(await parseYaml(bytes), worldOf(core));
  } catch (error) {
    throw new CliError('usage', oneLine(`${file} can't be imported: ${(error as Error).message}.`), error);
  }
}

/** Writes what was translated, and says what became of each setting and which files have changed. Rejects as `core.connections.set` does. */
export async function writeConfig(core: Core, imported: Imported, ways: ImportWays): Promise<{ readonly report: ImportReport; readonly written: string[] }> {
  const { credentials, modelsFile } = core;
  if (credentials === undefined || modelsFile === undefined) throw new Error('An import needs a workspace.');
  const [{ book, defaultProvider }, { replaces, isTrial }] = [imported, ways];
  const place = ways.hasDatabase ? 'aliases in the database' : 'models.json';
  const entries = new Map([...(await withKnownPrices(core, imported))]);
  const staying = replaces ? [] : credentials.conflicting(entries);
  const moved = staying.filter((name) => isElsewhere(core, name, entries.get(name)));
  for (const name of staying) book.left(`auth.json: ${name}`, 'An entry of this name exists, and stays as it is; --replace replaces it.');
  const meant = Object.entries(imported.aliases).filter(([name, targets]) => {
    const lost = targets.map((target) => modelOf(target).split('/')[0] ?? '').find((connection) => moved.includes(connection));
    if (lost !== undefined) book.left(`${place}: ${name}`, `It would lead to ${lost}, which has another address.`);
    return lost === undefined;
  });
  const isLost = defaultProvider !== undefined && moved.includes(defaultProvider);
  const names = {
    aliases: Object.fromEntries(meant.map(([name, targets]) => [name, targets.length === 1 ? modelOf(targets[0] ?? '') : targets] as const)),
    ...(defaultProvider !== undefined && !isLost && { defaultProvider }),
  };
  const conflicts = replaces ? { aliases: [], defaultProvider: false } : modelsFile.conflicting(names);
  for (const name of conflicts.aliases) book.left(`${place}: ${name}`, 'An alias of this name exists, and stays as it is; --replace replaces it.');
  if (conflicts.defaultProvider) book.left(`${place}: defaultProvider`, 'There is one, which stays as it is; --replace replaces it.');
  await core.connections.adopt(entries, replaces, true);
  const before = [credentials.content(), modelsFile.lastGood()];
  if (!isTrial) {
    await core.connections.adopt(entries, replaces);
    await modelsFile.adopt(names, replaces);
  }
  const after = [credentials.content(), modelsFile.lastGood()];
  return { report: imported.report(), written: ['auth.json', place].filter((_, index) => before[index] !== after[index]) };
}

function worldOf(core: Core): ImportWorld {
  const presets = new Map(core.connections.presets().map((preset) => [preset.name, preset]));
  return {
    adapterIdOf: (name) => core.adapterIds().find((id) => id === name || core.adapter(id).aliases.includes(name)),
    settingsOf: (id) => core.adapter(id).settings,
    ownerOf: (model) => core.adapterIds().find((id) => core.adapter(id).modelNames?.test(model) === true),
    preset: (name) => presets.get(name),
  };
}

/** A price by a name that the price data don't have would be an unknown price, and hide that of the model itself. */
async function withKnownPrices(core: Core, { entries, book }: Imported): Promise<Map<string, Readonly<Record<string, unknown>>>> {
  const known = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [name, entry] of entries) {
    const models = Object.entries((entry['models'] ?? {}) as Record<string, { readonly price?: unknown }>);
    const kept: Record<string, unknown> = {};
    for (const [id, { price, ...facts }] of models) {
      const isKnown = typeof price !== 'string' || (await core.prices?.isKnown(price)) === true;
      if (!isKnown) book.left(`auth.json: ${name}.models.${id}.price`, 'The price data have no model of the name in base_model.');
      const fact = isKnown && price !== undefined ? { price, ...facts } : facts;
      if (Object.keys(fact).length > 0) kept[id] = fact;
    }
    const { models: _all, ...others } = entry;
    known.set(name, Object.keys(kept).length > 0 ? { ...others, models: kept } : others);
  }
  return known;
}

/** stays. */
function isElsewhere(core: Core, name: string, entry: Readonly<Record<string, unknown>> | undefined): boolean {
  const { adapter, baseURL, preset } = core.connections.list().find((one) => one.name === name) ?? {};
  if (entry?.['baseURL'] !== undefined) return entry['baseURL'] !== baseURL;
  const usual =
    core.connections.presets().find((one) => one.name === (entry?.['preset'] ?? name))?.baseURL ?? core.adapter(adapter ?? name).settings['baseURL']?.default;
  return usual !== undefined && usual !== null && baseURL !== undefined && baseURL !== usual && preset !== undefined;
}
