// Makes entries of auth.json of the deployments: one connection for each address and set of keys. Pure: no I/O.
//
// own-name: the first upstream of a preset, or of a provider at its own address, has that name. Everything else is called after its host.
// one-address: keys that one name shares among its deployments at one address are keys of one connection; other keys at that address make another connection.
import { urlOf } from '../../../core/base/url.ts';
import { type Deployment, type ImportWorld, numberOf } from './deployments.ts';
import { addFacts } from './facts.ts';
import type { ReportBook } from './report.ts';
import { addSettings } from './settings.ts';

type Fields = Record<string, unknown>;

/** The entries, and which connection each deployment has. */
export interface ImportedEntries {
  readonly entries: ReadonlyMap<string, Readonly<Fields>>;
  readonly connectionOf: ReadonlyMap<Deployment, string>;
}

/** One upstream: an address with a set of keys. */
interface Group {
  readonly service: string;
  readonly isPreset: boolean;
  readonly adapter: string;
  readonly baseURL: string | undefined;
  readonly members: { readonly deployment: Deployment; readonly key: string }[];
}

const MAX_KEYS = 32;
const PARAMS = 'litellm_params';
export function makeEntries(deployments: readonly Deployment[], world: ImportWorld, book: ReportBook): ImportedEntries {
  const entries = new Map<string, Fields>();
  const connectionOf = new Map<Deployment, string>();
  for (const group of groupsOf(deployments, world, book)) {
    const name = freeName(group, entries);
    const entry = entryOf(name, group, world, book);
    entries.set(name, entry);
    for (const { deployment } of group.members) connectionOf.set(deployment, name);
  }
  // A provider whose key is where it is looked for anyway needs no entry.
  const needed = [...entries].filter(([name, entry]) => Object.keys(entry).length > 0 || world.preset(name) !== undefined);
  return { entries: new Map(needed), connectionOf };
}

/** one-address. */
function groupsOf(deployments: readonly Deployment[], world: ImportWorld, book: ReportBook): Group[] {
  const groups: Group[] = [];
  for (const deployment of deployments) {
    const { service, isPreset, adapter } = deployment;
    const baseURL = addressOf(deployment, world, book);
    const key = keyOf(deployment, book);
    const there = groups.filter((group) => group.service === service && group.baseURL === baseURL);
    const shares = (group: Group): boolean =>
      group.members.some((member) => member.key === key || (member.deployment.name === deployment.name && member.deployment.model === deployment.model));
    const [first, ...more] = there.filter(shares);
    if (first === undefined) {
      groups.push({ service, isPreset, adapter, baseURL, members: [{ deployment, key }] });
      continue;
    }
    first.members.push({ deployment, key }, ...more.flatMap(({ members }) => members));
    for (const joined of more) groups.splice(groups.indexOf(joined), 1);
  }
  return groups;
}

/** Undefined for the address that the service has anyway. */
function addressOf({ path, params, service, isPreset }: Deployment, world: ImportWorld, book: ReportBook): string | undefined {
  const name = params['api_base'] === undefined ? 'base_url' : 'api_base';
  const given = params[name];
  const place = `${path}.${PARAMS}.${name}`;
  if (given === undefined) return undefined;
  const url = urlOf(typeof given === 'string' ? given : '');
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    book.left(place, 'It is no plain http or https address; an address in a variable has to be written out. Set baseURL in auth.json.');
    return undefined;
  }
  const preset = isPreset ? world.preset(service) : undefined;
  // Where every account has a host of its own, the path is the same for all.
  const path2 = url.pathname === '/' && preset?.baseURLForm != null ? preset.baseURLForm.replace(/^https?:\/\/[^/]*/, '') : url.pathname;
  const address = `${url.origin}${path2.replace(/\/+$/, '')}`;
  if (address === preset?.baseURL) {
    book.taken(place, `the address of the preset ${service}`);
    return undefined;
  }
  if (address === String(given).replace(/\/+$/, '')) book.taken(place, 'baseURL');
  else book.changed(place, 'baseURL, with the path of the preset');
  return address;
}

/** What tells keys apart: `env NAME`, `text …`, or nothing for the variable that the service has anyway. */
function keyOf({ path, params }: Deployment, book: ReportBook): string {
  const given = params['api_key'];
  if (typeof given !== 'string' || given === '') return '';
  const [, variable] = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]{0,127})$/.exec(given) ?? [];
  if (variable !== undefined) return `env ${variable}`;
  if (/^[\x21-\x7e]{1,8192}$/.test(given) && !given.startsWith('os.environ/')) return `text ${given}`;
  book.left(`${path}.${PARAMS}.api_key`, 'It is no key: ASCII without blanks, or os.environ/ with the name of a variable.');
  return '';
}

/** own-name. */
function freeName({ service, isPreset, baseURL }: Group, taken: ReadonlyMap<string, unknown>): string {
  if ((isPreset || baseURL === undefined) && !taken.has(service)) return service;
  const host = baseURL === undefined ? service : new URL(baseURL).hostname;
  const wanted = host
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^(?=[^a-z])/, 'at-')
    .slice(0, 28)
    .replace(/-+$/, '');
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!taken.has(name)) return name;
  }
}

function entryOf(name: string, group: Group, world: ImportWorld, book: ReportBook): Fields {
  const { service, isPreset, adapter, baseURL, members } = group;
  const entry: Fields = {
    ...(isPreset && name !== service && { preset: service }),
    ...(!isPreset && name !== adapter && { adapter }),
    ...(baseURL !== undefined && { baseURL }),
  };
  for (const { deployment } of members) tellModel(name, deployment, book);
  addKeys(entry, name, group, world, book);
  for (const { deployment } of members) {
    addSettings(entry, deployment, world, book);
    addFacts(entry, deployment, book);
  }
  return entry;
}

function tellModel(name: string, { path, params, model }: Deployment, book: ReportBook): void {
  book.taken(`${path}.${PARAMS}.model`, `${name}/${model}`);
  if (params['api_version'] !== undefined) book.left(`${path}.${PARAMS}.api_version`, 'The address without a version is used.');
}

function addKeys(entry: Fields, name: string, { service, isPreset, adapter, members }: Group, world: ImportWorld, book: ReportBook): void {
  const usual = name !== service ? [] : isPreset ? [world.preset(service)?.variable] : (world.settingsOf(adapter)['apiKey']?.env ?? []);
  const keys = new Map<string, Deployment[]>();
  for (const { deployment, key } of members) keys.set(key, [...(keys.get(key) ?? []), deployment]);
  const several = [...keys].filter(([key]) => key !== '');
  const fieldsOf = (key: string): Fields => (key.startsWith('env ') ? { apiKeyEnv: key.slice(4) } : { apiKey: key.slice(5) });
  for (const [index, [key, deployments]] of several.entries()) {
    const note = key.startsWith('env ') ? `the variable ${key.slice(4)}` : 'apiKey';
    for (const { path } of deployments)
      if (index < MAX_KEYS) book.taken(`${path}.${PARAMS}.api_key`, `${note} of ${name}`);
      else book.left(`${path}.${PARAMS}.api_key`, `A connection has at most ${MAX_KEYS} keys.`);
  }
  const [only, ...more] = several;
  const variable = isPreset && entry['baseURL'] !== undefined ? world.preset(service)?.variable : undefined;
  if (only === undefined) {
    const place = ({ path, params }: Deployment): string => `${path}.${PARAMS}.${params['api_base'] === undefined ? 'base_url' : 'api_base'}`;
    if (variable != null) for (const { deployment } of members) book.changed(place(deployment), `baseURL, where the variable ${variable} of the preset goes`);
    if (!isPreset && entry['baseURL'] !== undefined) {
      entry['auth'] = 'none';
      const note = 'baseURL, without a key: a key in the environment goes to its own service alone';
      for (const { deployment } of members) book.changed(place(deployment), note);
    }
  } else if (more.length > 0)
    entry['keys'] = several
      .slice(0, MAX_KEYS)
      .map(([key, deployments]) => ({ ...fieldsOf(key), ...weightOf(deployments, book), ...inFlightOf(deployments, book) }));
  else if (!(usual as readonly unknown[]).includes(only[0].slice(4)) || only[0].startsWith('text ')) Object.assign(entry, fieldsOf(only[0]));
  if (more.length === 0) {
    const { inFlight } = inFlightOf(
      members.map(({ deployment }) => deployment),
      book,
    );
    if (inFlight !== undefined) entry['limits'] = { inFlight };
  }
}

function weightOf(deployments: readonly Deployment[], book: ReportBook): { readonly weight?: number } {
  const [{ path, params } = { path: '', params: {} as Deployment['params'] }, ...others] = deployments;
  const weight = numberOf(params['weight']);
  if (others.length > 0 || weight === undefined || !Number.isInteger(weight) || weight < 1 || weight > 1000) return {};
  book.taken(`${path}.${PARAMS}.weight`, 'the weight of the key');
  return { weight };
}

/** The largest of several. */
function inFlightOf(deployments: readonly Deployment[], book: ReportBook): { readonly inFlight?: number } {
  const counts = deployments.flatMap(({ path, params }) => {
    const count = numberOf(params['max_parallel_requests']);
    if (count === undefined || !Number.isInteger(count) || count < 1 || count > 100_000) return [];
    book.taken(`${path}.${PARAMS}.max_parallel_requests`, 'inFlight');
    return [count];
  });
  return counts.length === 0 ? {} : { inFlight: Math.max(...counts) };
}
