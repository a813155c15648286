import t from 'tap';
import { COST_DAYS } from '../../../../../core/store/postgres/migrations/006-cost-days.ts';

t.test('what was written before has no mark, and what servers of the version before write has another one, so they go on', async (t) => {
  const changes = COST_DAYS.split(';').filter((text) => text.includes('alter table'));
  t.strictSame(
    changes.map((text) => text.trim().replace(/^--.*$/gm, '')),
    ['alter table bh.ledger add column summed boolean', 'alter table bh.ledger alter column summed set default false'],
    'a default of the new column itself would be that of what was written before, too',
  );
});
