// The providers, whether they can be used, and their keys, which only ever go to the server.
import type { AdapterStatus } from '../../../core/types.ts';
import { call, get } from './http.ts';

/** Where a provider's key is, never the key itself. */
export interface Credential {
  readonly adapter: string;
  readonly configured: boolean;
  readonly source: 'auth.json' | 'env' | 'chain' | null;
  /** The variable that has it. */
  readonly variable?: string;
  /** The last four characters of a long key. */
  readonly hint?: string | null;
  readonly baseURL?: string | null;
}

/** A provider as the page shows it. */
export interface Provider extends AdapterStatus {
  readonly credential: Credential | undefined;
}

/** Rejects with an ApiError. */
export async function readProviders(): Promise<readonly Provider[]> {
  const [{ adapters }, { credentials }] = await Promise.all([
    get<{ readonly adapters: readonly AdapterStatus[] }>('/api/adapters'),
    get<{ readonly credentials: readonly Credential[] }>('/api/credentials'),
  ]);
  return adapters.map((status) => ({ ...status, credential: credentials.find(({ adapter }) => adapter === status.id) }));
}

/** Checks a key with its provider and stores it; `isUnchecked` stores it as it is. Rejects with an ApiError. */
export async function storeCredential(adapter: string, fields: Readonly<Record<string, string>>, isUnchecked = false): Promise<void> {
  await call('PUT', `/api/credentials/${encodeURIComponent(adapter)}${isUnchecked ? '?unchecked=true' : ''}`, { body: fields });
}

/** Takes a stored key away. Rejects with an ApiError. */
export async function removeCredential(adapter: string): Promise<void> {
  await call('DELETE', `/api/credentials/${encodeURIComponent(adapter)}`);
}
