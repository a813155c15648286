import t from 'tap';
import { parseStorePlace } from '../../../../core/store/postgres/place.ts';

t.test('an address names a database and the schema that is the workspace', async (t) => {
  t.strictSame(parseStorePlace('postgres://me:secret@db:5433/app?schema=bh_team&sslmode=require'), {
    url: 'postgres://me:secret@db:5433/app?sslmode=require',
    schema: 'bh_team',
    shown: 'db:5433/app (schema bh_team)',
  });
  t.match(parseStorePlace('postgresql://db/app'), { schema: 'bh_default' });
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
  ];
  for (const text of texts) t.throws(() => parseStorePlace(text), { code: 'INVALID_REQUEST', message: /^BLOCKHOUSE_STORE (?!.*secret)/ }, text);
});
