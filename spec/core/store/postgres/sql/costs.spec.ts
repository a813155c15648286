import t from 'tap';
import * as costs from '../../../../../core/store/postgres/sql/costs.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('the database understands each statement', { skip: noPostgres }, (t) => {
  const { report, ...statements } = costs;
  const reports = Object.fromEntries((['block', 'key', 'credential', 'day-model'] as const).map((by, n) => [by, report(by, [n > 0, n > 1, n % 2 === 0])]));
  return statementsAreSound(t, { ...statements, ...reports });
});
