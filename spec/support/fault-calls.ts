// Calls of the API into the world of a fault; whatever comes back is searched for canaries.
import type { Test } from 'tap';
import type { FaultWorld } from './fault-world.ts';
import { exchange, type RawResponse } from './raw.ts';
import { until } from './until.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the answer is
  readonly json: any;
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

export function callsOf(world: FaultWorld): Ask {
  return async (method, path, body) => {
    const response = await fetch(world.url + path, {
      method,
      // A kept connection would be a descriptor that is not given back.
      headers: { authorization: `Bearer ${world.token}`, connection: 'close', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    world.heard(`HTTP/1.1 ${response.status}\n${text}`);
    return { status: response.status, headers: response.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
}

/** Bytes as they are on a connection of their own, read until the server closes it. */
export async function exchangeWith(t: Test, world: FaultWorld, bytes: string | Buffer): ReturnType<typeof exchange> {
  const exchanged = await exchange(t, world.port, bytes);
  world.heard(exchanged.received);
  return exchanged;
}

export type RawCase = readonly [title: string, bytes: string | Buffer];

/** Asserts that these bytes have one answer of such a status, with the error body of this server, and end the connection: what stands behind is no request. */
export async function assertRefused(t: Test, world: FaultWorld, [title, bytes]: RawCase, statuses: readonly number[]): Promise<RawResponse | undefined> {
  const { responses } = await exchangeWith(t, world, bytes);
  t.equal(responses.length, 1, `${title}: one answer`);
  const [response] = responses;
  t.ok(statuses.includes(response?.status ?? 0), `${title}: ${response?.status} is ${statuses.join(' or ')}`);
  assertErrorShape(t, title, response);
  return response;
}

export function assertErrorShape(t: Test, title: string, response: RawResponse | undefined): void {
  const body = JSON.parse(response?.body || '{}') as Record<string, unknown>;
  t.strictSame(
    Object.keys(body).filter((field) => field !== 'details'),
    ['error', 'status', 'code', 'requestId'],
    `${title}: the error body`,
  );
  t.equal(body['status'], response?.status, `${title}: with the status of the answer`);
}

export interface Entry {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly status: string;
  readonly replyTo?: string;
}

/** A block on the provider of the test; asserts that it was made. */
export async function makeBlock(t: Test, ask: Ask, name: string, config: object = {}): Promise<void> {
  const made = await ask('POST', '/api/blocks', { name, config: { adapter: { provider: 'ollama', model: 'm' }, ...config } });
  t.equal(made.status, 200, made.text);
}

export async function history(ask: Ask, name: string): Promise<Entry[]> {
  return (await ask('GET', `/api/blocks/${name}/chat`)).json.messages as Entry[];
}

/** Waits until `condition` holds of the conversation, and answers with it. */
export async function untilHistory(ask: Ask, name: string, what: string, condition: (entries: readonly Entry[]) => boolean): Promise<Entry[]> {
  let entries: Entry[] = [];
  let isAsking = false;
  await until(what, () => {
    if (condition(entries)) return true;
    if (!isAsking) {
      isAsking = true;
      void history(ask, name).then((found) => {
        entries = found;
        isAsking = false;
      });
    }
    return false;
  });
  return entries;
}
