import t from 'tap';
import { param, type RouteContext, type RouteEntry, routesOf } from '../../../../transports/http/wire/route.ts';

const entry = (id: string): RouteEntry => ({ id, tag: 'Server', summary: id, description: `${id}.`, answers: {}, handler: () => ({ status: 200, body: {} }) });

t.test('a parameter that the route does not have is empty', async (t) => {
  const context = { params: { id: 'x' } } as unknown as RouteContext;
  t.equal(param(context, 'id'), 'x');
  t.equal(param(context, 'part'), '');
});

t.test('the key of an entry is the method and the path of its route, in the order of the table', async (t) => {
  t.match(routesOf({ 'GET /a/:id': entry('one'), 'POST /a': entry('two') }), [
    { method: 'GET', path: '/a/:id', id: 'one' },
    { method: 'POST', path: '/a', id: 'two' },
  ]);
});
