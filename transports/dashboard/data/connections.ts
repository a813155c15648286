// Named upstreams: where each is, whether it could be called, and its keys, which only ever go to the server.
import type { ChangeEntryKey, DetectedServer, EntryKey, ShownConnection, ShownPreset, VerifyResult } from '../../../core/types.ts';
import { call, get, inOneTurn, post } from './http.ts';

export type Connection = ShownConnection;
export type ConnectionKey = Connection['keys'][number];
export type Preset = ShownPreset;

/** The adapters and all others. Rejects with an ApiError. */
export const readConnections = inOneTurn(async () => (await get<{ readonly connections: readonly Connection[] }>('/api/connections')).connections);

/** Rejects with an ApiError. */
export async function readPresets(): Promise<readonly Preset[]> {
  return (await get<{ readonly presets: readonly Preset[] }>('/api/presets')).presets;
}

/** The local servers that answer. Rejects with an ApiError. */
export async function detectServers(): Promise<readonly DetectedServer[]> {
  return (await post<{ readonly servers: readonly DetectedServer[] }>('/api/connections/detect')).servers;
}

/** Asks the server of a connection; that it refuses is an answer. Rejects with an ApiError. */
export async function verifyConnection(name: string): Promise<VerifyResult> {
  return (await call<VerifyResult>('POST', `/v1/adapters/${encodeURIComponent(name)}/verify`, { body: {}, accepts: 503 })).data;
}

/** Fields of an entry; null takes one away. */
export type EntryChange = Readonly<Record<string, unknown>>;

/** Checks what would be stored with its server, and stores it; `isUnchecked` stores it as it is. Rejects with an ApiError. */
export async function storeConnection(name: string, change: EntryChange, isUnchecked: boolean): Promise<void> {
  await call('PUT', `${pathOf(name)}${isUnchecked ? '' : '?checked=true'}`, { body: change });
}

/** Rejects with an ApiError. */
export async function removeConnection(name: string): Promise<void> {
  await call('DELETE', pathOf(name));
}

/** Adds a key beside those of a connection, after its server has taken it, or as it is. Rejects with an ApiError. */
export async function addKey(name: string, key: EntryKey, isUnchecked: boolean): Promise<void> {
  await call('POST', `${pathOf(name)}/keys${isUnchecked ? '' : '?checked=true'}`, { body: key });
}

/** Rejects with an ApiError. */
export async function changeKey(name: string, label: string, change: ChangeEntryKey): Promise<void> {
  await call('PATCH', `${pathOf(name)}/keys/${encodeURIComponent(label)}`, { body: change });
}

/** Rejects with an ApiError. */
export async function removeKey(name: string, label: string): Promise<void> {
  await call('DELETE', `${pathOf(name)}/keys/${encodeURIComponent(label)}`);
}

function pathOf(name: string): string {
  return `/api/connections/${encodeURIComponent(name)}`;
}

/** Those that are no adapter's own. */
export function namedOnly(list: readonly Connection[], adapters: readonly { readonly id: string }[]): readonly Connection[] {
  const own = new Set(adapters.map(({ id }) => id));
  return list.filter(({ name }) => !own.has(name));
}

/** What a person types for a new connection, but for its key. */
export interface NewConnection {
  readonly name: string;
  /** Empty for a server of one's own. */
  readonly preset: string;
  /** The protocol of a server of one's own. */
  readonly adapter: string;
  readonly baseURL: string;
}

/** As the server's own rule. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** What can't be stored, by field: a name of another form or one that is taken, and a missing address. */
export function faultsOf(
  { name, baseURL }: NewConnection,
  preset: Preset | undefined,
  taken: ReadonlySet<string>,
): { readonly name?: 'form' | 'taken'; readonly baseURL?: 'missing' } {
  const isNamed = NAME.test(name) && name !== 'block';
  const fault = taken.has(name) ? ('taken' as const) : undefined;
  const nameFault = isNamed ? fault : ('form' as const);
  const needsAddress = preset === undefined || preset.baseURL === null;
  return { ...(nameFault !== undefined && { name: nameFault }), ...(needsAddress && baseURL === '' && { baseURL: 'missing' as const }) };
}

/** The entry of a new connection. Without a key, a preset takes its variable, and a server of one's own needs none. */
export function entryOf({ name, preset, adapter, baseURL }: NewConnection, apiKey: string): EntryChange {
  return {
    ...(preset === '' ? { adapter } : preset !== name && { preset }),
    ...(baseURL !== '' && { baseURL }),
    ...(apiKey !== '' && { apiKey }),
    ...(preset === '' && apiKey === '' && { auth: 'none' }),
  };
}

/** What changes of an entry; a typed key takes the place of all that it has. Undefined where nothing does. */
export function changeOf(before: Connection, baseURL: string, apiKey: string): EntryChange | undefined {
  const change = {
    ...(baseURL !== '' && baseURL !== before.baseURL && { baseURL }),
    ...(apiKey !== '' && { apiKey, apiKeyEnv: null, keys: null, auth: null }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** The key itself as it is typed, with its terms; a term that is empty or no number is left to the server's default. */
export function keyOf(apiKey: string, typed: KeyTerms): EntryKey {
  return { apiKey, ...(typed.label !== '' && { label: typed.label }), ...termsIn(typed) };
}

/** What a person types of a key, beside the key itself. */
export interface KeyTerms {
  readonly label: string;
  readonly weight: string;
  readonly inFlight: string;
}

export const NO_TERMS: KeyTerms = { label: '', weight: '', inFlight: '' };

/** The terms of a key as a person would type them. The label that the server makes for a key without one is no label of its own. */
export function termsOf({ label, weight, maxInFlight }: ConnectionKey): KeyTerms {
  return {
    label: /^[a-z0-9-]+$/.test(label) ? label : '',
    weight: weight === 1 ? '' : String(weight),
    inFlight: maxInFlight === null ? '' : String(maxInFlight),
  };
}

/** The change of a key to what is typed; what is empty goes back to the server's default. */
export function keyChangeOf(key: ConnectionKey, typed: KeyTerms): ChangeEntryKey {
  return { ...(typed.label !== termsOf(key).label && { label: typed.label === '' ? null : typed.label }), weight: null, inFlight: null, ...termsIn(typed) };
}

/** The server says what is wrong with a number. */
function termsIn({ weight, inFlight }: KeyTerms): { readonly weight?: number; readonly inFlight?: number } {
  return { ...(weight !== '' && { weight: Number(weight) }), ...(inFlight !== '' && { inFlight: Number(inFlight) }) };
}
