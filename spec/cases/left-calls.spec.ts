// Clients that leave while their key has a cap: what the provider bills is counted, whether anybody has waited for it or not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { CoreEvents } from '../../core/bus.ts';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { CLIENTS, type Fields } from '../support/dialect-clients.ts';
import type { TestServerOptions } from '../support/server.ts';
import { gate } from '../support/stepped-adapter.ts';
import { swept, sweep } from '../support/sweep.ts';
import { until } from '../support/until.ts';
import { sendJson } from '../support/upstream.ts';
import { startWireServer, WIRES, type WireServer } from '../support/wire-server.ts';

/** Of which 20,000 tokens were reasoning that no frame shows. */
const HIDDEN: Meaning = { text: ['Hel', 'lo'], toolCalls: [], stop: 'end_turn', usage: { input: 12, output: 20_002 } };
const BILLED = 20_014;
const MAX = 100;

interface Held extends WireServer {
  readonly key: string;
  readonly ends: CoreEvents['call.finished'][];
  /** Answers of the provider that had begun, and of those the ones whose connection was closed before their end. */
  readonly counts: { begun: number; cut: number };
  /** Lets the provider go on. */
  goOn(): void;
  /** What its key has spent since `next`. */
  spent(): Promise<number>;
  /** The same server for a next client, which has seen no call yet. */
  next(moment: Moment): Promise<void>;
}

/** When the client leaves, as the provider sees it: with its request alone, or with its answer begun. */
type Moment = 'before the answer' | 'in the answer';

interface HeldOptions extends TestServerOptions {
  readonly cap?: number | null;
  readonly native?: boolean;
  /** True breaks the answer off where it was held. */
  readonly isCut?: boolean;
  readonly meaning?: Meaning;
}

async function held(
  t: Test,
  wire: Wire,
  first: Moment,
  { cap = 1_000_000, native = true, isCut = false, meaning = HIDDEN, ...options }: HeldOptions = {},
): Promise<Held> {
  let { opened, open } = gate();
  let [moment, before] = [first, 0];
  const counts = { begun: 0, cut: 0 };
  const server = await startWireServer(
    t,
    wire,
    async (request, res) => {
      if (request.method === 'GET') return void res.end('{}');
      res.once('close', () => {
        if (!res.writableEnded) counts.cut += 1;
      });
      const streamed = /stream/i.test(request.path) || request.body.includes('"stream":true');
      const { type } = streamed ? wire.stream(meaning) : wire.whole(meaning);
      const frames = streamed ? wire.stream(meaning).frames : [wire.whole(meaning).body];
      if (moment === 'in the answer') {
        res.writeHead(200, { 'content-type': type });
        if (streamed) for (const frame of frames.slice(0, -3)) res.write(frame);
        else res.write(frames[0]?.subarray(0, 4));
      }
      counts.begun += 1;
      await opened;
      if (isCut) return void res.destroy();
      if (!res.headersSent) res.writeHead(200, { 'content-type': type });
      if (moment === 'before the answer') for (const frame of frames) res.write(frame);
      else if (streamed) for (const frame of frames.slice(-3)) res.write(frame);
      else res.write(frames[0]?.subarray(4));
      res.end();
    },
    { http: { sse: { openAfterMs: 3_600_000 } }, ...options },
  );
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ native: { [wire.adapter]: native } }));
  const key = (await server.core.keys?.create('app', { tokensPerDay: cap })) ?? '';
  const ends: CoreEvents['call.finished'][] = [];
  server.core.events.on('call.finished', (fact) => ends.push(fact));
  const all = async () => (await server.core.accounts?.spentToday('app'))?.tokens ?? 0;
  const next = async (another: Moment): Promise<void> => {
    ({ opened, open } = gate());
    [moment, before] = [another, await all()];
    Object.assign(counts, { begun: 0, cut: 0 });
    ends.length = 0;
  };
  return { ...server, key, ends, counts, goOn: () => open(), spent: async () => (await all()) - before, next };
}

/** Sends, waits until the provider has begun, leaves, and waits until the server knows. */
async function leave({ open, key, counts, log }: Held, path: string, body: object, headers: Record<string, string> = {}): Promise<void> {
  const { begun } = counts;
  const request = open('POST', path, { token: false, headers: { authorization: `Bearer ${key}`, ...headers }, body });
  await until('the provider has begun', () => counts.begun > begun);
  const lines = log.length;
  request.destroy();
  await until('the server knows', () => log.length > lines);
}

t.test('what a client leaves is read on with every provider, and counts what the provider reports', async (t) => {
  for (const wire of WIRES) {
    const server = await held(t, wire, 'in the answer');
    for (const stream of [true, false])
      for (const moment of ['before the answer', 'in the answer'] as const) {
        const title = `${wire.name}, ${stream ? 'stream' : 'whole'}, left ${moment}`;
        await server.next(moment);
        await leave(server, '/v1/chat', server.chat({ stream }));
        t.equal(server.ends.length, 0, `${title}: it is still under way`);
        t.equal(server.core.liveCalls().length, 1);
        t.equal(server.core.load(wire.adapter).atWork, 1, `${title}: in its place`);
        server.goOn();
        await until('the call has ended', () => server.ends.length === 1);
        t.match(server.ends, [{ code: 'CANCELLED', usage: { inputTokens: 12, outputTokens: 20_002 } }], title);
        t.notOk(server.ends[0]?.usage?.estimated, title);
        t.equal(await server.spent(), BILLED, title);
        t.equal(server.counts.cut, 0, title);
      }
  }
});

t.test('a stream in a protocol of clients is read on as well, passed on as it is or translated', async (t) => {
  for (const wire of WIRES)
    for (const native of [true, false]) {
      const clients = CLIENTS.filter((client) => !native || client.native === wire.name);
      if (clients.length === 0) continue;
      const server = await held(t, wire, 'in the answer', { native });
      for (const client of clients) {
        const title = `${client.id} to ${wire.name}, ${native ? 'native' : 'translated'}`;
        await server.next('in the answer');
        for (const stream of [true, false]) await leave(server, client.path, client.ask(`${wire.adapter}/${wire.model}`, { stream }));
        t.equal(server.ends.length, 0, title);
        server.goOn();
        await until('the calls have ended', () => server.ends.length === 2);
        t.equal(await server.spent(), 2 * BILLED, title);
        t.same(
          server.ends.map(({ usage, code }) => [usage?.estimated, code]),
          [
            [undefined, 'CANCELLED'],
            [undefined, 'CANCELLED'],
          ],
          title,
        );
      }
    }
  const server = await held(t, anthropic, 'in the answer');
  await leave(server, '/ollama/api/chat', { model: `anthropic/${anthropic.model}`, messages: [{ role: 'user', content: 'hi' }] });
  server.goOn();
  await until('the call has ended', () => server.ends.length === 1);
  t.equal(await server.spent(), BILLED, 'Ollama');
});

t.test('of an answer that breaks off after its client has left, the largest output counts, unless its model shows all of it', async (t) => {
  for (const wire of WIRES) {
    const server = await held(t, wire, 'in the answer', { isCut: true });
    for (const stream of [true, false])
      for (const moment of ['before the answer', 'in the answer'] as const) {
        await server.next(moment);
        await leave(server, '/v1/chat', server.chat({ stream, config: { maxTokens: MAX } }));
        server.goOn();
        await until('the call has ended', () => server.ends.length === 1);
        const { outputTokens = -1, estimated } = server.ends[0]?.usage ?? {};
        const title = `${wire.name}, ${stream ? 'stream' : 'whole'}, left ${moment}: ${outputTokens}`;
        if (stream && wire.create().openModels?.test(wire.model)) t.ok(outputTokens < 10, title);
        else t.equal(outputTokens, MAX, title);
        t.ok(estimated, title);
        t.equal(await server.spent(), server.ends[0]?.usage?.totalTokens, title);
      }
  }
});

t.test('a request that passes as it is has the largest of its limits, and one without a limit what models write at most', async (t) => {
  for (const [fields, most] of [
    [{ max_tokens: 7, max_completion_tokens: 70 }, 70],
    [{ max_completion_tokens: 70, n: 2 }, 140],
    [{ max_tokens: null }, 128_000],
    [{}, 128_000],
  ] as const) {
    const server = await held(t, openaiChat, 'in the answer', { isCut: true });
    const body: Fields = { model: `openai/${openaiChat.model}`, messages: [{ role: 'user', content: 'hi' }], stream: true, ...fields };
    await leave(server, '/v1/chat/completions', body);
    server.goOn();
    await until('the call has ended', () => server.ends.length === 1);
    t.equal(server.ends[0]?.usage?.outputTokens, most, JSON.stringify(fields));
  }
});

t.test('a server that ends reads nothing on: what was left counts the largest output', async (t) => {
  const server = await held(t, anthropic, 'in the answer');
  await leave(server, '/v1/chat', server.chat({ stream: true, config: { maxTokens: MAX } }));
  await server.core.close();
  t.match(server.ends, [{ code: 'CANCELLED', usage: { inputTokens: 12, outputTokens: MAX, estimated: true } }]);
});

t.test('an operator ends a call for good, with its client or after it has left', async (t) => {
  for (const hasLeft of [true, false]) {
    const server = await held(t, anthropic, 'in the answer');
    const body = server.chat({ stream: true, config: { maxTokens: MAX } });
    const id = { 'x-request-id': 'mine' };
    if (hasLeft) await leave(server, '/v1/chat', body, id);
    else server.open('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${server.key}`, ...id }, body });
    await until('the provider has begun', () => server.counts.begun === 1);
    t.match(await server.call('DELETE', '/api/gateway/requests/mine'), { status: 200 });
    await until('the connection to the provider is closed', () => server.counts.cut === 1);
    t.match(server.ends, [{ code: 'CANCELLED', usage: { inputTokens: 12, outputTokens: MAX, estimated: true } }]);
    t.match(await server.call('DELETE', '/api/gateway/requests/mine'), { status: 404 });
  }
});

t.test('a key without a cap ends its call at once when its client leaves, and counts what came', async (t) => {
  for (const moment of ['before the answer', 'in the answer'] as const) {
    const server = await held(t, anthropic, moment, { cap: null });
    await leave(server, '/v1/chat', server.chat({ stream: true }));
    await until('the connection to the provider is closed', () => server.counts.cut === 1);
    t.match(server.ends, [{ code: 'CANCELLED', usage: { estimated: true } }]);
    t.ok((await server.spent()) < 50);
  }
});

t.test('a client that leaves the line has cost nothing', async (t) => {
  const server = await held(t, anthropic, 'before the answer', { queue: { concurrency: 1 } });
  await leave(server, '/v1/chat', server.chat());
  const waiting = server.open('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${server.key}` }, body: server.chat() });
  await until('it waits', () => server.core.load('anthropic').waiting === 1);
  waiting.destroy();
  await until('it has left', () => server.core.load('anthropic').waiting === 0);
  t.match(server.ends, [{ code: 'CANCELLED', usage: undefined, attempts: 0 }]);
  server.goOn();
  await until('the first has ended', () => server.ends.length === 2);
  t.equal(await server.spent(), BILLED);
});

t.test('a client that never reads holds the provider back, and when it leaves, the rest is read', async (t) => {
  const long: Meaning = { ...HIDDEN, text: ['x'.repeat(200_000), ...Array.from({ length: sweep(80, 50) }, () => 'x'.repeat(200_000)), 'y'] };
  for (const native of [true, false]) {
    const server = await held(t, anthropic, 'in the answer', { native, meaning: long });
    const body = { model: `anthropic/${anthropic.model}`, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };
    const request = server.open('POST', '/v1/messages', { token: false, headers: { authorization: `Bearer ${server.key}` }, body });
    request.on('response', (response) => void response.on('error', () => undefined)); // without a reader, it stays paused
    await until('the provider has begun', () => server.counts.begun === 1);
    await until('the answer has begun', () => server.core.liveCalls()[0]?.phase === 'streaming');
    server.goOn();
    t.equal(server.ends.length, 0);
    request.destroy();
    await until('the call has ended', () => server.ends.length === 1);
    t.match(server.ends, [{ code: 'CANCELLED', usage: { inputTokens: 12, outputTokens: 20_002 } }], native ? 'native' : 'translated');
  }
});

t.test('a client that leaves in the moment of the usage changes nothing in what counts', async (t) => {
  const server = await held(t, anthropic, 'in the answer');
  for (const stream of [true, false])
    for (const round of swept(10, 4)) {
      await server.next('in the answer');
      const headers = { authorization: `Bearer ${server.key}` };
      const request = server.open('POST', '/v1/chat', { token: false, headers, body: server.chat({ stream }) });
      await until('the provider has begun', () => server.counts.begun === 1);
      server.goOn();
      for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
      request.destroy();
      await until('the call has ended', () => server.ends.length === 1);
      t.equal(await server.spent(), BILLED);
    }
});

t.test('fifty clients at once that leave get no more through a cap than those who stay', async (t) => {
  const server = await held(t, openaiChat, 'in the answer', { cap: 1000 });
  const body = { model: `openai/${openaiChat.model}`, messages: [{ role: 'user', content: 'hi' }], stream: true };
  const headers = { authorization: `Bearer ${server.key}` };
  const statuses: unknown[] = [];
  const all = Array.from({ length: 50 }, () => server.open('POST', '/v1/chat/completions', { token: false, headers, body }));
  for (const request of all)
    request.on('response', (response) => {
      statuses.push(response.statusCode);
      response.resume();
    });
  await until('all have their answer or its beginning', () => statuses.length === 50);
  for (const request of all) request.destroy();
  t.same(statuses.sort(), [200, ...Array.from({ length: 49 }, () => 429)]);
  const refused = await server.call('POST', '/v1/chat/completions', { token: false, headers, body });
  t.match(refused, { status: 429, text: /under way/ }, 'the one that was left is under way');
  server.goOn();
  await until('it has ended', () => server.ends.some(({ usage }) => usage !== undefined));
  t.equal(await server.spent(), BILLED);
  t.match(await server.call('POST', '/v1/chat/completions', { token: false, headers, body }), { status: 429, text: /00:00 UTC/ });
  t.equal(server.counts.begun, 1);
});

t.test('embeddings that a client leaves count what the provider reports, and no further batch is sent', async (t) => {
  const { opened, open } = gate();
  const server = await startWireServer(t, openaiChat, async (request, res) => {
    await opened;
    const inputs = (JSON.parse(request.body) as { input: unknown[] }).input;
    sendJson(res, { data: inputs.map((_, index) => ({ index, embedding: [0.5] })), usage: { prompt_tokens: 7777, total_tokens: 7777 } });
  });
  const key = (await server.core.keys?.create('app', { tokensPerDay: 1_000_000 })) ?? '';
  const body = { model: 'openai/text-embedding-3-small', input: Array.from({ length: 2048 }, () => 'hi') };
  const request = server.open('POST', '/v1/embeddings', { token: false, headers: { authorization: `Bearer ${key}` }, body });
  await server.upstream.arrived(0);
  request.destroy();
  await until('the server knows', () => server.log.length > 0);
  open();
  await until('the call has ended', () => server.core.liveCalls().length === 0);
  t.match(await server.core.accounts?.spentToday('app'), { tokens: 7777, calls: 1 });
  t.equal(server.upstream.requests.length, 1);
});

t.test('a program that aborts its call, or leaves the loop over its stream, has its answer at once; the call counts what the provider reports', async (t) => {
  for (const stream of [true, false]) {
    const server = await held(t, anthropic, 'in the answer');
    const leaving = new AbortController();
    const options = { key: 'app', signal: leaving.signal };
    const request = { adapter: 'anthropic', model: anthropic.model, messages: [{ role: 'user', content: 'hi' }] } as const;
    const read = async (): Promise<void> => {
      for await (const { type } of server.core.stream(request, options)) if (type === 'content') break;
    };
    const work = stream ? read() : t.rejects(server.core.chat(request, options), { code: 'CANCELLED', mayHaveRun: true });
    await until('the provider has begun', () => server.counts.begun === 1);
    if (!stream) leaving.abort();
    await work;
    t.equal(server.ends.length, 0, 'it is still under way');
    server.goOn();
    await until('the call has ended', () => server.ends.length === 1);
    t.equal(await server.spent(), BILLED);
  }
});

t.test('an answer that never comes counts what its model may have generated in that time, with a cap alone', async (t) => {
  const firstByteMs = 50;
  for (const wire of WIRES)
    for (const stream of [true, false]) {
      const server = await held(t, wire, 'before the answer', { timeouts: { firstByteMs } });
      const title = `${wire.name}, ${stream ? 'stream' : 'whole'}`;
      const ask = (config: object) =>
        server.call('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${server.key}` }, body: server.chat({ stream, config }) });
      for (const config of [{ maxTokens: 3 }, {}]) await ask(config);
      const [limited, free] = server.ends;
      const isOpen = stream && wire.create().openModels?.test(wire.model) === true;
      t.match(limited, { code: 'UPSTREAM_TIMEOUT', usage: { outputTokens: isOpen ? 0 : 3, estimated: true } }, title);
      const { outputTokens = -1 } = free?.usage ?? {};
      t.ok(isOpen ? outputTokens === 0 : outputTokens >= 5 && outputTokens < 128_000, `${title}: ${outputTokens}`);
      t.equal(
        await server.spent(),
        server.ends.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0),
        title,
      );
    }
  const server = await held(t, anthropic, 'before the answer', { cap: null, timeouts: { firstByteMs } });
  await server.call('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${server.key}` }, body: server.chat({}) });
  t.match(server.ends, [{ code: 'UPSTREAM_TIMEOUT', usage: { outputTokens: 0 } }], 'without a cap');
});

t.test('a timeout that is told in the body of a 200 counts like one of a status, and is not repeated', async (t) => {
  const native = { model: `openai/${openaiChat.model}`, messages: [{ role: 'user', content: 'hi' }], max_tokens: 3 };
  const own = { adapter: 'openai', model: openaiChat.model, messages: [{ role: 'user', content: 'hi' }], config: { maxTokens: 3 } };
  let asked = 0;
  let told = '';
  const server = await startWireServer(t, openaiChat, async (request, res) => {
    if (request.method === 'GET') return void res.end('{}');
    asked += 1;
    await delay(40); // four tokens at least, by the clock
    const isStream = request.body.includes('"stream":true');
    res.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    res.end(isStream ? `data: ${told}\n\n` : told);
  });
  const key = (await server.core.keys?.create('app', { tokensPerDay: 10_000 })) ?? '';
  const ends: CoreEvents['call.finished'][] = [];
  server.core.events.on('call.finished', (fact) => ends.push(fact));
  for (const code of [408, '504', 524])
    for (const stream of [true, false])
      for (const [path, body] of [
        ['/v1/chat/completions', native],
        ['/v1/chat', own],
      ] as const) {
        asked = 0;
        ends.length = 0;
        told = JSON.stringify({ error: { message: 'Timed out', code } });
        await server.call('POST', path, { token: false, headers: { authorization: `Bearer ${key}` }, body: { ...body, stream } });
        const title = `${path}, ${stream ? 'stream' : 'whole'}, ${code}`;
        t.equal(asked, 1, title);
        t.match(ends, [{ code: 'UPSTREAM_FAILED', usage: { outputTokens: 3, estimated: true } }], title);
      }
});
