import t from 'tap';
import { parseBytes } from '../../../core/workspace/json-bytes.ts';

t.test('JSON is parsed, with whatever text is in it', (t) => {
  t.same(parseBytes(Buffer.from(' {"a": ["é\\u2028\\ud800", null, 1e300]}\n')), { a: ['é\u2028\ud800', null, 1e300] });
  t.end();
});

t.test('what is wrong is said without a quotation', (t) => {
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
  t.match(faultOf('{"key": sk-secret}'), /^it is not valid JSON( \(at position \d+\))?$/);
  t.match(faultOf('{"a":1}x'), /^it is not valid JSON \(at position 7\)$/);
  t.end();
});
