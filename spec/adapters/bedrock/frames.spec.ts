import { crc32 } from 'node:zlib';
import { EventStreamCodec, Int64, type MessageHeaders } from '@smithy/eventstream-codec';
import t from 'tap';
import { decodeFrame, FrameSplitter } from '../../../adapters/bedrock/frames.ts';
import { BlockhouseError } from '../../../core/index.ts';
import { eventFrame, frameOf, HEX_EXCEPTION_FRAME, HEX_TEXT_FRAME } from './help.ts';

t.test('the two known frames are read', async (t) => {
  t.same(decodeFrame(Buffer.from(HEX_TEXT_FRAME, 'hex')), {
    headers: { ':event-type': 'contentBlockDelta', ':content-type': 'application/json', ':message-type': 'event' },
    payload: '{"contentBlockIndex":0,"delta":{"text":"Hé"}}',
  });
  t.same(decodeFrame(Buffer.from(HEX_EXCEPTION_FRAME, 'hex')), {
    headers: { ':exception-type': 'throttlingException', ':content-type': 'application/json', ':message-type': 'exception' },
    payload: '{"message":"slow down"}',
  });
});

t.test("headers of every type that AWS's own codec writes are read over, and those of text are kept", async (t) => {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
    (text) => Buffer.from(text),
  );
  const headers: MessageHeaders = {
    first: { type: 'string', value: 'é' },
    yes: { type: 'boolean', value: true },
    no: { type: 'boolean', value: false },
    byte: { type: 'byte', value: -1 },
    short: { type: 'short', value: 2 },
    integer: { type: 'integer', value: 3 },
    long: { type: 'long', value: Int64.fromNumber(4) },
    binary: { type: 'binary', value: Buffer.from('five') },
    timestamp: { type: 'timestamp', value: new Date(6) },
    uuid: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
    last: { type: 'string', value: '' },
  };
  const frame = Buffer.from(codec.encode({ headers, body: Buffer.from('{}') }));
  t.same(decodeFrame(frame), { headers: { first: 'é', last: '' }, payload: '{}' });
});

t.test('headers that lie about their length are damage, though the checksums are right', async (t) => {
  const text = Buffer.from([1, 0x61, 7, 0, 9, 0x62]);
  for (const [what, headers, length] of [
    ['a text longer than the headers', text, text.length],
    ['a name longer than the headers', Buffer.from([200, 0x61]), 2],
    ['a type that there is not', Buffer.from([1, 0x61, 10]), 3],
    ['a length that is cut off', Buffer.from([1, 0x61, 7, 0]), 4],
    ['headers longer than the frame', Buffer.alloc(0), 5],
    ['more headers than AWS allows', Buffer.concat(Array.from({ length: 44_000 }, () => Buffer.from([1, 0x61, 0]))), 132_000],
  ] as const)
    t.ok(isDamaged(sealed(headers, length)), what);
});

t.test('a frame with any byte changed is damaged', async (t) => {
  const good = Buffer.from(HEX_TEXT_FRAME, 'hex');
  const unnoticed: number[] = [];
  for (let at = 4; at < good.length; at += 1) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] as number) ^ 1;
    if (!isDamaged(bad)) unnoticed.push(at);
  }
  t.same(unnoticed, []);
});

/** A frame with right checksums around these headers. */
function sealed(headers: Buffer, claimed: number): Buffer {
  const frame = Buffer.concat([Buffer.alloc(12), headers, Buffer.alloc(4)]);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(claimed, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

function isDamaged(bytes: Buffer): boolean {
  try {
    decodeFrame(bytes);
    return false;
  } catch (error) {
    return error instanceof BlockhouseError && error.code === 'UPSTREAM_MALFORMED' && error.message.includes('a frame is damaged');
  }
}

t.test('frames are cut out wherever the chunks end', async (t) => {
  const frames = [eventFrame('a', { n: 1 }), frameOf({}, ''), eventFrame('b', { text: 'é'.repeat(500) })];
  const all = Buffer.concat(frames);
  for (let size = 1; size <= all.length; size += 1) {
    const splitter = new FrameSplitter();
    const found: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) found.push(...splitter.push(all.subarray(at, at + size)));
    if (found.length !== 3 || !found.every((frame, index) => frame.equals(frames[index] as Buffer))) t.fail(`chunks of ${size} bytes`);
    if (splitter.inFrame) t.fail(`something is left of chunks of ${size} bytes`);
  }
});

t.test('a frame that has begun is known to be incomplete', async (t) => {
  const splitter = new FrameSplitter();
  t.equal(splitter.inFrame, false);
  t.same([...splitter.push(eventFrame('a', {}).subarray(0, 3))], []);
  t.equal(splitter.inFrame, true);
});

t.test('lengths that no frame has are refused before anything is kept', async (t) => {
  for (const length of [0, 15, 16 * 1024 * 1024 + 1, 0xffffffff]) {
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE(length);
    t.throws(() => [...new FrameSplitter().push(prefix)], { code: 'UPSTREAM_MALFORMED', message: new RegExp(`length of ${length} bytes`) });
  }
  t.throws(() => [...new FrameSplitter().push(Buffer.from('{"message":"a JSON body"}'))], { code: 'UPSTREAM_MALFORMED' });
});

t.test('a large frame in small chunks is one frame', async (t) => {
  const frame = frameOf({}, 'x'.repeat(8 * 1024 * 1024));
  const splitter = new FrameSplitter();
  const found: Buffer[] = [];
  for (let at = 0; at < frame.length; at += 1024) found.push(...splitter.push(frame.subarray(at, at + 1024)));
  t.equal(found.length, 1);
  t.ok(found[0]?.equals(frame));
});
