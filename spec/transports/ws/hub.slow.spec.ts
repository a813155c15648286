// Clients that do not read, on real connections: the system buffers much of its own, so that much must be sent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { parseJson } from '../../../core/base/json.ts';
import { createBus, type ReplyStep } from '../../../core/index.ts';
import { realClock } from '../../../transports/ws/clock.ts';
import { Hub, type HubContext } from '../../../transports/ws/hub.ts';
import { DEFAULT_LIMITS, type WsLimits } from '../../../transports/ws/limits.ts';
import { FollowStub } from '../../support/follow-stub.ts';
import { until } from '../../support/until.ts';

async function start(t: Test, limits: Partial<WsLimits>) {
  const blocks = new FollowStub('a', 'b');
  const core = { blocks, events: createBus(), token: undefined } as unknown as HubContext['core'];
  const reasons: unknown[] = [];
  const log = { debug: () => undefined, error: () => undefined, info: (fields: { readonly reason?: unknown }) => void reasons.push(fields.reason) };
  const hub = new Hub({ core, clock: realClock, limits: { ...DEFAULT_LIMITS, closeMs: 100, ...limits }, log: log as HubContext['log'] });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wss = new WebSocketServer({ server, perMessageDeflate: false });
  const served: WebSocket[] = [];
  wss.on('connection', (socket) => {
    served.push(socket);
    hub.add(socket, 'req_1');
  });
  t.teardown(async () => {
    await hub.close(1001);
    wss.close();
    server.close();
  });
  const connect = async (): Promise<{ client: WebSocket; socket: WebSocket; text: string[] }> => {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    t.teardown(() => client.terminate());
    client.on('error', () => undefined);
    const text: string[] = [];
    client.on('message', (data: Buffer) => text.push(data.toString('utf8')));
    await once(client, 'open');
    client.send('{"type":"subscribe","block":"a","stream":true}');
    client.send('{"type":"subscribe","block":"b"}');
    await until('both are followed', () => text.length === 2);
    return { client, socket: served.at(-1) as WebSocket, text };
  };
  return { blocks, hub, reasons, connect };
}

const PIECE = 'é'.repeat(2000);
const content = (seq: number): ReplyStep => ({ id: 'm1', seq, event: 'content', text: PIECE });

/** Writes a reply until the connection takes no more; how many pieces that took. */
function fill(blocks: FollowStub, socket: WebSocket): number {
  let seq = 0;
  while (socket.bufferedAmount < 60 * 1024 && seq < 100_000) {
    seq += 1;
    blocks.step('a', content(seq));
  }
  return seq;
}

t.test('what waits for a client stays small, and it is cut off when it reads nothing', async (t) => {
  const { blocks, hub, reasons, connect } = await start(t, { stallMs: 300, quietMs: 1, patienceMs: 2 });
  const { client, socket } = await connect();
  client.pause();
  const before = fill(blocks, socket);
  for (let i = 1; i <= 3; i += 1) blocks.step('a', content(before + i));
  for (let i = 0; i < 10_000; i += 1) {
    blocks.change('a');
    blocks.change('b');
    if (socket.bufferedAmount > 64 * 1024) t.fail(`${socket.bufferedAmount} bytes are on their way`);
  }
  await until('it is cut off', () => hub.size === 0);
  t.strictSame(reasons, ['it stopped reading']);
  t.equal(blocks.active.size, 0);
});

t.test('a client that lets a whole reply wait is cut off at once', async (t) => {
  const { blocks, hub, reasons, connect } = await start(t, {});
  const { client, socket } = await connect();
  client.pause();
  const before = fill(blocks, socket);
  for (let seq = before; seq < before + 400 && reasons.length === 0; seq += 1) blocks.step('a', content(seq));
  t.strictSame(reasons, ['it reads too slowly']);
  await until('it is gone', () => hub.size === 0);
});

t.test('a client that pauses and reads on gets every character in order, and one notice for what it slept through', async (t) => {
  const { blocks, reasons, connect } = await start(t, { quietMs: 1, patienceMs: 2 });
  const { client, socket, text } = await connect();
  client.pause();
  const before = fill(blocks, socket);
  for (let i = 1; i <= 100; i += 1) blocks.step('a', { ...content(before + i), text: `<${i}>` } as ReplyStep);
  for (let i = 0; i < 1000; i += 1) blocks.change('b');
  client.resume();
  await until('the last piece', () => text.at(-1)?.includes('<100>') ?? false);
  const frames = text.map((line) => parseJson(line) as { readonly type: string; readonly block: string; readonly text?: string });
  t.equal(frames.map((frame) => frame.text ?? '').join(''), PIECE.repeat(before) + Array.from({ length: 100 }, (_, index) => `<${index + 1}>`).join(''));
  t.ok(frames.filter(({ type, block }) => type === 'refresh' && block === 'b').length <= 3);
  t.strictSame(reasons, []);
});
