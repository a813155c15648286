// Which stored secrets a call carries, and where it may go with them. Pure: no I/O.
//
// beside-its-address: A secret in auth.json goes to the address that is configured for its provider. A secret of the environment goes only to an address
//   of the environment, because the API writes addresses into auth.json. Both go to the provider's own hosts and to the operator's list, which are origins.
//   A configured address is its path, too: on a shared host, another path may be another tenant's.
// one-home: What a connection has goes to the origin of its base URL and nowhere else, also not to the operator's list.
// none-is-lost: A call that would lose its secrets in this way is refused, unless the provider needs none and the address is configured.
import { collectSettings, type Environment, isAddress, originOf, placeOf, type ResolvedSettings } from '../auth/settings.ts';
import { BlockhouseError } from '../errors.ts';
import type { Adapter } from '../ports.ts';
import { mustSearch } from './adapter-status.ts';
import { BRING_OWN_KEY, type EgressRule, KEY_STAYS, notTrusted } from './egress.ts';

/** What the bounds of a call follow from. */
export interface CallParts {
  readonly settings: ResolvedSettings;
  /** The settings without those of the request. */
  readonly configured: ResolvedSettings;
  readonly env: Environment;
  readonly allowedOrigins: ReadonlySet<string>;
}

/** The settings that a call may use, and where it may go. */
export interface BoundCall {
  readonly settings: ResolvedSettings;
  readonly egress: EgressRule;
}

type Bound = Pick<Adapter, 'id' | 'displayName' | 'authRequired' | 'probe' | 'settings' | 'trustedOrigins' | 'connection'>;

/** Throws INVALID_REQUEST for an address of the request that the stored secrets may not go to, ADAPTER_NOT_CONFIGURED for such an address in auth.json. */
export function boundCall(adapter: Bound, parts: CallParts): BoundCall {
  const { settings, allowedOrigins } = parts;
  if (adapter.connection !== undefined) return boundConnection(adapter, parts);
  const own = ownOrigins(adapter, settings);
  const configured = addressesIn(adapter, parts.configured);
  const rule = { trustedOrigins: new Set([...own, ...configured.values()]), allowedOrigins, ownKey: false, isKeyless: false };
  const secrets = Object.keys(adapter.settings).filter((name) => adapter.settings[name]?.secret && settings.values[name] !== undefined);
  if (secrets.some((name) => settings.sources[name] === 'request')) return { settings, egress: { ...rule, ownKey: true } };
  const searches = mustSearch(adapter, settings); // what it finds belongs to the environment
  if (secrets.length === 0 && !searches) return { settings, egress: { ...rule, isKeyless: true } };

  const reached = addressesIn(adapter, settings);
  const ofEnvironment = addressesIn(adapter, collectSettings(adapter.settings, { env: parts.env }));
  const foreignTo = (places: Places) =>
    [...reached]
      .map(([place, origin]) => ({ place, origin }))
      .find(({ place, origin }) => !own.has(origin) && !places.has(place) && !allowedOrigins.has(origin));
  const foreign = foreignTo(configured);
  const foreignToEnvironment = foreignTo(ofEnvironment);
  const kept = secrets.filter((name) => (settings.sources[name] === 'auth.json' ? foreign : foreignToEnvironment) === undefined);
  if (kept.length > 0 || (searches && foreignToEnvironment === undefined))
    return { settings: without(settings, secrets, kept), egress: { ...rule, trustedOrigins: new Set([...own, ...reached.values()]) } };
  if (foreign !== undefined) throw notTrusted(foreign.origin, adapter, isAmong(foreign.origin, configured)); // none-is-lost
  if (foreignToEnvironment !== undefined && adapter.authRequired) throw notBeside(adapter, settings, foreignToEnvironment, ofEnvironment);
  return { settings: without(settings, secrets, kept), egress: { ...rule, isKeyless: true } };
}

/** one-home. An adapter without a base URL has the hosts that follow from its settings. */
function boundConnection(adapter: Bound, { settings, allowedOrigins }: CallParts): BoundCall {
  const home = new Set(addressesIn(adapter, settings).values());
  for (const base of adapter.trustedOrigins?.(settings) ?? []) addTo(home, originOf(base));
  const ownKey = Object.keys(adapter.settings).some((name) => adapter.settings[name]?.secret && settings.sources[name] === 'request');
  return { settings, egress: { trustedOrigins: home, allowedOrigins, ownKey, isKeyless: false, home } };
}

/** The provider's own origins: where it is by default, and its hosts that follow from other settings. */
function ownOrigins(adapter: Bound, settings: ResolvedSettings): Set<string> {
  const origins = new Set<string>();
  for (const [name, spec] of Object.entries(adapter.settings)) if (isAddress(name, spec)) addTo(origins, originOf(spec.default));
  for (const base of adapter.trustedOrigins?.(settings) ?? []) addTo(origins, originOf(base));
  return origins;
}

/** The origins of addresses, by their places. */
type Places = ReadonlyMap<string, string>;

/** The places of the addresses among these settings. */
function addressesIn(adapter: Bound, { values }: ResolvedSettings): Places {
  const places = new Map<string, string>();
  for (const [name, spec] of Object.entries(adapter.settings)) {
    const [place, origin] = isAddress(name, spec) ? [placeOf(values[name]), originOf(values[name])] : [];
    if (place !== undefined && origin !== undefined) places.set(place, origin);
  }
  return places;
}

function isAmong(origin: string, places: Places): boolean {
  return [...places.values()].includes(origin);
}

function addTo(origins: Set<string>, origin: string | undefined): void {
  if (origin !== undefined) origins.add(origin);
}

/** The same object if nothing goes. */
function without(settings: ResolvedSettings, secrets: readonly string[], kept: readonly string[]): ResolvedSettings {
  if (kept.length === secrets.length) return settings;
  const gone = Object.fromEntries(secrets.filter((name) => !kept.includes(name)).map((name) => [name, undefined]));
  return { values: Object.freeze({ ...settings.values, ...gone }), sources: Object.freeze({ ...settings.sources, ...gone }) };
}

function notBeside(
  { id, displayName, settings: spec }: Bound,
  { values }: ResolvedSettings,
  { place, origin }: { readonly place: string; readonly origin: string },
  ofEnvironment: Places,
): BlockhouseError {
  const field = Object.keys(spec).find((name) => placeOf(values[name]) === place) ?? 'baseURL';
  const variable = spec[field]?.env?.[0];
  const where = isAmong(origin, ofEnvironment) ? `at another path of ${origin} than the address of the environment` : `at ${origin}`;
  return new BlockhouseError(
    'ADAPTER_NOT_CONFIGURED',
    `${field} of ${displayName} in auth.json is ${where}, and a key that is not in auth.json is not sent there. Store the key beside the address ` +
      `with \`blockhouse auth set ${id}\`,${variable === undefined ? '' : ` or set the address beside the key in ${variable},`} or add the origin to ` +
      `BLOCKHOUSE_ALLOWED_ORIGINS.${BRING_OWN_KEY}`,
    { forKeys: KEY_STAYS },
  );
}
