import t from 'tap';
import * as statements from '../../../../../core/store/postgres/sql/runs.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('the database understands each statement', { skip: noPostgres }, (t) => statementsAreSound(t, statements));
