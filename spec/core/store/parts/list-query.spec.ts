import t from 'tap';
import { checkedQuery, cursorAfter, placeAfter } from '../../../../core/store/parts/list-query.ts';
import type { ListQuery } from '../../../../core/store/store.ts';

t.test('a query has its defaults, and a wrong field is named', async (t) => {
  t.same(checkedQuery({}), { sort: 'name', limit: 100 });
  t.match(checkedQuery({ sort: 'costUsd', limit: 1000, state: ['idle'], tag: 'x' }), { sort: 'costUsd', limit: 1000, state: ['idle'], tag: 'x' });
  const refused = { limit: [0, -1, 1001, 1.5, Number.NaN, '3'], sort: ['constructor', '', null], state: [['idle', 'no'], ['']], status: ['no', ''] };
  for (const [field, values] of Object.entries(refused)) {
    for (const value of values) {
      const query = { [field]: value } as ListQuery;
      t.throws(() => checkedQuery(query), { code: 'INVALID_REQUEST', message: new RegExp(`^${field} must be `) }, JSON.stringify(query));
    }
  }
});

t.test('a cursor is for the list that gave it', async (t) => {
  const isName = (_key: string, last: unknown): boolean => last === 'b';
  const cursor = cursorAfter('state', 'idle', 'b');
  t.match(cursor, /^[\w-]+$/, 'it needs no escaping in an address');
  t.same(placeAfter(cursor, 'state', isName), { key: 'idle', last: 'b' });
  for (const [given, sort] of [
    [cursor, 'name'],
    [cursorAfter('state', 'idle', 3), 'state'],
    [Buffer.from('{"sort":"state","key":3,"last":"b"}').toString('base64url'), 'state'],
    ['%', 'state'],
    ['', 'state'],
  ] as const) {
    t.throws(() => placeAfter(given, sort, isName), { code: 'INVALID_REQUEST', message: /^cursor / }, given);
  }
});
