import t from 'tap';
import * as archive from '../../../../../core/store/postgres/sql/archive.ts';
import * as blocks from '../../../../../core/store/postgres/sql/blocks.ts';
import * as check from '../../../../../core/store/postgres/sql/check.ts';
import * as logs from '../../../../../core/store/postgres/sql/logs.ts';
import { ALL_PARTS, LOCK_PARTS, RESTS } from '../../../../../core/store/postgres/sql/partitions.ts';
import * as search from '../../../../../core/store/postgres/sql/search.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

t.test('the database understands each statement', { skip: noPostgres }, async (t) => {
  await statementsAreSound(t, { ...blocks });
  await statementsAreSound(t, { ...archive });
  await statementsAreSound(t, { ...logs });
  await statementsAreSound(t, { ...check });
  await statementsAreSound(t, { ...search });
  await statementsAreSound(t, { ALL_PARTS, LOCK_PARTS, RESTS });
});
