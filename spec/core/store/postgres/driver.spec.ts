import t from 'tap';
import { openPool } from '../../../../core/store/postgres/driver.ts';
import { noPostgres, postgresStore } from '../../../support/postgres.ts';

t.test('without the package, the command that installs it is named', async (t) => {
  const missing = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
  await t.rejects(openPool({}, missing), { code: 'INVALID_REQUEST', message: /`npm install pg`/ });
  await t.rejects(
    openPool({}, () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
});

t.test('counts and sums of money are numbers, times are dates', { skip: noPostgres }, async (t) => {
  const url = new URL(await postgresStore(t));
  url.search = '';
  const pool = await openPool({ connectionString: url.href });
  t.teardown(() => pool.end());
  const { rows } = await pool.query(
    "select 5::bigint as count, 0.000000001::numeric(18, 9) as usd, timestamptz '2026-01-02T03:04:05.678Z' as at, '[1]'::jsonb as list",
  );
  t.strictSame(rows, [{ count: 5, usd: 1e-9, at: new Date('2026-01-02T03:04:05.678Z'), list: [1] }]);
});
