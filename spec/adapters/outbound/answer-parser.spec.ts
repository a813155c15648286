import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createRawServer } from 'node:net';
import t, { type Test } from 'tap';
import { AnswerParser, UnreadableAnswer } from '../../../adapters/outbound/answer-parser.ts';
import { Random } from '../../support/crash/random.ts';

interface Read {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly isEnded: boolean;
  readonly keepsAlive: boolean;
}

function read(pieces: readonly Buffer[]): Read {
  const parser = new AnswerParser();
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  let body = '';
  parser.begin({
    head: (one, others) => {
      status = one;
      headers = others;
    },
    body: (piece) => {
      body += piece.toString('latin1');
    },
  });
  for (const piece of pieces) if (!parser.isEnded) parser.read(piece);
  return { status, headers: { ...headers }, body, isEnded: parser.isEnded, keepsAlive: parser.keepsAlive };
}

/** Whole, byte by byte, and cut at each place. */
function cuts(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'latin1');
  const all = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))];
  for (let at = 1; at < bytes.length; at += 1) all.push([bytes.subarray(0, at), bytes.subarray(at)]);
  return all;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const ANSWERS: readonly (readonly [what: string, text: string, expected: Partial<Read>])[] = [
  ['with a length', `${HEAD}content-length: 5\r\n\r\nhello`, { status: 200, body: 'hello', isEnded: true, keepsAlive: true }],
  ['with the length 0', `${HEAD}Content-Length: 0\r\n\r\n`, { body: '', isEnded: true, keepsAlive: true }],
  ['without a reason', 'HTTP/1.1 404 \r\ncontent-length: 2\r\n\r\nno', { status: 404, body: 'no', isEnded: true }],
  ['with nothing behind the status', 'HTTP/1.1 404\r\ncontent-length: 2\r\n\r\nno', { status: 404, body: 'no', isEnded: true }],
  ['that is to be closed', `${HEAD}connection: Close\r\ncontent-length: 2\r\n\r\nok`, { body: 'ok', isEnded: true, keepsAlive: false }],
  ['without a length', `${HEAD}\r\nuntil the end`, { body: 'until the end', isEnded: false, keepsAlive: false }],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', { body: 'ok', isEnded: true, keepsAlive: false }],
  ['that has no body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, isEnded: true, keepsAlive: true }],
  ['that has no body, with a length', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', { status: 304, body: '', isEnded: true }],
  ['in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, { body: 'hello world', isEnded: true, keepsAlive: true }],
  [
    'in chunks with letters in the size',
    `${HEAD}transfer-encoding: chunked\r\n\r\n0A\r\n0123456789\r\n0b\r\n0123456789a\r\n000\r\n\r\n`,
    { body: '01234567890123456789a', isEnded: true },
  ],
  ['in chunks with zeros before the size', `${HEAD}transfer-encoding: chunked\r\n\r\n0000000000000002\r\nok\r\n0\r\n\r\n`, { body: 'ok', isEnded: true }],
  [
    'whose chunks are named twice',
    `${HEAD}transfer-encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    { body: 'ok', isEnded: true },
  ],
  [
    'with an empty coding behind the chunks',
    `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding:\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    { body: 'ok', isEnded: true, keepsAlive: true },
  ],
  ['of the coding identity', `${HEAD}transfer-encoding: identity\r\n\r\nuntil the end`, { body: 'until the end', isEnded: false, keepsAlive: false }],
  ['in chunks with extensions', `${HEAD}transfer-encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0;x\r\n\r\n`, { body: 'ok', isEnded: true }],
  [
    'in chunks with trailers',
    `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n`,
    { body: 'ok', isEnded: true, keepsAlive: true },
  ],
  ['in chunks that look like chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n0\r\n\r\n\r\n0\r\n\r\n`, { body: '0\r\n\r\n', isEnded: true }],
  [
    'behind 100, 102 and 103',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`,
    { status: 200, body: 'ok', isEnded: true },
  ],
  ['with blanks around a value', `${HEAD}x:  a b \t\r\ny:\r\ncontent-length:2\r\n\r\nok`, { body: 'ok', headers: { x: 'a b', y: '', 'content-length': '2' } }],
  ['with a header twice', `${HEAD}x: a\r\nX: b\r\ncontent-length: 0\r\n\r\n`, { headers: { x: 'a, b', 'content-length': '0' } }],
  [
    'with headers named like members of objects',
    `${HEAD}constructor: a\r\ntoString: b\r\nhasOwnProperty: c\r\ncontent-length: 0\r\n\r\n`,
    { isEnded: true, headers: { constructor: 'a', tostring: 'b', hasownproperty: 'c', 'content-length': '0' } as never },
  ],
  [
    'with bytes above ASCII',
    `${HEAD}x: caf\xe9\r\ncontent-length: 3\r\n\r\n\xe2\x82\xac`,
    { body: '\xe2\x82\xac', headers: { x: 'caf\xe9', 'content-length': '3' } },
  ],
];

const REFUSED: readonly (readonly [what: string, text: string])[] = [
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['no HTTP of version 1', 'HTTP/2 200\r\n\r\n'],
  ['a status that is none', 'HTTP/1.1 2x0 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a line feed alone in the status line', 'HTTP/1.1 200 OK\nx: y\r\n\r\n'],
  ['a header without a colon', `${HEAD}no colon\r\nx: y\r\n\r\n`],
  ['a header without a name', `${HEAD}: y\r\n\r\n`],
  ['a blank before the colon', `${HEAD}content-length : 2\r\n\r\nok`],
  ['a folded line', `${HEAD}x: a\r\n b\r\n\r\n`],
  ['a line feed alone in a value', `${HEAD}x: a\nb: c\r\n\r\n`],
  ['a carriage return alone in a value', `${HEAD}x: a\rb\r\n\r\n`],
  ['a carriage return alone at the beginning of a value', `${HEAD}x:\r y\r\n\r\n`],
  ['a line feed alone at the end of a value', `${HEAD}x: y\n\r\n\r\n`],
  ['a line feed alone behind a length', `${HEAD}content-length: 2\n\r\n\r\nok`],
  ['a null in a value', `${HEAD}x: a\0b\r\n\r\n`],
  ['a length beside chunks', `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['two lengths', `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
  ['the same length twice', `${HEAD}content-length: 2\r\ncontent-length: 2\r\n\r\nok`],
  ['two lengths in one', `${HEAD}content-length: 2, 2\r\n\r\nok`],
  ['a negative length', `${HEAD}content-length: -2\r\n\r\nok`],
  ['a length with a sign', `${HEAD}content-length: +2\r\n\r\nok`],
  ['a hexadecimal length', `${HEAD}content-length: 0x2\r\n\r\nok`],
  ['a chunk without a size', `${HEAD}transfer-encoding: chunked\r\n\r\n\r\nok`],
  ['a size that is none', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`],
  ['a size with a sign', `${HEAD}transfer-encoding: chunked\r\n\r\n-2\r\nok\r\n`],
  ['a size beyond all measure', `${HEAD}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nok\r\n`],
  ['a chunk longer than its size', `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n`],
  ['a line feed alone behind a size', `${HEAD}transfer-encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n`],
  ['line feeds alone from the beginning', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
  ['line feeds alone behind a good line', `${HEAD}content-length: 2\n\nok`],
  ['an object in place of chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n{"a":1}`],
  ['a word in place of chunks', `${HEAD}transfer-encoding: chunked\r\n\r\nbad gateway`],
  ['more behind a chunk than a line end', `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nokay`],
  ['a compression in chunks', `${HEAD}transfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['chunks beside the coding identity', `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['a compression of chunks', `${HEAD}transfer-encoding: chunked, gzip\r\n\r\nok`],
  ['a coding with a blank that is none', `${HEAD}transfer-encoding: chunked\xa0\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'],
];

t.test('an answer is read the same, wherever its bytes are cut', async (t) => {
  for (const [what, text, expected] of ANSWERS) {
    for (const pieces of cuts(text)) {
      const found = read(pieces);
      if (Object.entries(expected).every(([name, value]) => JSON.stringify(found[name as keyof Read]) === JSON.stringify(value))) continue;
      t.match(found, expected, `${what}, in ${pieces.length} pieces, the first of ${pieces[0]?.length}`);
    }
    t.match(read([Buffer.from(text, 'latin1')]), expected, what);
  }
});

t.test('one-piece: chunks that came together are handed over together', async (t) => {
  const pieces: string[] = [];
  const parser = new AnswerParser();
  parser.begin({ head: () => undefined, body: (piece) => void pieces.push(piece.toString()) });
  const bytes = Buffer.from(`${HEAD}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(1000)}2\r\ny`);
  const before = Buffer.from(bytes);
  parser.read(bytes);
  t.strictSame(pieces, [`${'x'.repeat(1000)}y`]);
  t.strictSame(bytes, before, 'the bytes that came are as they were');
  parser.read(Buffer.from('z\r\n1\r\na\r\n0\r\n\r\n'));
  t.strictSame(pieces.slice(1), ['za']);
  t.equal(parser.isEnded, true);
});

t.test('one-piece: what came before bytes that are no answer is handed over', async (t) => {
  const pieces: string[] = [];
  const parser = new AnswerParser();
  parser.begin({ head: () => undefined, body: (piece) => void pieces.push(piece.toString()) });
  t.throws(() => parser.read(Buffer.from(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\nno\r\n`)), { message: 'a chunk without a size' });
  t.strictSame(pieces, ['ok!']);
});

t.test('what is no answer, or could be read in two ways, is refused, wherever it is cut', async (t) => {
  for (const [what, text] of REFUSED) {
    const kept = cuts(text).filter((pieces) => !isRefused(() => read(pieces)));
    t.equal(kept.length, 0, what);
  }
});

t.test('each part has a cap', async (t) => {
  const long = 'x'.repeat(70_000);
  for (const [what, text] of [
    ['a status line', `HTTP/1.1 200 ${long}`],
    ['a header', `${HEAD}x: ${long}`],
    ['many headers', `${HEAD}${'x: y\r\n'.repeat(20_000)}`],
    ['a 1xx that never ends', `HTTP/1.1 103 Early Hints\r\n${'x: y\r\n'.repeat(20_000)}`],
    ['many 1xx', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3000)],
    ['an extension', `${HEAD}transfer-encoding: chunked\r\n\r\n2;${long}`],
    ['a trailer', `${HEAD}transfer-encoding: chunked\r\n\r\n0\r\nx: ${long}`],
    ['many trailers', `${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(20_000)}`],
  ] as const) {
    const bytes = Buffer.from(text);
    t.ok(
      isRefused(() => read([bytes])),
      what,
    );
    t.ok(
      isRefused(() => read(Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, index) => bytes.subarray(index * 1000, index * 1000 + 1000)))),
      `${what}, in pieces`,
    );
  }
});

t.test('what comes behind an answer is not read, and the connection is not kept', async (t) => {
  const found = read([Buffer.from(`${HEAD}content-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n`)]);
  t.match(found, { body: 'ok', isEnded: true, keepsAlive: false });
});

t.test('how long the provider keeps an idle connection is read', async (t) => {
  for (const [value, seconds] of [
    ['timeout=5', 5],
    ['max=100, timeout=72', 72],
    ['Timeout=7', 7],
    ['max=5', undefined],
    ['timeout=soon', undefined],
  ] as const) {
    const parser = new AnswerParser();
    parser.begin({ head: () => undefined, body: () => undefined });
    parser.read(Buffer.from(`${HEAD}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`));
    t.equal(parser.keepAliveSeconds, seconds, value);
  }
});

t.test("Node's own client reads the same answers alike", async (t) => {
  for (const [what, text, { status, body }] of ANSWERS) {
    const judged = await byNode(t, text);
    if (status !== undefined) t.equal(judged?.status, status, what);
    if (body !== undefined) t.equal(judged?.body, body, what);
  }
});

t.test('random bytes in answers are read or refused, and cuts change nothing', async (t) => {
  const random = new Random(20_261_123);
  const pick = (length: number): number => random.below(length);
  let refused = 0;
  for (let turn = 0; turn < 4000; turn += 1) {
    const bytes = Buffer.from(ANSWERS[pick(ANSWERS.length)]?.[1] ?? '', 'latin1');
    for (let change = pick(3); change > 0; change -= 1) bytes[pick(bytes.length)] = [10, 13, 32, 48, 58, 59, 255, pick(256)][pick(8)] ?? 0;
    const at = [pick(bytes.length), pick(bytes.length)].sort((one, other) => one - other);
    const whole = outcome([bytes]);
    const cut = outcome([bytes.subarray(0, at[0]), bytes.subarray(at[0], at[1]), bytes.subarray(at[1])].filter(({ length }) => length > 0));
    if (whole === '"refused"') refused += 1;
    // Bytes behind the end are noticed only where they come with it.
    if (whole !== cut && JSON.stringify({ ...JSON.parse(whole), keepsAlive: 0 }) !== JSON.stringify({ ...JSON.parse(cut), keepsAlive: 0 }))
      t.equal(cut, whole, JSON.stringify([bytes.toString('latin1'), at]));
  }
  t.ok(refused > 100 && refused < 3900, `${refused} were refused`);
});

function outcome(pieces: readonly Buffer[]): string {
  try {
    return JSON.stringify(read(pieces));
  } catch (error) {
    if (error instanceof UnreadableAnswer) return '"refused"';
    throw error;
  }
}

function isRefused(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof UnreadableAnswer) return true;
    throw error;
  }
}

/** What the client of node:http makes of an answer; undefined if it refuses it. */
async function byNode(t: Test, text: string): Promise<{ readonly status: number; readonly body: string } | undefined> {
  const server = createRawServer((socket) => {
    socket.on('error', () => undefined); // the client may leave
    socket.once('data', () => socket.end(text, 'latin1'));
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    const req = request({ port, host: '127.0.0.1', agent: false }, (res) => {
      let body = '';
      res.setEncoding('latin1');
      res.on('data', (piece: string) => {
        body += piece;
      });
      res.on('error', () => resolve(undefined));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body }));
    });
    req.on('error', () => resolve(undefined));
    req.end();
  });
}
