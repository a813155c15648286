// The models that can be called.
import { get } from './http.ts';

/** A model of a provider. */
export interface Model {
  readonly id: string;
  readonly adapter: string;
}

/** Rejects with an ApiError. */
export async function readModels(): Promise<readonly Model[]> {
  return (await get<{ readonly models: readonly Model[] }>('/api/models')).models;
}
