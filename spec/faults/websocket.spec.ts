// Group F of the catalogue of faults: the WebSocket of the built server.
//
// F90, more than 300 cases, is spec/transports/ws/peer.rfc6455.spec.ts; here is one of each outcome, against the whole process.
// F97 with replies, of which much has to be written before the system's buffers are full, is spec/transports/ws/hub.slow.spec.ts.
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Ask, assertRefused, callsOf, makeBlock } from '../support/fault-calls.ts';
import { type FaultWorld, sharedFaultWorld } from '../support/fault-world.ts';
import { RawClient } from '../support/raw.ts';
import { sweep } from '../support/sweep.ts';
import { until } from '../support/until.ts';
import { ACCEPT, type FrameParts, frame, handshake, RawWs, type Received, WsClient } from '../support/ws.ts';

const TEXT = 1;
const BINARY = 2;
const CONTINUATION = 0;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const ALIVE = '{"type":"ping"}';
const MAX_BYTES = 16_384;
const CHANGES = sweep(2000, 150);
const STEADY = sweep(60, 25);

type Outcome = number | RegExp;
type Case = readonly [title: string, parts: readonly (FrameParts | Buffer)[], outcome: Outcome];

/** Blocks as a person copies them, by folder: a request for each would take a second. */
function copyBlock({ workspace }: FaultWorld, name: string, copies: readonly string[]): void {
  const folder = join(workspace, 'blocks', name);
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
  for (const copy of copies) {
    const to = join(workspace, 'blocks', copy);
    cpSync(folder, to, { recursive: true });
    writeFileSync(join(to, 'config.json'), JSON.stringify({ ...config, name: copy }));
  }
}

async function untilListed(ask: Ask, count: number): Promise<void> {
  for (let asked = 0; asked < 1000; asked += 1) {
    const { blocks } = (await ask('GET', '/api/blocks')).json as { blocks: unknown[] };
    if (blocks.length === count) return;
    await delay(20);
  }
  throw new Error('the copies are not listed');
}

/** A world with some blocks, one of which was followed: what that loads is no stall of the case that comes first. */
async function startWorld(t: Test, blocks: readonly string[]): Promise<FaultWorld> {
  const world = await sharedFaultWorld();
  const ask = callsOf(world);
  const [first = '', ...others] = blocks;
  await makeBlock(t, ask, first);
  copyBlock(world, first, others);
  await untilListed(ask, blocks.length);
  const client = await WsClient.connect(t, world);
  await client.send({ type: 'subscribe', block: first }).received(1);
  client.socket.close();
  await client.untilClosed();
  await world.worstStallMs();
  return world;
}

/** Watches of folders and files that a process holds; 0 where it can't be told. */
function watches({ pid }: FaultWorld): number {
  if (process.platform !== 'linux') return 0;
  const infos = readdirSync(`/proc/${pid}/fdinfo`).map((fd) => {
    try {
      return readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8');
    } catch {
      return ''; // closed since
    }
  });
  return infos.join('').split('inotify wd:').length - 1;
}

async function judge(t: Test, world: FaultWorld, [title, parts, outcome]: Case): Promise<void> {
  const client = await RawWs.connect(t, world);
  client.send(...parts);
  const text = (): string => String(client.frames.find(({ opcode }) => opcode === TEXT)?.payload ?? '');
  await until(title, () => client.closeCode !== undefined || text() !== '' || client.raw.closed);
  if (typeof outcome === 'number') t.equal(client.closeCode, outcome, title);
  else t.match(text(), outcome, title);
  world.heard(client.raw.received);
  client.raw.socket.destroy();
}

const closing = (code: number, reason: string | Buffer = ''): FrameParts => {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return { opcode: CLOSE, payload: Buffer.concat([head, Buffer.from(reason)]) };
};

/** One of each outcome. */
const RFC: readonly Case[] = [
  ['text without a mask', [{ opcode: TEXT, payload: ALIVE, masked: false }], 1002],
  ['close 4999', [closing(4999)], 4999],
  ['an overlong character', [{ opcode: TEXT, payload: Buffer.from('c0af', 'hex') }], 1007],
  [
    'a message in fragments with control frames between',
    [{ opcode: TEXT, fin: false, payload: '{"type"' }, { opcode: PING }, { opcode: PONG }, { opcode: CONTINUATION, payload: ':"ping"}' }],
    /pong/,
  ],
  ['bytes that are no frame', [Buffer.from('GET / HTTP/1.1\r\n\r\n')], 1002],
];

const many = (count: number, parts: FrameParts): Buffer => {
  const one = frame(parts);
  return Buffer.alloc(count * one.length, one);
};

const NAMES = Array.from({ length: 105 }, (_, n) => `block-${n}`);

/** Of all cases, which leave no socket behind. */
let shared: Promise<FaultWorld> | undefined;
const sharedWorld = (): Promise<FaultWorld> => {
  shared ??= startWorld(t, ['one', ...NAMES]);
  return shared;
};

t.test('F90 to F94, F100: frames', async (t) => {
  const world = await sharedWorld();

  await t.test('F90 cases of RFC 6455 with each outcome end as it says', async (t) => {
    for (const one of RFC) await judge(t, world, one);
    await judge(t, world, ['alive', [{ opcode: TEXT, payload: ALIVE }], /pong/]);
    await world.check(t, 'F90');
  });

  await t.test('F91 a length that is only claimed is refused with 1009, or waited for, and takes no memory', async (t) => {
    for (const claims of [2n ** 63n, 2n ** 64n - 1n, 2n ** 53n, 2n ** 31n, BigInt(MAX_BYTES + 1)])
      for (const opcode of [TEXT, BINARY]) await judge(t, world, [`${claims} bytes of opcode ${opcode}`, [{ opcode, claims }], 1009]);
    await judge(t, world, [
      'a continuation that claims 2^40 bytes',
      [
        { opcode: TEXT, fin: false, payload: 'x' },
        { opcode: CONTINUATION, claims: 2n ** 40n },
      ],
      1009,
    ]);
    const waiting = await Promise.all(Array.from({ length: 50 }, () => RawWs.connect(t, world)));
    for (const client of waiting) client.send({ opcode: TEXT, claims: BigInt(MAX_BYTES) });
    await judge(t, world, ['another client, meanwhile', [{ opcode: TEXT, payload: ALIVE }], /pong/]);
    for (const { raw } of waiting) raw.socket.destroy();
    await world.check(t, 'F91');
  });

  await t.test('F92 200,000 tiny fragments end their connection with 1008, and a message may come byte by byte', async (t) => {
    const floods: [title: string, bytes: Buffer][] = [
      ['empty fragments', Buffer.concat([frame({ opcode: TEXT, fin: false }), many(200_000, { opcode: CONTINUATION, fin: false })])],
      ['fragments of a byte', Buffer.concat([frame({ opcode: TEXT, fin: false }), many(200_000, { opcode: CONTINUATION, fin: false, payload: 'x' })])],
      ['pings', many(200_000, { opcode: PING })],
    ];
    for (const [title, bytes] of floods) await judge(t, world, [title, [bytes], 1008]);
    const flooded = await RawWs.connect(t, world);
    flooded.send(many(200_000, { opcode: TEXT, payload: ALIVE }));
    await until('so many messages are too many', () => flooded.closeCode === 1008);
    flooded.raw.socket.destroy();
    const slow = await RawWs.connect(t, world);
    slow.raw.socket.setNoDelay();
    for (const byte of frame({ opcode: TEXT, payload: ALIVE })) {
      slow.raw.send(Buffer.from([byte]));
      await delay(1);
    }
    await until('the answer', () => slow.frames.length === 1);
    slow.raw.socket.destroy();
    await world.check(t, 'F92');
  });

  await t.test('F93 compression is never agreed on, however it is offered', async (t) => {
    const offers = [
      'permessage-deflate',
      'permessage-deflate; client_max_window_bits; server_max_window_bits=8',
      'permessage-deflate; server_max_window_bits=99; x="',
      'permessage-deflate; server_no_context_takeover=1, permessage-deflate',
      `${'permessage-deflate, '.repeat(200)}x-webkit-deflate-frame`,
      ';;;=',
    ];
    for (const offer of offers) {
      const client = await RawClient.connect(t, world.port);
      client.send(handshake(world, { headers: { 'Sec-WebSocket-Extensions': offer } }));
      await until('the handshake is answered', () => client.received.includes('\r\n\r\n'));
      t.equal(
        client.received,
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${ACCEPT}\r\n\r\n`,
        offer,
      );
      client.send(frame({ opcode: TEXT, rsv: 0x40, payload: Buffer.from('aa560a2e2949cd0500', 'hex') }));
      await until('a compressed message ends the connection', () => client.received.includes('\x88'));
      t.equal(Buffer.from(client.received.slice(client.received.indexOf('\x88') + 2), 'latin1').readUInt16BE(0), 1002, offer);
      world.heard(client.received);
      client.socket.destroy();
    }
    await world.check(t, 'F93');
  });

  await t.test('F94 clients that reset the connection in, or right behind, their handshake leave nothing behind', async (t) => {
    const bytes = handshake(world);
    for (let n = 0; n < sweep(250, 90); n += 1) {
      const client = await RawClient.connect(t, world.port);
      const whole = n % 5 !== 0;
      client.send(whole ? bytes : bytes.slice(0, (n * 7) % bytes.length));
      if (n % 2 === 0) client.send(frame({ opcode: TEXT, payload: '{"type":"subscribe","block":"one"}' }));
      if (whole && n % 3 === 0) await until('an answer', () => client.received.includes('\r\n\r\n') || client.closed);
      else await new Promise((resolve) => setImmediate(resolve));
      client.socket.resetAndDestroy();
    }
    await judge(t, world, ['alive', [{ opcode: TEXT, payload: ALIVE }], /pong/]);
    await world.check(t, 'F94');
  });

  await t.test('F100 a message that makes no sense gets an error frame, or the close code of its fault', async (t) => {
    const senseless = [
      '',
      ' ',
      '{',
      '[]',
      '[1,2]',
      'null',
      '1',
      '"ping"',
      '{}',
      '{"type":"__proto__"}',
      '{"type":"constructor"}',
      '{"type":null}',
      '{"type":["ping"]}',
    ];
    const wrong = [
      '{"__proto__":{"type":"ping"}}',
      '{"type":"ping","x":1}',
      '{"type":"subscribe"}',
      '{"type":"subscribe","block":"one","__proto__":{"stream":true}}',
      '{"type":"ping"}{"type":"ping"}',
      `${'['.repeat(8000)}`,
      `{"type":"subscribe","block":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`,
    ];
    for (const payload of [...senseless, ...wrong])
      await judge(t, world, [payload.slice(0, 60), [{ opcode: TEXT, payload }], /"type":"error","code":"INVALID_REQUEST"/]);
    await judge(t, world, ['a binary frame', [{ opcode: BINARY, payload: ALIVE }], 1003]);
    await judge(t, world, ['1 MB of text', [{ opcode: TEXT, payload: 'x'.repeat(1_000_000) }], 1009]);
    await judge(t, world, [
      '1 MB of text in fragments',
      [
        { opcode: TEXT, fin: false, payload: 'x'.repeat(MAX_BYTES) },
        { opcode: CONTINUATION, payload: 'x' },
      ],
      1009,
    ]);
    const client = await WsClient.connect(t, world);
    await client.send('{').send('[]').send({ type: 'ping' }).received(3);
    t.match(client.frames, [{ type: 'error' }, { type: 'error' }, { type: 'pong' }], 'the connection goes on');
    client.socket.close();
    await client.untilClosed();
    await world.check(t, 'F100');
  });
});

/** Changes a file of a block as an editor does. */
function edit(world: FaultWorld, name: string, description: string): void {
  const path = join(world.workspace, 'blocks', name, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(`${path}.new`, JSON.stringify({ ...config, description }));
  renameSync(`${path}.new`, path);
}

const isRefresh = (received: Received): boolean => received['type'] === 'refresh';

t.test('F96 to F99: subscriptions', async (t) => {
  const world = await sharedWorld();
  await until('no folder is watched', () => watches(world) <= 3);
  const before = watches(world);

  await t.test('F96 one subscription for a socket and block, 100 blocks at most, 1008 for who goes on; nothing is left of them', async (t) => {
    const client = await WsClient.connect(t, world);
    for (let n = 0; n < 40; n += 1) client.send({ type: 'subscribe', block: NAMES[0], stream: n % 2 === 0 });
    client.send({ type: 'ping' });
    await until('all are answered', () => client.frames.some(({ type }) => type === 'pong'));
    const { length } = client.frames;
    edit(world, 'block-0', 'changed');
    await until('the change is told', () => client.frames.length > length);
    await delay(300);
    t.equal(client.frames.length, length + 1, 'once, though it was asked for forty times');
    if (process.platform === 'linux') t.ok(watches(world) > before, 'a folder is watched');

    const second = await WsClient.connect(t, world);
    for (let from = 0; from < NAMES.length; from += 15) {
      for (const block of NAMES.slice(from, from + 15)) second.send({ type: 'subscribe', block });
      await second.received(from + 15);
    }
    t.equal(second.frames.filter(isRefresh).length, 100);
    t.match(
      second.frames.slice(100),
      Array.from({ length: 5 }, () => ({ type: 'error', code: 'INVALID_REQUEST' })),
    );
    const perFolder = 1 + readdirSync(join(world.workspace, 'blocks', 'block-0'), { recursive: true }).length;
    t.ok(watches(world) - before <= 100 * perFolder, `a folder is watched once for all: ${watches(world) - before}, ${perFolder} for each`);

    const third = await WsClient.connect(t, world);
    const bad: [block: unknown, code: string][] = [
      ['nowhere', 'BLOCK_NOT_FOUND'],
      ['../..', 'BLOCK_NOT_FOUND'],
      ['__proto__', 'BLOCK_NOT_FOUND'],
      ['', 'BLOCK_NOT_FOUND'],
      ['UPPER', 'BLOCK_NOT_FOUND'],
      ['x'.repeat(257), 'INVALID_REQUEST'],
      [1, 'INVALID_REQUEST'],
      [null, 'INVALID_REQUEST'],
      [['block-0'], 'INVALID_REQUEST'],
      [{ name: 'block-0' }, 'INVALID_REQUEST'],
    ];
    for (const [block, code] of bad)
      t.match(await third.send({ type: 'subscribe', block }).next(), { type: 'error', code }, JSON.stringify(block).slice(0, 30));
    for (const sinceSeq of [-1, 1.5, '1', null, 2 ** 60])
      t.match(await third.send({ type: 'subscribe', block: 'block-0', stream: true, sinceSeq }).next(), { type: /error|refresh/ }, `since ${sinceSeq}`);
    for (let n = 0; n < 10_000; n += 1) third.send({ type: 'subscribe', block: NAMES[n % 100] });
    t.match(await third.untilClosed(), { code: 1008 }, '10,000 at once');

    t.match(await second.send({ type: 'ping' }).next(), { type: 'pong' }, 'others are not disturbed');
    for (const { socket } of [client, second]) socket.close();
    await until('no folder is watched any more', () => watches(world) <= before);
    for (const { frames } of [client, second, third]) world.heard(JSON.stringify(frames));
    await world.check(t, 'F96');
  });

  await t.test('F97, F99 very many changes are some notices, one after the last change; who reads none of them costs nothing', async (t) => {
    const reader = await WsClient.connect(t, world);
    const deaf = await RawWs.connect(t, world);
    await reader.send({ type: 'subscribe', block: 'block-1' }).received(1);
    deaf.send({ opcode: TEXT, payload: '{"type":"subscribe","block":"block-1"}' });
    await until('it follows', () => deaf.frames.length === 1);
    deaf.raw.socket.pause();
    const startedAt = performance.now();
    for (let n = 0; n < CHANGES; n += 1) {
      edit(world, 'block-1', `burst ${n}`);
      if (n % 100 === 99) await delay(1);
    }
    await until('the burst is told', () => reader.frames.length > 1);
    const { length: afterBurst } = reader.frames;
    for (let n = 0; n < STEADY; n += 1) {
      edit(world, 'block-1', `steady ${n}`);
      await delay(50);
    }
    t.ok(reader.frames.length > afterBurst, 'changes that never cease are told meanwhile');
    const { length: beforeLast } = reader.frames;
    edit(world, 'block-1', 'the last');
    await until('the last one is told', () => reader.frames.length > beforeLast);
    await delay(300);
    const elapsedMs = performance.now() - startedAt;
    const refreshes = reader.frames.filter(isRefresh).length - 1;
    t.ok(refreshes <= elapsedMs / 100 + 2, `${refreshes} notices in ${elapsedMs.toFixed(0)} ms`);
    t.match((await callsOf(world)('GET', '/api/blocks/block-1/config')).json, { config: { description: 'the last' } });
    deaf.raw.socket.resume();
    deaf.send({ opcode: TEXT, payload: ALIVE });
    await until('who did not read reads again', () => deaf.frames.some(({ payload }) => String(payload).includes('pong')));
    t.ok(deaf.frames.length <= refreshes + 3, `${deaf.frames.length} frames had been kept for it`);
    world.heard(deaf.raw.received + JSON.stringify(reader.frames));
    reader.socket.close();
    deaf.raw.socket.destroy();
    await world.check(t, 'F97, F99');
  });

  await t.test('F90, F94 a handshake that is refused is one answer, and the end of the connection', async (t) => {
    const hidden = `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nAuthorization: Bearer ${world.token}\r\n\r\n`;
    const refused: [parts: Parameters<typeof handshake>[1], status: number][] = [
      [{ path: '/api/ws' }, 401],
      [{ path: `/nowhere?token=${world.token}` }, 404],
      [{ method: 'POST' }, 405],
      [{ headers: { 'Sec-WebSocket-Version': '8' } }, 400],
      [{ headers: { 'Sec-WebSocket-Key': 'short' } }, 400],
      [{ headers: { 'Content-Length': '5' } }, 400],
      [{ version: 'HTTP/1.0' }, 400],
    ];
    for (const [parts, status] of refused) await assertRefused(t, world, [JSON.stringify(parts), handshake(world, parts) + hidden], [status]);
    await world.check(t, 'F90 handshakes');
  });
});
