import t from 'tap';
import * as list from '../../../../../core/store/postgres/sql/list.ts';
import type { ListSort } from '../../../../../core/store/store.ts';
import { statementsAreSound } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';

const SORTS: readonly ListSort[] = ['name', 'state', 'lastMessageAt', 'costUsd'];
const FILTERS: readonly list.ListFilter[] = ['prefix', 'state', 'status', 'tag', 'blocks', 'text'];
const { pageStatement, LOOKS_AT, ...statements } = list;

t.test('the database understands each statement', { skip: noPostgres }, async (t) => {
  const pages = SORTS.flatMap((sort) => [
    pageStatement(sort, [], false),
    pageStatement(sort, FILTERS, true),
    pageStatement(
      sort,
      FILTERS.filter((filter) => filter !== 'blocks'),
      true,
      LOOKS_AT,
    ),
  ]);
  await statementsAreSound(t, { ...statements, ...Object.fromEntries(pages.map((page) => [page.name, page])) });
  for (const { name } of pages) t.ok(name.length < 64, 'the database knows a statement by 63 characters of its name');
});
