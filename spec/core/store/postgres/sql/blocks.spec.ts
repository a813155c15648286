import t from 'tap';
import * as archive from '../../../../../core/store/postgres/sql/archive.ts';
import * as blocks from '../../../../../core/store/postgres/sql/blocks.ts';
import * as check from '../../../../../core/store/postgres/sql/check.ts';
import { CHANGES, CLOCK, FACTS_AFTER, FACTS_OF, type ListFilter, pageStatement } from '../../../../../core/store/postgres/sql/list.ts';
import * as logs from '../../../../../core/store/postgres/sql/logs.ts';
import { ALL_PARTS, LOCK_PARTS, RESTS } from '../../../../../core/store/postgres/sql/partitions.ts';
import * as search from '../../../../../core/store/postgres/sql/search.ts';
import type { ListSort } from '../../../../../core/store/store.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

const SORTS: readonly ListSort[] = ['name', 'state', 'lastMessageAt', 'costUsd'];
const FILTERS: readonly ListFilter[] = ['prefix', 'state', 'status', 'tag', 'text'];

t.test('the database understands each statement', { skip: noPostgres }, async (t) => {
  await statementsAreSound(t, { ...blocks });
  await statementsAreSound(t, { ...archive });
  await statementsAreSound(t, { ...logs });
  await statementsAreSound(t, { ...check });
  await statementsAreSound(t, { ...search });
  await statementsAreSound(t, { ALL_PARTS, LOCK_PARTS, RESTS });
  const pages = SORTS.flatMap((sort) => [pageStatement(sort, [], false), pageStatement(sort, FILTERS, true)]);
  await statementsAreSound(t, { CHANGES, CLOCK, FACTS_AFTER, FACTS_OF, ...Object.fromEntries(pages.map((page) => [page.name, page])) });
});
