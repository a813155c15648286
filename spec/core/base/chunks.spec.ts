import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { Chunks } from '../../../core/base/chunks.ts';
import { argsForText } from '../../support/node-args.ts';
import { sweep } from '../../support/sweep.ts';

const KIB = 1024;

/** A chunk as a socket brings it: a view of what was read at once, which is `readBytes` long. */
function chunkOf(text: string, readBytes: number): Buffer {
  const read = Buffer.alloc(readBytes);
  return read.subarray(0, read.write(text));
}

function joined(...chunks: readonly Buffer[]): Chunks {
  const all = new Chunks();
  for (const chunk of chunks) all.add(chunk);
  return all;
}

t.test('chunks of every size are joined in their order', async (t) => {
  const some = [1, 5000, 3, 4096, 4095, 1, 1, 70_000, 20, 9000, 0, 2];
  const sizes = [...some, ...some, ...some, ...some];
  const chunks = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const all = joined(...chunks);
  t.ok(all.join().equals(Buffer.concat(chunks)));
  t.ok(all.join(Buffer.from('end')).equals(Buffer.concat([...chunks, Buffer.from('end')])), 'with an end behind them');
  t.equal(all.bytes, Buffer.concat(chunks).length, 'the end is not kept');
});

t.test('what was joined is not joined again, and what comes later stands behind it', async (t) => {
  const all = joined(Buffer.alloc(9000, 'a'), Buffer.alloc(9000, 'b'));
  const first = all.join();
  t.equal(all.join(), first);
  all.add(Buffer.from('c'));
  t.equal(all.join().toString(), `${first.toString()}c`);
});

t.test('the start is read from as many chunks as it needs', async (t) => {
  const all = joined(Buffer.from('one, '), Buffer.alloc(9000, 'x'), Buffer.alloc(9000, 'y'));
  t.equal(all.start(3).toString(), 'one');
  t.equal(all.start(7).toString(), 'one, xx');
  t.equal(all.start(20_000).length, 18_005, 'all, where there is no more');
  t.equal(joined().start(5).length, 0);
});

t.test('nothing is joined to nothing', async (t) => {
  const all = joined(Buffer.alloc(0));
  t.equal(all.bytes, 0);
  t.equal(all.join().length, 0);
  const end = Buffer.from('end');
  t.equal(all.join(end), end, 'and an end alone is not copied');
});

t.test('after clearing they begin anew', async (t) => {
  const all = joined(Buffer.alloc(9000, 'a'), Buffer.from('b'));
  all.clear();
  t.equal(all.bytes, 0);
  all.add(Buffer.from('c'));
  t.equal(all.join().toString(), 'c');
});

t.test('a lone chunk is not copied, nor are a few before they are joined', async (t) => {
  const small = chunkOf('an answer', 2 * KIB); // its head came with it
  t.equal(joined(small).join(), small);
  const large = Buffer.alloc(40 * KIB);
  t.equal(joined(large).join(), large);
  const both = joined(small, large);
  small.fill('a');
  large.fill('b');
  t.ok(both.join().equals(Buffer.concat([small, large])), 'what was written into them later is there');
});

t.test('a small chunk does not keep the whole read that it is a part of', async (t) => {
  t.ok(joined(chunkOf('the begin of a line', 64 * KIB)).join().buffer.byteLength <= 8 * KIB);
  const large = Buffer.alloc(64 * KIB).subarray(0, 10 * KIB);
  t.not(joined(large).join().buffer, large.buffer, 'nor does a larger one that is less than half of it');
});

/** At 100 bytes and more for the object of each chunk, so many would need twice the heap. */
const CHUNK_COUNT = sweep(2.5, 0.875) * KIB * KIB;
const HEAP_MIB = sweep(96, 44);

interface Reader {
  readonly what: string;
  readonly imports: string;
  readonly setUp: string;
  readonly read: string;
  /** How many bytes it has in the end. */
  readonly result: string;
}

const READERS: readonly Reader[] = [
  {
    what: 'a body',
    imports: `import { BodyCollector } from './adapters/shared/response-handlers.ts';`,
    setUp: `const body = new BodyCollector(); body.head(200, {});`,
    read: 'body.data(chunk);',
    result: 'body.text().length',
  },
  {
    what: 'a line',
    imports: `import { LineReader } from './adapters/outbound/lines.ts';`,
    setUp: `const lines = new LineReader(${CHUNK_COUNT});`,
    read: 'lines.push(chunk);',
    result: `lines.push(Buffer.from('\\n'))[0].length`,
  },
  {
    what: 'a frame',
    imports: `import { FrameSplitter } from './adapters/bedrock/frames.ts';`,
    setUp: `const frames = new FrameSplitter(); const prefix = Buffer.alloc(4); prefix.writeUInt32BE(${CHUNK_COUNT + 5}); frames.push(prefix).next();`,
    read: 'frames.push(chunk).next();',
    result: `frames.push(Buffer.from('x')).next().value.length - 5`,
  },
  {
    what: 'a request',
    imports: `import { EventEmitter } from 'node:events'; import { readBytes } from './transports/http/wire/body.ts'; import { BodyRoom } from './transports/http/wire/body-room.ts';`,
    setUp: `const headers = { 'content-length': '${CHUNK_COUNT}', 'content-type': 'x/y' }; const req = Object.assign(new EventEmitter(), { headers, socket: {}, pause() {}, resume() {}, readableLength: 0 });
     const bodies = new BodyRoom({ bytes: 1e9, patienceMs: 60_000 });
     const body = readBytes({ req, res: new EventEmitter(), server: { bodyStallMs: 60_000, bodies } }, ${CHUNK_COUNT}, 'x/y');
     await new Promise(setImmediate);`,
    read: `req.emit('data', chunk);`,
    result: `req.emit('end') && (await body).length`,
  },
];

t.test('a body, a line, a frame and a request that come a byte at a time need no more memory than their bytes', async (t) => {
  // One process with a small heap for all, one after the other: the last line that it prints says how far it came.
  const source = `${READERS.map(({ imports }) => imports).join('\n')}
    const bytes = Buffer.alloc(4096, 'x'); // a read so small that a chunk of it may keep it
    ${READERS.map(
      ({ what, setUp, read, result }) => `{
      ${setUp}
      for (let count = 0; count < ${CHUNK_COUNT}; count += 1) {
        const chunk = bytes.subarray(count % bytes.length, count % bytes.length + 1);
        ${read}
      }
      console.log('${what}', ${result});
    }`,
    ).join('\n')}`;
  const args = [`--max-old-space-size=${HEAP_MIB}`, ...argsForText(source)];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
  t.strictSame(
    stdout.trim().split('\n'),
    READERS.map(({ what }) => `${what} ${CHUNK_COUNT}`),
  );
});

t.test('with room for all of them, chunks of every size are joined where they were copied to', async (t) => {
  const chunks = [1, 70_000, 3, 4096, 9000].map((size, index) => Buffer.alloc(size, index + 1));
  const whole = Buffer.concat(chunks);
  const all = new Chunks(whole.length);
  for (const chunk of chunks) all.add(chunk);
  const joined = all.join();
  t.ok(joined.equals(whole));
  t.equal(joined.buffer.byteLength, whole.length, 'and no byte more is held');
  t.equal(all.join().buffer, joined.buffer, 'nor is there a second copy');
});

t.test('more chunks than there was room for, and fewer, are joined all the same', async (t) => {
  for (const expected of [1, 10, 5000]) {
    const all = new Chunks(expected);
    const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(index * 10 + 1, index));
    for (const chunk of chunks) all.add(chunk);
    t.ok(all.join().equals(Buffer.concat(chunks)), `room for ${expected}`);
  }
  const few = new Chunks(100);
  few.add(Buffer.from('few'));
  t.equal(few.join().toString(), 'few');
});
