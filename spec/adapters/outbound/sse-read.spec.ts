import t from 'tap';
import { ANSWER_LIMITS } from '../../../core/index.ts';
import { SseReader, type SseRecord } from '../../../adapters/outbound/sse-read.ts';

function read(pieces: readonly (Buffer | string)[], reader = new SseReader()): SseRecord[] {
  return [...pieces.flatMap((piece) => reader.push(Buffer.from(piece as string))), ...reader.end()];
}

function dataOf(text: string): string[] {
  return read([text]).map(({ data }) => data);
}

const STREAM = [
  '\ufeff: welcome\n\nevent: greeting\ndata: {"text":"hällo 🎈"}\nid: 7\nretry: 10\n\n',
  ':\r\nevent:named\r\ndata:one\r\ndata: two\r\ndata:  three\r\n\r\n',
  'data: cr\rdata\r\r',
  'data: line\u2028separator \u0085 and \0 nul\n\n',
  'event: empty\n\nunknown: x\n\ndata: last',
].join('');
const RECORDS = [
  { event: 'greeting', data: '{"text":"hällo 🎈"}' },
  { event: 'named', data: 'one\ntwo\n three' },
  { event: '', data: 'cr\n' },
  { event: '', data: 'line\u2028separator \u0085 and \0 nul' },
  { event: '', data: 'last' },
];

t.test('records, comments, several data lines, every line end, and a last record without its blank line', async (t) => {
  t.same(read([STREAM]), RECORDS);
});

t.test('the records do not depend on where the bytes are cut', async (t) => {
  const bytes = Buffer.from(STREAM);
  for (let offset = 0; offset <= bytes.length; offset += 1) {
    const records = read([bytes.subarray(0, offset), bytes.subarray(offset)]);
    if (JSON.stringify(records) !== JSON.stringify(RECORDS)) t.same(records, RECORDS, `cut at ${offset}`);
  }
  t.same(read([...bytes].map((byte) => Buffer.of(byte))), RECORDS, 'a byte at a time');
});

t.test('a record comes with its blank line, not later', async (t) => {
  const reader = new SseReader();
  t.same(reader.push(Buffer.from('data: a\n')), []);
  t.same(reader.push(Buffer.from('\n')), [{ event: '', data: 'a' }]);
  t.same(reader.end(), []);
});

t.test('one space after the colon is not data; a second one is', async (t) => {
  t.same(dataOf('data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\n'), ['a', 'a', ' a', '\ta']);
});

t.test('empty data is a record; an event name alone is none, and does not stick', async (t) => {
  t.same(read(['data:\n\ndata\n\nevent: x\n\ndata: y\n\n']), [
    { event: '', data: '' },
    { event: '', data: '' },
    { event: '', data: 'y' },
  ]);
});

t.test('fields that only begin like data or event are unknown', async (t) => {
  t.same(read(['database: x\nevents: y\ndata: z\n\n']), [{ event: '', data: 'z' }]);
});

t.test('text that looks like framing inside JSON stays text', async (t) => {
  const data = JSON.stringify({ text: '\n\nevent: done\ndata: {}\r[DONE]\u2028' });
  t.same(dataOf(`data: ${data}\n\n`), [data]);
});

t.test('a bare error object where a record should stand is a record', async (t) => {
  t.same(dataOf('data: a\n\n{"error":{"message":"broke"}}\n'), ['a', '{"error":{"message":"broke"}}']);
  t.same(dataOf('{"error":"x"}'), ['{"error":"x"}'], 'without any line end, too');
  t.same(dataOf('data: a\n{"error":"x"}\n\n'), ['a'], 'inside a record it is an unknown field');
  t.same(dataOf('{"other":1}\n\n'), []);
});

t.test('a stream without records has none', async (t) => {
  t.same(dataOf(''), []);
  t.same(dataOf(': only a comment\n\n\n\n'), []);
});

const TOO_LONG = { code: 'UPSTREAM_MALFORMED', mayHaveRun: true };

t.test('a line or a record beyond 1 MiB is an error, not memory', async (t) => {
  const endless = new SseReader();
  endless.push(Buffer.from('data: '));
  let chunks = 0;
  t.throws(() => {
    for (; chunks < 1000; chunks += 1) endless.push(Buffer.alloc(100 * 1024, 'x'));
  }, TOO_LONG);
  t.equal(chunks, 10, 'given up with the first chunk beyond');
  const manyLines = new SseReader();
  let lines = 0;
  t.throws(() => {
    for (; lines < 1000; lines += 1) manyLines.push(Buffer.from(`data: ${'x'.repeat(100 * 1024)}\n`));
  }, TOO_LONG);
  t.equal(lines, 10);
});

t.test('records below the cap may be many', async (t) => {
  t.equal(read([`data: ${'x'.repeat(90)}\n\n`.repeat(50)], new SseReader(100)).length, 50);
});

t.test('few-lines: a record of very many data lines is refused, however short they are, and each record has as many', async (t) => {
  const most = ANSWER_LIMITS.frameLines;
  for (const line of ['data:\n', 'data\n', 'data: a\r\n']) {
    const whole = `${line.repeat(most)}\n`;
    t.equal(read([whole, whole]).length, 2);
    t.throws(() => read([line.repeat(most), line]), { code: 'UPSTREAM_MALFORMED', message: 'The provider sent a record of more than 10000 lines.' });
  }
});
