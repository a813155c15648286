// Calls through `Upstream`, for the specs of the connection.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import { Upstream, type UpstreamRequest } from '../../adapters/outbound/client.ts';
import { BlockhouseError, type ErrorCode } from '../../core/index.ts';
import { adapterCall, Collector } from './adapter-call.ts';

export function newUpstream(t: Test): Upstream {
  const upstream = new Upstream();
  t.teardown(() => upstream.close());
  return upstream;
}

export function get(url: URL | string): UpstreamRequest {
  return { method: 'GET', url: new URL(url), headers: {} };
}

export function post(url: URL | string, body = '{}'): UpstreamRequest {
  return { method: 'POST', url: new URL(url), headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
}

/** The error that a call ends with. */
export async function failure(promise: Promise<void>): Promise<BlockhouseError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BlockhouseError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

export async function refused(t: Test, promise: Promise<void>, code: ErrorCode, more: Record<string, unknown> = {}): Promise<BlockhouseError> {
  const error = await failure(promise);
  t.match(error, { code, ...more });
  return error;
}

/** Sends and waits until the connection may be used again, which is some turns of the event loop after the answer. */
export async function sendThenIdle(upstream: Upstream, request: UpstreamRequest): Promise<void> {
  await upstream.send(adapterCall(), request, new Collector());
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}
