import t from 'tap';
import { CHAT, startServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';

interface Requests {
  readonly live: readonly { readonly requestId: string; readonly phase: string; readonly adapter: string; readonly durationMs: number }[];
  readonly ended: readonly { readonly requestId: string; readonly code?: string; readonly usage: unknown }[];
}

t.test('case 46: the figures are those of the calls that were made', async (t) => {
  const server = await startServer(t);
  const usage: { input: number; output: number }[] = [];
  server.core.events.on('chat.finished', ({ usage: used }) => usage.push({ input: used?.inputTokens ?? 0, output: used?.outputTokens ?? 0 }));
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
