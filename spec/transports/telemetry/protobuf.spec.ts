import t from 'tap';
import { Recent } from '../../../transports/telemetry/recent.ts';
import { Key, ProtobufWriter, varintSize } from '../../../transports/telemetry/protobuf.ts';

const hex = (write: (writer: ProtobufWriter) => void, size = 0): string => {
  const writer = new ProtobufWriter(Buffer.alloc(size));
  write(writer);
  return writer.bytes.subarray(0, writer.at).toString('hex');
};

t.test('numbers are written as the encoding says', async (t) => {
  const varint = (value: number): string =>
    hex((writer) => {
      writer.room(10);
      writer.varint(value);
    });
  t.strictSame([0, 127, 128, 300, 2 ** 31, 2 ** 35, Number.MAX_SAFE_INTEGER].map(varint), [
    '00',
    '7f',
    '8001',
    'ac02',
    '8080808008',
    '808080808001',
    'ffffffffffffff0f',
  ]);
  for (const value of [0, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 35, Number.MAX_SAFE_INTEGER]) t.equal(varintSize(value), varint(value).length / 2);
  t.equal(
    hex((writer) => writer.small(6, 3)),
    '3003',
  );
  t.equal(
    hex((writer) => writer.fixed32(16, 0x301)),
    '850101030000',
  );
});

t.test('a time is exact nanoseconds, beyond what a number can hold', async (t) => {
  const nanos = (ms: number): bigint => Buffer.from(hex((writer) => writer.time(7, ms)).slice(2), 'hex').readBigUInt64LE();
  t.equal(nanos(0), 0n);
  t.equal(nanos(0.000001), 1n);
  t.equal(nanos(1_700_000_000_999.75), 1_700_000_000_999_750_000n);
  t.equal(nanos(999.9999999), 1_000_000_000n);
  t.equal(nanos(17_179_869_184_000), 17_179_869_184_000_000_000n);
});

t.test('a length takes the place that it needs, whatever was kept for it', async (t) => {
  for (const size of [0, 1, 127, 128, 16_383, 16_384, 100_000]) {
    const bytes = hex((writer) => {
      const start = writer.open(2);
      writer.room(size);
      writer.copy(Buffer.alloc(size, 7));
      writer.close(start);
    });
    const length = hex((writer) => {
      writer.room(5);
      writer.varint(size);
    });
    t.equal(bytes, `12${length}${'07'.repeat(size)}`, String(size));
  }
});

t.test('bytes grow as they are written, and keep what is there', async (t) => {
  const writer = new ProtobufWriter(Buffer.alloc(1));
  for (let index = 0; index < 300; index += 1) writer.text(1, `text ${index}`);
  const all = writer.bytes.toString('latin1', 0, writer.at);
  t.ok(all.includes('text 0') && all.includes('text 299'));
  const attribute = hex((one) => one.attribute(9, new Key('k'), 'v'));
  t.equal(attribute, '4a080a016b12030a0176');
  t.equal(
    hex((one) => one.id(1, '00ff10')),
    '0a0300ff10',
  );
});

t.test('of what was made last, as many are kept as may be, and the oldest goes', async (t) => {
  const recent = new Recent<number>(3);
  for (const one of [1, 2, 3, 4]) t.equal(recent.keep(one), one);
  t.strictSame([...recent.all].sort(), [2, 3, 4]);
});
