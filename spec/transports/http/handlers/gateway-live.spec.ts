import { writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { createBlock, RUNNABLE } from '../../../support/block-calls.ts';
import { CHAT, startServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { sendJson } from '../../../support/upstream.ts';

interface Requests {
  readonly live: readonly { readonly requestId: string; readonly phase: string; readonly adapter: string; readonly durationMs: number }[];
  readonly ended: readonly { readonly requestId: string; readonly code?: string; readonly usage: unknown }[];
}

const COMPLETION = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
};

t.test('a connection has figures of its own after those of the providers; one whose entry is wrong has none', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, answer: (_request, res) => sendJson(res, COMPLETION) });
  const entries = { gpu: { adapter: 'openai', baseURL: `${server.upstream.url}/v1` }, wrong: { adapter: 'openai', limits: { inFlight: 'x' } } };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
  t.equal((await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'gpu' } })).status, 200);
  const adapters = (await server.call('GET', '/api/gateway')).json['adapters'] as { id: string; series: { requests: number }[] }[];
  t.same(
    adapters.map(({ id, series }) => [id, series.reduce((sum, { requests }) => sum + requests, 0)]),
    [...server.core.adapterIds().map((id) => [id, 0]), ['gpu', 1]],
  );
});

t.test('case 46: the figures are those of the calls that were made', async (t) => {
  const server = await startServer(t);
  const usage: { input: number; output: number }[] = [];
  server.core.events.on('call.finished', ({ usage: used }) => usage.push({ input: used?.inputTokens ?? 0, output: used?.outputTokens ?? 0 }));
  for (let index = 0; index < 5; index += 1) t.equal((await server.call('POST', '/v1/chat', { body: CHAT })).status, 200);
  for (const window of ['15m', '90m', '24h']) {
    const { json } = await server.call('GET', `/api/gateway?window=${window}`);
    const [adapter] = json['adapters'] as [{ series: { requests: number; input: number; output: number }[]; limits: object; atWork: number; breaker: string }];
    const sum = (name: 'requests' | 'input' | 'output') => adapter.series.reduce((all, point) => all + point[name], 0);
    t.equal(sum('requests'), 5, window);
    t.equal(
      sum('input'),
      usage.reduce((all, { input }) => all + input, 0),
    );
    t.equal(
      sum('output'),
      usage.reduce((all, { output }) => all + output, 0),
    );
    t.match(adapter, { atWork: 0, waiting: 0, breaker: 'closed', openUntil: null });
  }
  t.match(await server.call('GET', '/api/gateway?window=1y'), { status: 400 });
  const { ended, live } = (await server.call('GET', '/api/gateway/requests')).json as unknown as Requests;
  t.equal(live.length, 0);
  t.equal(ended.length, 5);
  t.notOk(JSON.stringify(ended).includes('hi'), 'no text of a message');
});

t.test('a request under way is listed and can be ended; its client is told', async (t) => {
  let isHanging = false;
  const server = await startServer(t, {
    answer: (_request, res) => {
      isHanging = true;
      res.on('close', () => {
        isHanging = false;
      });
    },
  });
  const asked = server.call('POST', '/v1/chat', { body: CHAT, headers: { 'x-request-id': 'mine' } });
  await until('the provider is asked', () => isHanging);
  const { live } = (await server.call('GET', '/api/gateway/requests')).json as unknown as Requests;
  t.match(live, [{ requestId: 'mine', phase: 'sent', adapter: 'ollama' }]);
  t.match(await server.call('DELETE', '/api/gateway/requests/other'), { status: 404 });
  t.match(await server.call('DELETE', '/api/gateway/requests/mine'), { status: 200 });
  t.match((await asked).json, { code: 'CANCELLED' });
  await until('the request to the provider is closed', () => !isHanging);
  t.match((await server.call('GET', '/api/gateway/requests')).json, { live: [], ended: [{ requestId: 'mine', code: 'CANCELLED' }] });
});

t.test('the connection of a request that was ended is not used again, and the next request is served', async (t) => {
  let count = 0;
  const server = await startServer(t, {
    answer: (_request, res) => {
      count += 1;
      if (count > 1) sendJson(res, { model: 'm', message: { role: 'assistant', content: 'hi' }, done: true, done_reason: 'stop' });
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(`${server.url}/v1/chat`, {
        agent,
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', 'x-request-id': 'twin' },
      });
      request.on('error', reject).on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      request.end(JSON.stringify(CHAT));
    });
  const first = ask();
  await until('the provider is asked', () => count === 1);
  t.match(await server.call('DELETE', '/api/gateway/requests/twin'), { status: 200 });
  t.equal(await first, 499);
  t.equal(await ask(), 200);
});

t.test("a block's call is ended by its own message, however late the end comes", async (t) => {
  const open: (() => void)[] = [];
  const server = await startServer(t, {
    answer: (_request, res) => {
      open.push(() => sendJson(res, { model: 'm', message: { role: 'assistant', content: 'Answered.' }, done: true, done_reason: 'stop' }));
    },
  });
  await createBlock(server, 'ada', RUNNABLE);
  await server.call('POST', '/api/blocks/ada/start');
  const post = async (message: string): Promise<string> => (await server.call('POST', '/api/blocks/ada/chat', { body: { message } })).json['id'] as string;
  const listed = async () => ((await server.call('GET', '/api/gateway/requests')).json as unknown as Requests).live;
  const first = await post('one');
  await until('the provider is asked', () => open.length === 1);
  const [call] = await listed();
  // The core knows the call for longer than the answer takes: as if the end had been sent a moment before it.
  const { messageId } = server.core.liveCalls()[0] ?? {};
  t.equal(messageId, first);
  const second = await post('two');
  open[0]?.();
  await until('the second message is answered', () => open.length === 2);
  t.match(await server.call('DELETE', `/api/gateway/requests/${call?.requestId}`), { status: 404 }, 'the first call is over');
  const [next] = await listed();
  t.match(await server.call('DELETE', `/api/gateway/requests/${next?.requestId}`), { status: 200 });
  const statusOf = async (id: string): Promise<unknown> =>
    ((await server.call('GET', `/api/blocks/ada/chat/${id}`)).json['entry'] as { status: string }).status;
  t.equal(await statusOf(first), 'done');
  t.equal(await statusOf(second), 'cancelled');
  const { ended } = (await server.call('GET', '/api/gateway/requests')).json as unknown as { ended: { queuedMs: unknown }[] };
  t.ok(
    ended.every(({ queuedMs }) => typeof queuedMs === 'number'),
    'and how long each has waited for its place is kept',
  );
});
