import t from 'tap';
import { decodeFrame, FrameSplitter, loadFrameCodec } from '../../../adapters/bedrock/frames.ts';
import { BlockhouseError } from '../../../core/index.ts';
import { eventFrame, frameOf, HEX_EXCEPTION_FRAME, HEX_TEXT_FRAME } from './help.ts';

t.test('decoding before the codec is loaded is a defect that says so', async (t) => {
  t.throws(() => decodeFrame(Buffer.from(HEX_TEXT_FRAME, 'hex')), /loadFrameCodec\(\) must come before/);
});

t.test('with the codec', async (t) => {
  await loadFrameCodec();
  await loadFrameCodec();

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
});

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

t.test('a large frame in small chunks is joined once, not for each chunk', async (t) => {
  const frame = frameOf({}, 'x'.repeat(8 * 1024 * 1024));
  const splitter = new FrameSplitter();
  const started = performance.now();
  let found = 0;
  for (let at = 0; at < frame.length; at += 1024) found += [...splitter.push(frame.subarray(at, at + 1024))].length;
  t.equal(found, 1);
  t.ok(performance.now() - started < 2000, 'joining for each of the 8192 chunks would copy 32 GiB');
});
