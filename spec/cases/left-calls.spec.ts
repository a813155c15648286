// Clients that leave while their key has a cap: what the provider bills is counted, whether anybody has waited for it or not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CoreEvents } from '../../core/bus.ts';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { CLIENTS, type Fields } from '../support/dialect-clients.ts';
import type { TestServerOptions } from '../support/server.ts';
import { gate } from '../support/stepped-adapter.ts';
import { until } from '../support/until.ts';
import { sendJson } from '../support/upstream.ts';
import { startWireServer, WIRES, type WireServer } from '../support/wire-server.ts';

/** Of which 20,000 tokens were reasoning that no frame shows. */
const HIDDEN: Meaning = { text: ['Hel', 'lo'], toolCalls: [], stop: 'end_turn', usage: { input: 12, output: 20_002 } };
const BILLED = 20_014;
const MAX = 100;

interface Held extends WireServer {
  readonly key: string;
  readonly ends: CoreEvents['chat.finished'][];
  /** Answers of the provider that had begun, and of those the ones whose connection was closed before their end. */
  readonly counts: { begun: number; cut: number };
  /** Lets the provider go on. */
  goOn(): void;
  spent(): Promise<number>;
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
  moment: Moment,
  { cap = 1_000_000, native = true, isCut = false, meaning = HIDDEN, ...options }: HeldOptions = {},
): Promise<Held> {
  const { opened, open } = gate();
  const counts = { begun: 0, cut: 0 };
  const server = await startWireServer(
    t,
    wire,
    async (request, res) => {
      if (request.method === 'GET') return void res.end('{}');
      res.once('close', () => {
        if (!res.writableEnded) counts.cut += 1;
      });
      const streamed = wire.readRequest(request).stream;
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
  const ends: CoreEvents['chat.finished'][] = [];
  server.core.events.on('chat.finished', (fact) => ends.push(fact));
  const spent = async () => (await server.core.accounts?.spentToday('app'))?.tokens ?? 0;
  return { ...server, key, ends, counts, goOn: open, spent };
}

/** Sends, waits until the provider has begun, leaves, and waits until the server knows. */
async function leave({ open, key, counts, log }: Held, path: string, body: object): Promise<void> {
  const { begun } = counts;
  const request = open('POST', path, { token: false, headers: { authorization: `Bearer ${key}` }, body });
  await until('the provider has begun', () => counts.begun > begun);
  const lines = log.length;
  request.destroy();
  await until('the server knows', () => log.length > lines);
}

t.test('what a client leaves is read on with every provider, and counts what the provider reports', async (t) => {
  for (const wire of WIRES)
    for (const stream of [true, false])
      for (const moment of ['before the answer', 'in the answer'] as const) {
        const title = `${wire.name}, ${stream ? 'stream' : 'whole'}, left ${moment}`;
        const server = await held(t, wire, moment);
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
});
