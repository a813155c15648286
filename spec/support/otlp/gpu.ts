// The connection `gpu` of a traced server, which speaks OpenAI's protocol, and what its calls have that no span may have.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../until.ts';
import { sendJson } from '../upstream.ts';
import type { ReceivedSpan } from './collector.ts';
import { startTraced, type Traced, type TracedOptions } from './traced.ts';

export const SECRET = 'the words of the prompt';
export const ANSWER = 'the words of the answer';
export const KEYS = ['sk-test-first-secret', 'sk-test-second-secret'];
export const TWO_KEYS = { keys: KEYS.map((value, index) => ({ label: `k${index}`, apiKey: value })) };
export const COMPLETION = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: ANSWER } }],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } },
};
export const BODY = { adapter: 'gpu', model: 'm', messages: [{ role: 'user', content: SECRET }] };

export async function startGpu(t: Test, options: TracedOptions = {}, entry: object = {}): Promise<Traced> {
  const server = await startTraced(t, { answer: (_request, res) => sendJson(res, COMPLETION), ...options });
  const gpu = { adapter: 'openai', api: 'chat', baseURL: `${server.upstream.url}/v1`, models: { m: { price: { input: 1, output: 10 } } }, ...entry };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ gpu }), { mode: 0o600 });
  return server;
}

/** Resolves once the collector has so many. */
export async function spansOf({ collector }: Traced, count: number): Promise<readonly ReceivedSpan[]> {
  await until(`${count} spans are with the collector`, () => collector.spans.length >= count);
  return collector.spans;
}
