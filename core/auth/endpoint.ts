// What an entry of auth.json and its preset say of an upstream besides the settings of its adapter. It goes with the resolved settings of each call, so that
// adapters and prices read it in one place; and what names of models and tiers mean. Pure: no I/O.
import type { ConnectionEntry, EntryLimits, EntryTimeouts, ModelFacts, Quirks } from '../types.ts';
import type { Preset } from './preset.ts';

/** One upstream: a connection, or an adapter whose own entry says more than its settings. */
export interface Endpoint {
  /** The name of the entry. */
  readonly name: string;
  /** True for a connection, false for an adapter's own entry. */
  readonly isConnection: boolean;
  readonly quirks: Quirks;
  /** Sent with every request. Empty for a request with a key of its own. */
  readonly headers: Readonly<Record<string, string>>;
  /** The header of the key, in lower case; undefined for that of the protocol. */
  readonly keyHeader: string | undefined;
  /** Everything that no text may show, besides the secrets among the settings. */
  readonly secrets: readonly string[];
  /** True if its calls take turns with several keys, so that limits of one say nothing of the next. */
  readonly hasSeveralKeys: boolean;
  /** The models that lists show; undefined for all. */
  readonly offer: readonly string[] | undefined;
  /** The exact ids that the entry knows. */
  readonly named: readonly string[];
  readonly limits: EntryLimits;
  /** Those of the entry alone. */
  readonly timeouts: EntryTimeouts;
  /** The provider in the price data; its prices hold where the host is that provider's. */
  readonly pricesAs: string | undefined;
  /** True for a server that people run themselves. */
  readonly isLocal: boolean;
  /** What is known of a model; undefined for nothing. */
  factsOf(model: string): ModelFacts | undefined;
}

/** The endpoint of an entry on its preset. A field of the entry wins over that of the preset as a whole, a quirk over the same quirk. */
export function endpointOf(name: string, isConnection: boolean, entry: ConnectionEntry, preset: Partial<Preset> = {}, keys: readonly string[] = []): Endpoint {
  const models = { ...preset.models, ...entry.models };
  const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    name,
    isConnection,
    quirks: { ...preset.quirks, ...entry.quirks },
    headers,
    keyHeader: (entry.keyHeader ?? preset.keyHeader)?.toLowerCase(),
    secrets: [...Object.values(headers), ...keys],
    hasSeveralKeys: keys.length > 1,
    offer: entry.offer ?? preset.offer,
    named: Object.keys(models).filter((id) => !id.endsWith('*')),
    limits: { ...preset.limits, ...entry.limits },
    timeouts: entry.timeouts ?? {},
    pricesAs: preset.prices,
    isLocal: preset.isLocal === true,
    factsOf: factsIn(models),
  };
}

/** True if the list of an entry shows this model. */
export function isOffered(offer: Endpoint['offer'], model: string): boolean {
  return offer === undefined || offer.some((pattern) => fitsPattern(pattern, model));
}

function fitsPattern(pattern: string, model: string): boolean {
  return pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
}

/** Requests may name any model. */
const MAX_REMEMBERED = 1000;

/**
 * Field by field, the exact id wins, then the longest pattern that says it. Servers may take an id in other letters, with blanks around it, with `models/` before it or with the tag `latest`, so such
 * a spelling has the facts of the model that it may mean: a cheap pattern for all others would be the price of each.
 */
function factsIn(models: Readonly<Record<string, ModelFacts>>): Endpoint['factsOf'] {
  const exact = new Map(Object.entries(models));
  if (exact.size === 0) return () => undefined;
  const meant = new Map([...exact].map(([id, facts]) => [plainModel(id), facts]));
  const patterns = [...exact]
    .filter(([id]) => id.endsWith('*'))
    .map(([id, facts]) => [plainLetters(id), facts] as const)
    .sort(([one], [other]) => other.length - one.length);
  const remembered = new Map<string, ModelFacts | undefined>();
  return (model) => {
    if (remembered.has(model)) return remembered.get(model);
    const fitting = patterns
      .filter(([pattern]) => fitsPattern(pattern, plainLetters(model)) || fitsPattern(pattern, plainModel(model)))
      .map(([, facts]) => facts);
    const all = [exact.get(model) ?? meant.get(plainModel(model)), ...fitting].filter((facts) => facts !== undefined);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(model, all.length < 2 ? all[0] : (Object.assign({}, ...all.reverse()) as ModelFacts));
    return remembered.get(model);
  };
}

/** Local daemons find a model of their usual library also under the address of that library, one of a person under that of the registry, and one without a tag under the tag `latest`. */
const OF_LIBRARY = /^(?:[^/]*[.:][^/]*\/)?library\/|^[^/]*[.:][^/]*\/(?=[^/]+\/[^/]+$)/;
const LATEST = /:latest$/;

/** The id of a model without what servers may read over: other letters, blanks around it, `models/` before it, the library that it is from, and the tag of the latest. */
export function plainModel(model: string): string {
  return plainLetters(model).replace(OF_LIBRARY, '').replace(LATEST, '');
}

function plainLetters(model: string): string {
  const plain = model.trim().toLowerCase();
  return plain.startsWith('models/') ? plain.slice('models/'.length) : plain;
}

/** The providers' words for what costs as much as the standard tier, or less. */
const NOT_DEARER: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand', 'unspecified', 'flex', 'batch']);

/** True for a tier that costs more than the standard one, or may do so because the word is new. */
export function mayCostMore(tier: unknown): tier is string {
  return typeof tier === 'string' && tier !== '' && !NOT_DEARER.has(tier.toLowerCase().replace(/^service_tier_/, ''));
}
