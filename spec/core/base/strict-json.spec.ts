import t from 'tap';
import { parseBytes } from '../../../core/base/strict-json.ts';

t.test('JSON with any text is parsed', (t) => {
  t.same(parseBytes(Buffer.from(' {"a": ["é\\u2028\\ud800", null, 1e300]}\n')), { a: ['é\u2028\ud800', null, 1e300] });
  t.end();
});

t.test('text that is too deep or has too many values is refused before it is parsed', (t) => {
  const deep = (levels: number): Buffer => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  t.ok(parseBytes(deep(100)));
  for (const levels of [101, 20_000]) t.throws(() => parseBytes(deep(levels)), { message: 'it nests deeper than 100 levels' });
  t.throws(() => parseBytes(Buffer.from('[1,2,3]'), 2), { message: 'it contains more than 2 fields and elements' });
  t.throws(() => parseBytes(Buffer.from(`[${'0,'.repeat(50_000)}0]`)), { message: 'it contains more than 50000 fields and elements' });
  t.same(parseBytes(Buffer.from('[1,2,3]'), 3), [1, 2, 3]);
  t.end();
});

t.test('the error says what is wrong without quoting the text', (t) => {
  const faultOf = (bytes: Buffer | string): string => {
    try {
      parseBytes(Buffer.from(bytes as string));
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing';
  };
  t.equal(faultOf(''), 'it is empty');
  t.equal(faultOf('\r\n\t '), 'it is empty');
  t.equal(faultOf('\ufeff{}'), 'it begins with a byte order mark');
  t.equal(faultOf(Buffer.from([0xff, 0xfe, 0x7b, 0x00])), 'it is not valid UTF-8');
  t.equal(faultOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'it is not valid UTF-8');
  t.equal(faultOf('{"key": sk-secret}'), 'it is not valid JSON (line 1, column 9)');
  t.equal(faultOf('{\r\n  "é": 1\r\n  "b": 2\r\n}'), 'it is not valid JSON (line 3, column 3)');
  t.end();
});
