// Named upstreams: where each is, whether it could be called, and its keys, which only ever go to the server.
import type { ShownConnection } from '../../../core/types.ts';
import { get } from './http.ts';

export type Connection = ShownConnection;

/** The adapters and all others. Rejects with an ApiError. */
export async function readConnections(): Promise<readonly Connection[]> {
  return (await get<{ readonly connections: readonly Connection[] }>('/api/connections')).connections;
}

/** Those that are no adapter's own. */
export function namedOnly(list: readonly Connection[], adapters: readonly { readonly id: string }[]): readonly Connection[] {
  const own = new Set(adapters.map(({ id }) => id));
  return list.filter(({ name }) => !own.has(name));
}
