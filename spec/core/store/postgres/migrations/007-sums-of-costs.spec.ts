import t from 'tap';
import { SUMS_OF_COSTS } from '../../../../../core/store/postgres/migrations/007-sums-of-costs.ts';

t.test('it takes no lock of the ledger before it has read all of it, and indexes the parts of older months first', async (t) => {
  const [read, ...indexes] = [
    SUMS_OF_COSTS.indexOf('insert into bh.cost_day'),
    SUMS_OF_COSTS.indexOf('create index on %s'),
    SUMS_OF_COSTS.indexOf('create index ledger_'),
  ];
  t.strictSame(
    [read, ...indexes],
    [read, ...indexes].toSorted((a, b) => Number(a) - Number(b)),
  );
  t.match(SUMS_OF_COSTS, /order by inhrelid::regclass::text/);
  t.match(SUMS_OF_COSTS, /where summed is null/);
});
