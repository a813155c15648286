// Figures and requests of the gateway, read again while somebody looks.
import type { GatewayFigures, GatewayRequests } from '../../../core/types.ts';
import { call, get } from './http.ts';

/** Windows of the figures, and their names. */
export const WINDOWS = ['15m', '90m', '24h'] as const;
export type Window = (typeof WINDOWS)[number];

/** Rejects with an ApiError. */
export async function readFigures(window: Window): Promise<GatewayFigures> {
  return get<GatewayFigures>(`/api/gateway?window=${window}`);
}

/** Rejects with an ApiError. */
export async function readRequests(): Promise<GatewayRequests> {
  return get<GatewayRequests>('/api/gateway/requests');
}

/** Rejects with an ApiError. */
export async function endRequest(id: string): Promise<void> {
  await call('DELETE', `/api/gateway/requests/${encodeURIComponent(id)}`);
}
