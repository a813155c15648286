// The sections of auth.json that are no entries of providers: secrets by their owner and their name. Pure: no I/O.
import { isObject } from '../base/json.ts';
import { soundsSecret } from '../schemas/secret-fields.ts';

/** The secrets of the hooks of blocks. */
export const HOOKS = 'hooks';
/** The secrets of servers of tools. */
export const SERVERS = 'mcp';
/** The targets of notifications, with their secrets. */
export const NOTIFY = 'notify';

/** The sign-ins of servers of tools. */
export const OAUTH = 'oauth';

/** True for a name that no provider and no connection has. */
export function isSection(name: string): boolean {
  return name === HOOKS || name === SERVERS || name === NOTIFY || name === OAUTH;
}

/** The content of auth.json, by the names of its entries. */
export type Entries = ReadonlyMap<string, unknown>;

/** The secrets of an owner by their names. */
export function secretsIn(all: Entries, section: string, owner: string): Readonly<Record<string, unknown>> {
  const owners = all.get(section);
  const own = isObject(owners) && Object.hasOwn(owners, owner) ? owners[owner] : undefined;
  return isObject(own) ? Object.assign(Object.create(null), own) : {};
}

/** Replaces the secrets of an owner; without any, the owner goes, and the section with its last one. */
export function setSecrets(all: Map<string, unknown>, section: string, owner: string, secrets: Readonly<Record<string, unknown>>): void {
  const owners = all.get(section);
  const { [owner]: _old, ...others } = isObject(owners) ? owners : {};
  const next = Object.keys(secrets).length === 0 ? others : { ...others, [owner]: { ...secrets } };
  if (Object.keys(next).length === 0) all.delete(section);
  else all.set(section, next);
}

/** All texts that may be secrets: those of the sections, and of entries the fields whose names sound like it. For what must not be shown. */
export function secretTexts(all: Entries): string[] {
  return [...all].flatMap(([name, entry]) => textsIn(entry, name === HOOKS || name === SERVERS, name === NOTIFY ? OF_TARGET : OF_ENTRY));
}

/** Fields besides those whose names sound like a secret. An issuer and a scope are none. */
const OF_ENTRY = 'headers';
/** The path of such an address may be one. */
const OF_TARGET = 'url';

function textsIn(value: unknown, isSecret: boolean, field: string): string[] {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  const isNamed = (name: string): boolean => !Array.isArray(value) && (soundsSecret(name) || name === field);
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, isSecret || isNamed(name), field));
}
