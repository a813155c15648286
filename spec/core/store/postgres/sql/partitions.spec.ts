import t from 'tap';
import { clearRest, makePart, removePart } from '../../../../../core/store/postgres/sql/partitions.ts';

t.test('a part is made for a span of time and removed by its name; the times of rows that go are a value', async (t) => {
  const part = { table: 'ledger', name: 'ledger_2026_12', from: '2026-12-01', to: '2027-01-01' };
  t.equal(makePart(part).text, "create table bh.ledger_2026_12 partition of bh.ledger for values from ('2026-12-01') to ('2027-01-01')");
  t.equal(removePart('log_line_2026_11_20').text, 'drop table bh.log_line_2026_11_20');
  t.equal(clearRest('log_line').text, 'delete from bh.log_line_rest where at < $1');
});
