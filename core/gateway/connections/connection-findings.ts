// What the doctor says of connections that can't be called, or not with each of their keys, although their entries are sound. Pure: no I/O.
import type { Finding } from '../../schemas/workspace-api.ts';
import type { ShownConnection } from '../../types.ts';

const FILE = 'auth.json';

/**
 * `own` are the names of the adapters: one without a key is not meant to be used, unless its entry names a variable, as those of `named` do. An entry that is wrong is
 * found by itself.
 */
export function connectionFindings(connections: readonly ShownConnection[], own: ReadonlySet<string>, named: ReadonlySet<string>): Finding[] {
  return connections.flatMap(({ name, adapter, ready, detail, keys }) => {
    const isWrong = !own.has(name) && adapter === name;
    const isMeant = own.has(name) ? named.has(name) : !isWrong;
    if (!ready && isMeant) return [warning(`${own.has(name) ? 'the provider' : 'the connection'} ${name} can't be called as it is`, detail ?? '')];
    const unset = keys.filter(({ state }) => state === 'unset').map(({ label, source }) => unsetKey(name, source, label));
    const unsent = keys.filter(({ state }) => state === 'elsewhere').map(({ source }) => source);
    if (unsent.length === 0 || !named.has(name)) return unset;
    return [...unset, warning(`${name} does without the key in ${unsent.join(', ')}`, detail ?? '')];
  });
}

function unsetKey(name: string, source: string, label: string): Finding {
  const fix = `Set it, or remove the key: \`blockhouse auth rm ${name} --key ${label.startsWith('#') ? `'${label}'` : label}\`.`;
  return warning(`${source} is not set, so ${name} does without that key`, fix);
}

function warning(problem: string, fix: string): Finding {
  return { severity: 'warning', place: FILE, problem, fix };
}
