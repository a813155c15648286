// Frames as no library would send them: what RFC 6455 says of each, on a connection of its own.
import t, { type Test } from 'tap';
import { until } from '../../support/until.ts';
import { type FrameParts, frame, RawWs, startWsServer, type WsServer } from '../../support/ws.ts';

const TEXT = 1;
const BINARY = 2;
const CONTINUATION = 0;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const ALIVE = '{"type":"ping"}';
const MAX_BYTES = 16_384;

/** A close code, or what the text frame holds that comes back. */
type Outcome = number | RegExp;
type Case = readonly [title: string, parts: readonly (FrameParts | Buffer)[], outcome: Outcome];

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const closing = (code: number, reason: string | Buffer = ''): FrameParts => {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return { opcode: CLOSE, payload: Buffer.concat([head, Buffer.from(reason)]) };
};
/** Two frames of one message. */
const split = (opcode: number, payload: Buffer, at: number): [FrameParts, FrameParts] => [
  { opcode, payload: payload.subarray(0, at), fin: false },
  { opcode: CONTINUATION, payload: payload.subarray(at) },
];

/** A message of so many frames, all but the last of them empty. */
const inFrames = (count: number): FrameParts[] => [
  { opcode: TEXT, fin: false },
  ...Array.from({ length: count - 2 }, () => ({ opcode: CONTINUATION, fin: false })),
  { opcode: CONTINUATION, payload: ALIVE },
];

const RESERVED_BITS = [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70].flatMap((rsv): Case[] =>
  [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG].map((opcode) => [
    `reserved bits ${rsv.toString(16)} on opcode ${opcode}`,
    [{ opcode, rsv, payload: '' }],
    1002,
  ]),
);

const RESERVED_OPCODES = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap((opcode): Case[] =>
  [true, false].flatMap((fin): Case[] => ['', 'x'].map((payload) => [`opcode ${opcode}, fin ${fin}, "${payload}"`, [{ opcode, fin, payload }], 1002])),
);

const UNMASKED = [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG].flatMap((opcode): Case[] =>
  ['', 'xy'].map((payload) => [`opcode ${opcode} without a mask, "${payload}"`, [{ opcode, payload, masked: false }], 1002]),
);

const CONTROL = [CLOSE, PING, PONG].flatMap((opcode): Case[] => [
  [`opcode ${opcode} in fragments`, [{ opcode, fin: false }], 1002],
  ...[126, 127, 1000, 65_535].map((length): Case => [`opcode ${opcode} of ${length} bytes`, [{ opcode, payload: Buffer.alloc(length, 'a') }], 1002]),
  [`opcode ${opcode} that claims 2^63 bytes`, [{ opcode, claims: 2n ** 63n }], 1002],
]);

const FRAGMENTS: Case[] = [
  ...[true, false].flatMap((fin): Case[] =>
    ['', 'x'].map((payload) => [`a continuation of nothing, fin ${fin}, "${payload}"`, [{ opcode: CONTINUATION, fin, payload }], 1002]),
  ),
  ...[TEXT, BINARY].flatMap((first): Case[] =>
    [TEXT, BINARY].flatMap((second): Case[] =>
      [true, false].map((fin) => [
        `opcode ${second} amid a message of opcode ${first}, fin ${fin}`,
        [
          { opcode: first, fin: false, payload: 'a' },
          { opcode: second, fin, payload: 'b' },
        ],
        1002,
      ]),
    ),
  ),
  [
    'a continuation behind a whole message',
    [
      { opcode: TEXT, payload: ALIVE },
      { opcode: CONTINUATION, payload: 'x' },
    ],
    1002,
  ],
  ...[...ALIVE].map((_, at): Case => [`a message cut at ${at}`, split(TEXT, Buffer.from(ALIVE), at), /pong/]),
  ...[...ALIVE].map((_, at): Case => {
    const [first, second] = split(TEXT, Buffer.from(ALIVE), at);
    return [`a message cut at ${at} with control frames between`, [first, { opcode: PING, payload: 'x' }, { opcode: PONG }, second], /pong/];
  }),
  ['a message of 64 frames', inFrames(64), /pong/],
  ['a message of 65 frames', inFrames(65), 1008],
  ['a message that is a close in between', [{ opcode: TEXT, fin: false, payload: '{' }, closing(1000)], 1000],
];

/** From the tables of ill-formed sequences of Unicode and of the RFC's examples. */
const BAD_UTF8 =
  '80 bf c0 c1bf c0af c080 e0 e080af e09fbf e28080e2 eda080 edbfbf edafbfedbfbf f0 f08080af f08fbfbf f4908080 f5808080 f8 f888808080 fc fc8480808080 fe ff feff c3 c328 a0a1 e228a1 e28228 f0288cbc f09028bc f0288c28 cebae1bdb9cf83cebcceb5eda080 7b22ff227d efbf f09d84 0080 e28c cebae1bdb9cf83cebcceb5f4908080'.split(
    ' ',
  );
const GOOD_UTF8 = [
  '00',
  '7f',
  'c280',
  'dfbf',
  'e0a080',
  'efbfbf',
  'f0908080',
  'f48fbfbf',
  'ed9fbf',
  'ee8080',
  'efbbbf 7b7d',
  'e280a8',
  'f09f9880',
  'efbfbe',
  'cc81',
];

const UTF8: Case[] = [
  ...BAD_UTF8.map((bytes): Case => [`text ${bytes}`, [{ opcode: TEXT, payload: hex(bytes) }], 1007]),
  ...BAD_UTF8.slice(0, 12).map((bytes): Case => [`text ${bytes} in two frames`, split(TEXT, hex(bytes), 1), 1007]),
  ...GOOD_UTF8.map((bytes): Case => [`text ${bytes}`, [{ opcode: TEXT, payload: hex(bytes) }], /not valid JSON/]),
  ...GOOD_UTF8.slice(2, 9).map((bytes): Case => [`text ${bytes}, cut inside a character`, split(TEXT, hex(bytes), 1), /not valid JSON/]),
];

const CLOSES: Case[] = [
  ['an empty close', [{ opcode: CLOSE }], 1005],
  ['a close of one byte', [{ opcode: CLOSE, payload: 'x' }], 1002],
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].flatMap((code): Case[] => [
    [`close ${code}`, [closing(code)], code],
    [`close ${code} with a reason`, [closing(code, 'ü'.repeat(61))], code],
  ]),
  ...[0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 9999, 65_535].map((code): Case => [`close ${code}`, [closing(code)], 1002]),
  ...['80', 'c0af', 'eda080', 'f4908080', 'ff'].map((bytes): Case => [`close with reason ${bytes}`, [closing(1000, hex(bytes))], 1007]),
  ['a message behind a close', [closing(1000), { opcode: TEXT, payload: ALIVE }], 1000],
  ['two closes', [closing(4000), closing(4001)], 4000],
];

const LENGTHS: Case[] = [
  ...[16, 64].map(
    (lengthBits): Case => [`a length in ${lengthBits} bits where 7 would do`, [{ opcode: TEXT, payload: ALIVE, lengthBits: lengthBits as 16 | 64 }], /pong/],
  ),
  ...[0, 1, 125, 126, 127, 535, MAX_BYTES].map(
    (length): Case => [`text of ${length} bytes`, [{ opcode: TEXT, payload: 'x'.repeat(length) }], /not valid JSON/],
  ),
  ...[2n ** 63n, 2n ** 64n - 1n, 2n ** 53n, 2n ** 32n, 2n ** 31n, 65_536n, BigInt(MAX_BYTES + 1)].flatMap((claims): Case[] =>
    [TEXT, BINARY].map((opcode) => [`opcode ${opcode}: a head that claims ${claims} bytes`, [{ opcode, claims }], 1009]),
  ),
  ['text of one byte too many', [{ opcode: TEXT, payload: 'x'.repeat(MAX_BYTES + 1) }], 1009],
  [
    'fragments of one byte too many',
    [
      { opcode: TEXT, fin: false, payload: 'x'.repeat(MAX_BYTES) },
      { opcode: CONTINUATION, payload: 'x' },
    ],
    1009,
  ],
  [
    'a continuation that claims too much',
    [
      { opcode: TEXT, fin: false, payload: 'x' },
      { opcode: CONTINUATION, claims: 2n ** 40n },
    ],
    1009,
  ],
  ['1 MB of text', [{ opcode: TEXT, payload: 'x'.repeat(1_000_000) }], 1009],
  [
    'fragments of 16 KiB in all',
    [
      { opcode: TEXT, fin: false, payload: 'x'.repeat(MAX_BYTES - 1) },
      { opcode: CONTINUATION, payload: 'x' },
    ],
    /not valid JSON/,
  ],
];

const BINARIES: Case[] = [
  ...[0, 1, 125, 126, 127, MAX_BYTES].map((length): Case => [`binary of ${length} bytes`, [{ opcode: BINARY, payload: Buffer.alloc(length) }], 1003]),
  ['binary that would be a good text', [{ opcode: BINARY, payload: ALIVE }], 1003],
  ['binary in two frames', split(BINARY, Buffer.from(ALIVE), 3), 1003],
  ['bytes that are no frame', [Buffer.from('GET / HTTP/1.1\r\n\r\n')], 1002],
];

const CASES: readonly Case[] = [...RESERVED_BITS, ...RESERVED_OPCODES, ...UNMASKED, ...CONTROL, ...FRAGMENTS, ...UTF8, ...CLOSES, ...LENGTHS, ...BINARIES];

async function judge(t: Test, server: WsServer, [title, parts, outcome]: Case): Promise<void> {
  const client = await RawWs.connect(t, server);
  client.send(...parts);
  const text = (): string => String(client.frames.find(({ opcode }) => opcode === TEXT)?.payload ?? '');
  await until(title, () => client.closeCode !== undefined || text() !== '' || client.raw.closed);
  if (typeof outcome === 'number') t.equal(client.closeCode, outcome, title);
  else t.match(text(), outcome, title);
  client.raw.socket.destroy();
}

t.test(`${CASES.length} cases of RFC 6455 end as it says, and the server lives`, async (t) => {
  t.ok(CASES.length >= 300);
  const server = await startWsServer(t);
  for (const one of CASES) await judge(t, server, one);
  await judge(t, server, ['alive', [{ opcode: TEXT, payload: ALIVE }], /pong/]);
  await until('nothing of them is left', () => server.ws.connections() === 0);
  t.strictSame(
    [...server.log, ...server.wsLog].filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('a ping is answered by a pong with its own bytes', async (t) => {
  const server = await startWsServer(t);
  const client = await RawWs.connect(t, server);
  for (const length of [0, 1, 125]) {
    const payload = Buffer.alloc(length, length);
    const { length: before } = client.frames;
    client.send({ opcode: PING, payload });
    await until('a pong', () => client.frames.length > before);
    t.strictSame(client.frames.at(-1), { opcode: PONG, payload });
  }
  client.send({ opcode: PONG, payload: 'nobody asked' }, { opcode: TEXT, payload: ALIVE });
  await until('the answer', () => client.frames.length === 4);
});

t.test('a message may come byte by byte', async (t) => {
  const server = await startWsServer(t);
  const client = await RawWs.connect(t, server);
  client.raw.socket.setNoDelay();
  for (const byte of frame({ opcode: TEXT, payload: ALIVE })) {
    client.raw.send(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('the answer', () => client.frames.length === 1);
});

/** 200,000 times the same frame. */
const many = (parts: FrameParts): Buffer => {
  const one = frame(parts);
  return Buffer.alloc(200_000 * one.length, one);
};
const FLOODS: [title: string, bytes: () => Buffer][] = [
  ['empty fragments', () => Buffer.concat([frame({ opcode: TEXT, fin: false }), many({ opcode: CONTINUATION, fin: false })])],
  ['fragments of a byte', () => Buffer.concat([frame({ opcode: TEXT, fin: false }), many({ opcode: CONTINUATION, fin: false, payload: 'x' })])],
  ['messages', () => many({ opcode: TEXT, payload: ALIVE })],
  ['bad messages', () => many({ opcode: TEXT, payload: '{' })],
  ['pings', () => many({ opcode: PING, payload: 'x' })],
  ['pongs', () => many({ opcode: PONG })],
];

t.test('200,000 frames at once end their connection and cost nobody anything', async (t) => {
  const server = await startWsServer(t, { limits: { closeMs: 100 } });
  for (const [title, bytes] of FLOODS) {
    const client = await RawWs.connect(t, server);
    client.raw.send(bytes());
    await until(`${title} are refused`, () => client.closeCode !== undefined || client.raw.closed);
    t.equal(client.closeCode, 1008, title);
    await until('the connection is gone', () => server.ws.connections() === 0);
    client.raw.socket.destroy();
  }
  t.strictSame(
    [...server.log, ...server.wsLog].filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('a length that is only claimed takes no memory', async (t) => {
  const server = await startWsServer(t);
  const before = process.memoryUsage.rss();
  const clients = await Promise.all(Array.from({ length: 50 }, () => RawWs.connect(t, server)));
  for (const client of clients) client.send({ opcode: TEXT, claims: BigInt(MAX_BYTES), payload: '' });
  for (const client of clients) client.send({ opcode: PING }); // swallowed by the message that has not come
  const refused = await Promise.all(Array.from({ length: 50 }, () => RawWs.connect(t, server)));
  for (const client of refused) client.send({ opcode: TEXT, claims: 2n ** 31n });
  for (const client of refused) await until('it is refused', () => client.closeCode === 1009);
  t.ok(process.memoryUsage.rss() - before < 50 * 1024 * 1024);
});
