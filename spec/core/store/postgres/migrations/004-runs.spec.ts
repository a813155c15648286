import t from 'tap';
import { RUNS } from '../../../../../core/store/postgres/migrations/004-runs.ts';
import { blockIn, migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('columns that come have defaults, so servers of the version before go on', async (t) => {
  for (const [, added] of RUNS.matchAll(/add column (.+);/g)) t.match(added, /^(\w+ \w+ not null default \w+|waiting_for json|step int)$/);
});

t.test('what belongs to a block goes with it', { skip: noPostgres }, async (t) => {
  const { ask } = await migrated(t);
  const block = await blockIn({ ask }, 'ada');
  await ask("insert into bh.run_record values ($1, 'm1', 0, '{}')", [block]);
  await ask("insert into bh.run_result (block_id, run, ref, bytes) values ($1, 'm1', '1.1', '')", [block]);
  await ask("insert into bh.approval (id, block_id, run, expires_at, asked) values ('a1', $1, 'm1', now(), '{}')", [block]);
  await ask('delete from bh.block');
  const [left] = await ask('select (select count(*) from bh.run_record) + (select count(*) from bh.run_result) + (select count(*) from bh.approval) as n');
  t.equal(left?.['n'], '0');
});
