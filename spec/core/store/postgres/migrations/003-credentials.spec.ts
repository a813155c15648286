import t from 'tap';
import { CREDENTIALS } from '../../../../../core/store/postgres/migrations/003-credentials.ts';

t.test('it only adds columns that may be empty, so servers of the version before go on', async (t) => {
  for (const statement of CREDENTIALS.split(';')
    .map((text) => text.trim())
    .filter((text) => text !== ''))
    t.match(statement, /^alter table bh\.\w+ add column \w+ text$/);
});
