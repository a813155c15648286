import t from 'tap';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';

t.test('an address names a database and the schema that is the workspace', async (t) => {
  t.strictSame(parseStorePlace('postgres://me:secret@db:5433/app?schema=bh_team&sslmode=require'), {
    url: 'postgres://me:secret@db:5433/app?sslmode=require',
    schema: 'bh_team',
    shown: 'db:5433/app (schema bh_team)',
  });
  t.match(parseStorePlace('postgresql://db/app'), { schema: 'bh_default' });
  for (const text of ['postgres://me:47%2F11@db/app%40home', 'postgres://db/app?user=me@home', 'postgres:///app?host=/run/postgresql'])
    t.doesNotThrow(() => parseStorePlace(text), text);
});

t.test('what is no such address is refused, and its password is not repeated', async (t) => {
  const texts = [
    '',
    'mysql://me:secret@db/app',
    'postgres://me:secret@:x/app',
    'postgres://me:secret@db/app?schema=',
    'postgres://me:secret@db/app?schema=A',
    'postgres://me:secret@db/app?schema=a.b;drop',
    `postgres://me:secret@db/app?schema=${'a'.repeat(64)}`,
    'postgres://me:secret@db/app?schema=pg_catalog',
    'postgres://me:4711/secret@db/app',
    'postgres://me:4711/secret@db:5432/app?schema=bh_team',
    'postgres://me:/secret@db/app',
    'postgres://me:p@4711/secret@db/app',
  ];
  for (const text of texts) t.throws(() => parseStorePlace(text), { code: 'INVALID_REQUEST', message: /^BLOCKHOUSE_STORE (?!.*secret)/ }, text);
});
