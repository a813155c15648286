import t from 'tap';
import { createAdapters, createStandIn } from '../../adapters/index.ts';
import type { ChatResponse } from '../../core/index.ts';
import { chatCall, joinTexts } from '../support/adapter-call.ts';
import { startServer, until } from '../support/server.ts';

const HI = { messages: [{ role: 'user', content: 'Hi\n  there' }] } as const;

t.test('it says that no model has answered, and what was written', async (t) => {
  const { call, events } = chatCall({ prompt: HI });
  await createStandIn().chat(call);
  t.match(events, [
    { type: 'text', text: /^No model has answered: .*“Hi there”/ },
    { type: 'usage', usage: { inputTokens: 0, outputTokens: 0 } },
    { type: 'stop' },
  ]);
  const long = chatCall({ prompt: { messages: [{ role: 'user', content: 'x'.repeat(301) }] } });
  await createStandIn().chat(long.call);
  t.match(long.events[0], { text: new RegExp(`“${'x'.repeat(300)}…”`) });
});

t.test('a stream has a word at a time, and the words of the whole answer', async (t) => {
  const [whole, streamed] = [chatCall({ prompt: HI }), chatCall({ prompt: HI, stream: true })];
  await createStandIn().chat(whole.call);
  await createStandIn({ wordMs: 0 }).chat(streamed.call);
  t.ok(streamed.events.length > 30, `${streamed.events.length}`);
  t.same(joinTexts(streamed.events), whole.events);
});

t.test('who aborts gets nothing more', async (t) => {
  const aborter = new AbortController();
  const { call, events } = chatCall({ prompt: HI, stream: true, signal: aborter.signal });
  const answer = createStandIn({ wordMs: 1_000_000 }).chat(call);
  await new Promise(setImmediate);
  aborter.abort();
  await t.rejects(answer, { code: 'CANCELLED' });
  t.match(events, { length: 1 });
});

t.test('a slow reader is waited for', async (t) => {
  const { call, events } = chatCall({ prompt: HI, stream: true });
  let resume = (): void => undefined;
  const sink = {
    emit: (fresh: Parameters<typeof call.sink.emit>[0]) => call.sink.emit(fresh) && events.length !== 2,
    onceWritable(then: () => void) {
      resume = then;
    },
  };
  const answer = createStandIn({ wordMs: 0 }).chat({ ...call, sink });
  await until(() => events.length === 2, 'two words');
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  t.equal(events.length, 2);
  resume();
  await answer;
  t.equal(events.at(-1)?.type, 'stop');
});

t.test('a server with it lists the providers alone, and names it where a block can find it', async (t) => {
  const server = await startServer(t, { adapters: [...createAdapters(), createStandIn({ wordMs: 0 })] });
  const { json } = await server.call('GET', '/api/health', { token: false });
  t.same(json['standIn'], { provider: 'stand-in', model: 'stand-in' });
  for (const path of ['/v1/adapters', '/v1/health', '/api/adapters', '/api/gateway', '/api/credentials', '/api/models', '/v1/models', '/api/settings'])
    t.notMatch((await server.call('GET', path)).text, /stand-in/, path);
  const { adapters } = (await server.call('GET', '/v1/adapters')).json as { adapters: { id: string }[] };
  t.same(
    adapters.map(({ id }) => id),
    ['bedrock', 'openai', 'google', 'anthropic', 'ollama'],
  );
  const refused = await server.call('POST', '/v1/chat', { body: { adapter: 'nobody', model: 'm', messages: HI.messages } });
  t.match(refused, { status: 400, json: { error: /use one of bedrock, openai, google, anthropic, ollama/ } });
});

t.test('a chat with it needs no key and no network, and counts no tokens', async (t) => {
  const server = await startServer(t, { adapters: [...createAdapters(), createStandIn({ wordMs: 0 })], env: {} });
  const body = { adapter: 'stand-in', model: 'stand-in', messages: HI.messages };
  const whole = (await server.call('POST', '/v1/chat', { body })).json as unknown as ChatResponse;
  t.match(whole, {
    provider: 'stand-in',
    message: { content: /^No model has answered/ },
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    stopReason: 'end_turn',
  });
  const streamed = await server.call('POST', '/v1/chat', { body: { ...body, stream: true } });
  t.ok(streamed.text.split('event: content').length > 3);
  t.match(streamed.text, /event: done/);
});

t.test('a block with it answers, has spent nothing, which is known and no gap, and leaves nothing but its lines in the ledger', async (t) => {
  const server = await startServer(t, { adapters: [...createAdapters(), createStandIn({ wordMs: 0 })], env: {} });
  const adapter = ((await server.call('GET', '/api/health')).json as { standIn: object }).standIn;
  await server.call('POST', '/api/blocks', { body: { name: 'look', config: { adapter, budget: { dailyUsd: 1 } } } });
  t.equal((await server.call('POST', '/api/blocks/look/start')).status, 200);
  const { json } = await server.call('POST', '/api/blocks/look/chat?wait=60', { body: { message: 'Are you there?' } });
  t.match(JSON.stringify(json), /No model has answered[^"]*Are you there\?/);
  type List = { blocks: { costs: object; why?: string }[] };
  const [entry] = ((await server.call('GET', '/api/blocks')).json as unknown as List).blocks;
  t.match(entry?.costs, { totalInput: 0, totalOutput: 0, totalCost: 0, calls: 1, today: 0 });
  const costs = (await server.call('GET', '/api/costs?by=model')).json;
  t.match(costs, { total: { costUsd: 0 } });
  const { archiveName } = (await server.call('DELETE', '/api/blocks/look')).json;
  t.equal((await server.call('DELETE', `/api/archive/${archiveName}`)).status, 200);
  t.same((await server.call('GET', '/api/blocks')).json, { blocks: [] });
  t.same((await server.call('GET', '/api/archive')).json, { archives: [] });
});
