import t from 'tap';
import { targetOf } from '../../../cli/client/routes.ts';

t.test('a call is the method of its route, its path with the parameters in it, and its query', async (t) => {
  t.same(targetOf('GET /api/blocks', {}), { method: 'GET', target: '/api/blocks' });
  t.same(targetOf('POST /api/blocks/:name/chat/:id/cancel', { name: 'a', id: 'm/1?' }), { method: 'POST', target: '/api/blocks/a/chat/m%2F1%3F/cancel' });
  t.same(targetOf('GET /api/costs', {}, { by: 'day', block: 'a&b' }), { method: 'GET', target: '/api/costs?by=day&block=a%26b' });
  t.same(targetOf('GET /api/costs', {}, { by: undefined, block: undefined }), { method: 'GET', target: '/api/costs' });
  t.same(targetOf('DELETE /api/archive/:name', { name: '$&' }), { method: 'DELETE', target: '/api/archive/%24%26' }, 'nothing in a name is a pattern');
});

t.test('an empty parameter would name another route, and is refused', async (t) => {
  t.throws(() => targetOf('GET /api/blocks/:name', { name: '' }), { kind: 'usage', message: 'A name must not be empty.' });
});

t.test('a route that the server does not have, or parameters that it does not take, do not compile', async (t) => {
  // @ts-expect-error: there is no such route
  t.ok(targetOf('GET /api/nothing', {}));
  // @ts-expect-error: the name is missing
  t.throws(() => targetOf('GET /api/blocks/:name', {}), { kind: 'usage' });
  // @ts-expect-error: the query has no such parameter
  t.ok(targetOf('GET /api/costs', {}, { day: 'x' }));
});
