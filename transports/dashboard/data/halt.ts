// The kill switch: while it is set, nothing calls a model.
import { signal } from '@preact/signals';
import type { HaltState } from '../../../core/types.ts';
import { call, get } from './http.ts';

/** Undefined until it is known. */
export const halt = signal<HaltState | undefined>(undefined);

/** Rejects with an ApiError. */
export async function readHalt(): Promise<void> {
  halt.value = await get<HaltState>('/api/halt');
}

/** Sets it with a reason, or releases it. Rejects with an ApiError. */
export async function setHalt(reason: string | undefined): Promise<void> {
  await (reason === undefined ? call('DELETE', '/api/halt') : call('POST', '/api/halt', { body: { reason } }));
  await readHalt();
}
