import t from 'tap';
import { LineReader } from '../../../adapters/outbound/lines.ts';
import { ANSWER_LIMITS } from '../../../core/index.ts';

/** All lines of `bytes`, handed over in these pieces. */
function read(pieces: readonly Buffer[], reader = new LineReader()): string[] {
  const lines = pieces.flatMap((piece) => reader.push(piece));
  const rest = reader.end();
  return rest === undefined ? lines : [...lines, rest];
}

function cutAt(bytes: Buffer, ...offsets: number[]): Buffer[] {
  return [0, ...offsets].map((from, index) => bytes.subarray(from, offsets[index] ?? bytes.length));
}

const TEXT = '\ufefffirst\nzweite ü\r\nthird €\r\rfünf 🎈\n\r\nlast\u2028\u0085 still last\0';
const LINES = ['first', 'zweite ü', 'third €', '', 'fünf 🎈', '', 'last\u2028\u0085 still last\0'];

t.test('LF, CRLF and CR end a line, and nothing else does', async (t) => {
  t.same(read([Buffer.from(TEXT)]), LINES);
});

t.test('the lines do not depend on where the bytes are cut', async (t) => {
  const bytes = Buffer.from(TEXT);
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      const lines = read(cutAt(bytes, first, second));
      if (JSON.stringify(lines) !== JSON.stringify(LINES)) t.same(lines, LINES, `cut at ${first} and ${second}`);
    }
  }
  t.same(read([...bytes].map((byte) => Buffer.of(byte))), LINES, 'a byte at a time');
});

t.test('a line comes as soon as its end is there', async (t) => {
  const reader = new LineReader();
  t.same(reader.push(Buffer.from('a')), []);
  t.same(reader.push(Buffer.from('b\rc')), ['ab']);
  t.same(reader.push(Buffer.from('\n')), ['c']);
  t.same(reader.push(Buffer.from('d\r')), ['d']);
  t.same(reader.push(Buffer.from('\n')), [], 'the LF of a CRLF that came apart is no empty line');
  t.same(reader.push(Buffer.from('\n')), [''], 'but one more is');
  t.equal(reader.end(), undefined);
});

t.test('a byte order mark is taken off the beginning and nowhere else', async (t) => {
  t.same(read([Buffer.from('\ufeffa\n\ufeffb')]), ['a', '\ufeffb']);
});

t.test('bytes that are no UTF-8 become replacement characters, not an error', async (t) => {
  t.same(read([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3])]), ['a\ufffdb', '\ufffd']);
});

t.test('nothing at all has no line', async (t) => {
  t.same(read([]), []);
  t.same(read([Buffer.alloc(0)]), []);
});

t.test('a line up to 1 MiB is taken', async (t) => {
  const line = Buffer.alloc(ANSWER_LIMITS.line, 'x');
  t.equal(read([line, Buffer.from('\n')])[0]?.length, ANSWER_LIMITS.line);
  t.equal(read([line])[0]?.length, ANSWER_LIMITS.line, 'also without its end');
});

const TOO_LONG = { code: 'UPSTREAM_MALFORMED', mayHaveRun: true };

t.test('a longer line is an error as soon as it is too long', async (t) => {
  t.test('without its end, in pieces', async (t) => {
    const reader = new LineReader();
    let taken = 0;
    t.throws(() => {
      for (;;) {
        reader.push(Buffer.alloc(64 * 1024, 'x'));
        taken += 64 * 1024;
      }
    }, TOO_LONG);
    t.equal(taken, ANSWER_LIMITS.line);
  });
  t.test('in one piece with its end', async (t) => {
    t.throws(() => new LineReader(10).push(Buffer.from(`${'x'.repeat(11)}\n`)), TOO_LONG);
    t.throws(() => new LineReader(10).push(Buffer.from(`a\n${'x'.repeat(11)}\nb\n`)), TOO_LONG);
  });
});

t.test('many lines may be longer than the cap together', async (t) => {
  t.equal(read([Buffer.from('123456789\n'.repeat(100))], new LineReader(10)).length, 100);
});
