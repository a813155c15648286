// Compares what an adapter sends with what the provider's official SDK sends for the same meaning. Every difference is either a
// defect or listed in the spec with its reason; a listed difference that is gone is a failure too. docs/adapters.md explains them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { type Adapter, type ChatRequest, createCore, type Environment } from '../../core/index.ts';
import { testFolder } from '../support/test-folder.ts';
import { type FakeUpstream, type RecordedRequest, sendJson, startUpstream } from '../support/upstream.ts';

/** A path of the request (`body.tools[0].strict`, `headers.accept`) → why it differs. */
export type Differences = Readonly<Record<string, string>>;

/** Records requests and answers each with an error: what was asked is all that counts here. */
export function startRecorder(t: Test): Promise<FakeUpstream> {
  return startUpstream(t, (_request, res) => sendJson(res, { error: { message: 'recorded', type: 'recorded' } }, 400));
}

/** What `run` made an SDK or an adapter send; the 400 that it got for it is expected. */
export async function recorded(recorder: FakeUpstream, run: () => Promise<unknown>): Promise<RecordedRequest> {
  const before = recorder.requests.length;
  await run().then(
    () => undefined,
    () => undefined,
  );
  const request = recorder.requests[before];
  if (request === undefined) throw new Error('nothing was sent');
  return request;
}

export interface Ours {
  readonly create: () => Adapter;
  readonly env: Environment;
  readonly stored?: Record<string, Record<string, string>>;
}

/** What our adapter sends for a request. */
export async function ours(t: Test, recorder: FakeUpstream, { create, env, stored }: Ours, request: ChatRequest): Promise<RecordedRequest> {
  const workspace = testFolder(t);
  if (stored !== undefined) writeFileSync(join(workspace, 'auth.json'), JSON.stringify(stored));
  const core = createCore({ workspace, adapters: [create()], env, retries: 0 });
  t.teardown(() => core.close());
  return recorded(recorder, async () => {
    if (!request.stream) return core.chat(request);
    for await (const event of core.stream(request)) if (event.type === 'done') return event;
    return undefined;
  });
}

/** The union of both sides' differing paths must be exactly the listed ones. */
export function compare(t: Test, mine: RecordedRequest, theirs: RecordedRequest, headers: readonly string[], differences: Differences): void {
  const [a, b] = [facts(mine, headers), facts(theirs, headers)];
  const paths = [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).sort();
  t.same(paths, Object.keys(differences).sort(), 'the differences are the listed ones');
}

function facts(request: RecordedRequest, headers: readonly string[]): Map<string, string> {
  const all = new Map<string, string>([
    ['method', request.method],
    ['path', request.path],
  ]);
  for (const name of headers) all.set(`headers.${name}`, String(request.headers[name]));
  flatten('body', request.body === '' ? undefined : parseJson(request.body), all);
  return all;
}

function flatten(path: string, value: unknown, into: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) into.set(path, JSON.stringify(value));
    return;
  }
  const entries = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : Object.entries(value).map(([key, item]) => [`${path}.${key}`, item] as const);
  if (entries.length === 0) into.set(path, Array.isArray(value) ? '[]' : '{}');
  for (const [inner, item] of entries) flatten(inner, item, into);
}

/** One conversation that uses everything: system, settings, tools, two calls, two results. */
export const SCHEMA = { type: 'object', properties: { city: { type: 'string', description: 'A city' } }, required: ['city'] };

export function rounds(adapter: string, model: string): ChatRequest {
  return {
    adapter,
    model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'weather in Oslo and Rome?' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [
          { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } },
          { id: 'call_2', name: 'get_weather', arguments: { city: 'Rome' } },
        ],
      },
      {
        role: 'tool',
        toolResults: [
          { toolCallId: 'call_1', content: '3 C' },
          { toolCallId: 'call_2', content: 'no data', isError: true },
        ],
      },
      { role: 'user', content: 'and tomorrow?' },
    ],
    tools: [{ name: 'get_weather', description: 'Weather of a city', parameters: SCHEMA }],
    config: { maxTokens: 100, temperature: 0.5 },
  };
}
