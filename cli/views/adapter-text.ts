// Providers and whether they can be used, as text. Pure: no I/O.
import type { AdapterStatus, ShownConnection } from '../../core/index.ts';
import { type Cell, type Column, table } from '../terminal/layout.ts';
import { oneLine, type Paint, type Style } from '../terminal/output.ts';
import type { View } from './block-text.ts';

const ADAPTERS: readonly Column[] = [
  { title: '' },
  { title: 'ID' },
  { title: 'STATE', min: 20 },
  { title: 'DEFAULT MODEL', min: 12 },
  { title: 'NAME', min: 12, drop: 1 },
];

/** A mark: `●` can be used, `◌` may be, `○` can not. */
export function mark({ ready, problem }: Pick<AdapterStatus, 'ready' | 'problem'>): string {
  if (ready) return '●';
  return problem === 'unchecked' ? '◌' : '○';
}

/** The state of a provider in a few words, such as `has a key`. */
export function readiness({ ready, hasSecret, authRequired, problem, detail, envVars }: AdapterStatus): string {
  if (ready) return hasSecret ? 'has a key' : authRequired ? 'credentials found' : 'answers, needs no key';
  if (problem === 'unchecked') return 'looks for credentials at the first call';
  if (problem === 'unreachable') return authRequired ? 'no credentials found in time' : 'does not answer';
  if (problem === 'credential') return authRequired && envVars[0] !== undefined ? `no key yet (${envVars[0]})` : 'no credentials found';
  return oneLine(detail ?? 'its settings are invalid');
}

/** True for an entry that can't be used as it is: of a sound one the adapter is another name. */
export function isWrong({ name, adapter }: Pick<ShownConnection, 'name' | 'adapter'>): boolean {
  return name === adapter;
}

/** The state of a connection in a few words. */
export function connectionState({ name, adapter, ready, detail, keys, preset, baseURL }: ShownConnection): string {
  if (isWrong({ name, adapter })) return 'wrong entry';
  const unset = keys.filter(({ state }) => state === 'unset');
  if (ready) {
    const rest = unset.length === 0 ? '' : `, ${unset.length} not set`;
    return keys.length === 0 ? 'needs no key' : keys.length === 1 ? 'has a key' : `has ${keys.length} keys${rest}`;
  }
  if (unset[0] !== undefined) return `no key yet (${unset[0].source})`;
  if (preset !== null && baseURL === null) return 'no address yet';
  return keys.length === 0 && preset !== null ? 'no key yet' : oneLine(detail ?? 'can not be used');
}

/** What it is built on and where it leads, or what is wrong with its entry. */
function connectionText({ name, adapter, detail, preset, baseURL }: ShownConnection): string {
  if (isWrong({ name, adapter })) return oneLine(detail ?? '');
  const what = preset === null || preset === name ? `speaks ${adapter}` : `${preset}, speaks ${adapter}`;
  return `${what}${baseURL === null ? '' : `, ${baseURL}`}`;
}

/** The table of `providers`: behind the providers that every server has, the connections of auth.json. */
export function adapterTable(adapters: readonly AdapterStatus[], view: Omit<View, 'now'>, connections: readonly ShownConnection[] = []): string[] {
  const own = connections.map((connection): Cell[] => {
    const { name, ready } = connection;
    const paint = ready ? view.style.good : view.style.dim;
    return [{ text: ready ? '●' : '○', paint }, name, { text: connectionState(connection), paint }, '-', connectionText(connection)];
  });
  const rows = adapters.map((adapter): Cell[] => {
    const paint = paintOf(adapter, view.style);
    return [{ text: mark(adapter), paint }, adapter.id, { text: readiness(adapter), paint }, adapter.defaultModel, adapter.displayName];
  });
  return table(ADAPTERS, [...rows, ...own], view);
}

/** The colour of its line: green only for one that can be used. */
export function paintOf({ ready }: Pick<AdapterStatus, 'ready'>, { good, dim }: Style): Paint {
  return ready ? good : dim;
}
