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

/** provider/model and connection/model of each; the bare ids of one provider or connection with `of`. An alias is no model of a provider, and is left out. */
export function modelNames(models: readonly Model[], of?: string): readonly string[] {
  const full = models.flatMap(({ id, adapter }) => (id.startsWith(`${adapter}/`) ? [id] : []));
  return of === undefined ? full : full.flatMap((name) => (name.startsWith(`${of}/`) ? [name.slice(of.length + 1)] : []));
}
