import t from 'tap';
import { QUICK_TEXT } from '../../../../core/base/json-place.ts';
import { notJson, notUtf8, shredded, tooLarge, tooManyValues, tooMuch } from '../../../../transports/http/wire/body-faults.ts';

const faultOf = (text: string): Error => {
  try {
    JSON.parse(text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it is JSON');
};

t.test('text that is no JSON is said by line and column, without a word of it', async (t) => {
  const text = '{\n  "apiKey": sk-canary\n}';
  const fault = notJson(faultOf(text), text);
  t.match(fault, {
    code: 'INVALID_REQUEST',
    message: 'The body is not valid JSON (line 2, column 13).',
    details: [{ path: '', message: 'is not valid JSON' }],
  });
});

t.test('of a long text the parser names the place, if it does', async (t) => {
  const long = `{"a": "${'x'.repeat(QUICK_TEXT)}" "b": 1}`;
  t.match(notJson(faultOf(long), long).message, /^The body is not valid JSON \(at position \d+\)\.$/);
  t.equal(notJson(new SyntaxError('Unexpected end of JSON input')).message, 'The body is not valid JSON.');
});

t.test('other faults name their limit', async (t) => {
  t.match(notUtf8(), { code: 'INVALID_REQUEST', message: 'The body is not valid UTF-8.' });
  t.match(tooMuch('contains more than 5 JSON values; send fewer'), {
    code: 'INVALID_REQUEST',
    message: 'The body contains more than 5 JSON values; send fewer.',
  });
  t.match(tooManyValues('values', 5).message, /more than 5 JSON values/);
  t.match(tooManyValues('fields', 5).message, /an object with more than 5 fields/);
  t.match(shredded(9, 3).message, /more than 9 chunks of less than 3 bytes; send it with a Content-Length/);
  t.match(tooLarge(7), { code: 'BODY_TOO_LARGE', message: 'The body is larger than 7 bytes.' });
});
