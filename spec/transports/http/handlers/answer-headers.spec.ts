import t from 'tap';
import { headersOf } from '../../../../transports/http/handlers/answer-headers.ts';

t.test('the headers of an answer name its model and what was ignored, in characters that a header takes', (t) => {
  const target = { adapter: 'openai', model: 'gpt-é\r\nx: y' };
  t.same(headersOf(target, []), { 'x-blockhouse-model': 'openai/gpt-???x: y' });
  t.same(headersOf({ adapter: 'openai', model: 'm' }, [{ field: 'a' }, { field: 'ü' }, { field: 'a' }], { 'request-id': 'r' }), {
    'x-blockhouse-model': 'openai/m',
    'request-id': 'r',
    'x-blockhouse-warnings': 'a; ?',
  });
  const many = Array.from({ length: 2000 }, (_, index) => ({ field: `f${index}` }));
  t.equal(headersOf(target, many)['x-blockhouse-warnings']?.length, 2048);
  t.end();
});
