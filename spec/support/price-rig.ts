// A server with a provider of its own that counts a million tokens for each call, to see what calls cost.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { startServer, type TestServer } from './server.ts';
import { type Answerer, sendJson, startUpstream } from './upstream.ts';

const MESSAGES = [{ role: 'user', content: 'hi' }];
const USAGE = { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000 };
const answer: Answerer = (_request, res) =>
  sendJson(res, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: USAGE });

export interface PriceRig extends TestServer {
  /** What one call of a model has cost. */
  costOf(model: string): Promise<number | null>;
  /** Writes prices.json as a person does. */
  filed(content: unknown): Promise<void>;
}

/** `entry` is what auth.json says of the connection `gpu` besides its address. */
export async function startPriceRig(t: Test, entry: Record<string, unknown> = {}): Promise<PriceRig> {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const gpu = { adapter: 'openai', baseURL: `${upstream.url}/v1`, ...entry };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ gpu }), { mode: 0o600 });
  const filed = async (content: unknown): Promise<void> => {
    writeFileSync(join(server.workspace, 'prices.json'), typeof content === 'string' ? content : JSON.stringify(content));
    await delay(210); // the server looks at the file at most five times a second
  };
  const costOf = async (model: string): Promise<number | null> => {
    const key = `gpu/${model}`;
    const total = async () => (await server.core.accounts?.costs('model'))?.rows.find((row) => row.key === key);
    const before = await total();
    const called = await server.call('POST', '/v1/chat', { body: { adapter: 'gpu', model, messages: MESSAGES, config: { user: String(Math.random()) } } });
    t.equal(called.status, 200, called.text);
    const after = await total();
    return after?.unpricedCalls === (before?.unpricedCalls ?? 0) ? (after?.costUsd ?? 0) - (before?.costUsd ?? 0) : null;
  };
  await delay(210);
  return { ...server, costOf, filed };
}
