import t from 'tap';
import * as ledger from '../../../../../core/store/postgres/sql/ledger.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('the database understands each statement', { skip: noPostgres }, (t) => {
  const { lineParts: _parts, ...statements } = ledger;
  return statementsAreSound(t, statements);
});
