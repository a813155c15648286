// Figures and requests of the gateway, read again while somebody looks.
import type { GatewayFigures, GatewayRequestDetail, GatewayRequests } from '../../../core/types.ts';
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
export async function readRequest(id: string): Promise<GatewayRequestDetail> {
  return get<GatewayRequestDetail>(`/api/gateway/requests/${encodeURIComponent(id)}`);
}

export type CallOfRequest = GatewayRequestDetail['calls'][number];
export type Attempt = CallOfRequest['attempts'][number];
export type BodiesOfRequest = GatewayRequestDetail['bodies'][number];

/** A stretch of a call, in percent of its whole time: waiting, at work, answering. */
export interface Stretch {
  readonly tone: 'wait' | 'first' | 'text';
  readonly width: number;
}

/** Each attempt as stretches of the time of its call: the wait before it, until its first text, and its answer. */
export function stretchesOf({ attempts, durationMs }: Pick<CallOfRequest, 'attempts' | 'durationMs'>): readonly (readonly Stretch[])[] {
  const width = (ms: number): number => (durationMs <= 0 ? 0 : Math.max(0, Math.min(100, (ms / durationMs) * 100)));
  return attempts.map(({ sentMs, firstTextMs, endedMs }) => {
    const end = endedMs ?? durationMs;
    const first = firstTextMs ?? end;
    return [
      { tone: 'wait', width: width(sentMs) },
      { tone: 'first', width: width(first - sentMs) },
      { tone: 'text', width: width(end - first) },
    ];
  });
}

/** JSON with line breaks; any other text as it is. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Rejects with an ApiError. */
export async function endRequest(id: string): Promise<void> {
  await call('DELETE', `/api/gateway/requests/${encodeURIComponent(id)}`);
}
