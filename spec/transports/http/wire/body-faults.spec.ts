import t from 'tap';
import { notJson, notUtf8, tooLarge, tooMuch } from '../../../../transports/http/wire/body-faults.ts';

/** What JSON.parse says of a text. */
function faultOf(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('the text is JSON');
}

t.test('a body that is no JSON is refused with the place of its fault, and nothing of it is quoted', async (t) => {
  const text = '{\n  "a": secret\n}';
  const fault = notJson(faultOf(text), text);
  t.match(fault, { code: 'INVALID_REQUEST', message: /^The body is not valid JSON \(.*line 2.*\)\.$/, details: [{ path: '', message: 'is not valid JSON' }] });
  t.notMatch(fault.message, 'secret');
  t.match(notJson(new SyntaxError('Unexpected token in JSON at position 7')).message, 'The body is not valid JSON (at position 7).');
  t.equal(notJson(new SyntaxError('Unexpected end of JSON input')).message, 'The body is not valid JSON.');
});

t.test('the other faults of a body have their codes and their limits', async (t) => {
  t.match(tooMuch('has more than 4 JSON values'), { code: 'INVALID_REQUEST', message: 'The body has more than 4 JSON values.' });
  t.match(notUtf8(), { code: 'INVALID_REQUEST', message: 'The body is not valid UTF-8.' });
  t.match(tooLarge(1024), { code: 'BODY_TOO_LARGE', message: 'The body is larger than 1024 bytes.' });
});
