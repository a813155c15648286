// The list of approvals, a page at a time.
import t from 'tap';
import { listApprovals } from '../../../core/block/operations-approvals.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { RunRecord } from '../../../core/types.ts';
import { answerRecord, approvalOf, modelRecord, runRecord } from '../../support/tools/records.ts';
import { pay } from '../../support/tools/calls.ts';

const BY = { channel: 'cli', name: 'x' } as const;
const asks = (...ids: string[]): RunRecord[] => [
  runRecord(),
  modelRecord(1),
  answerRecord(
    1,
    ids.map(() => pay('bob')),
  ),
  ...ids.map(
    (id, index): RunRecord => ({ t: 'ask', call: `1.${index + 1}`, approval: approvalOf(id, { call: `1.${index + 1}`, expiresAt: `29${id.slice(1)}` }) }),
  ),
];

const list = (journals: Readonly<Record<string, readonly RunRecord[]>>, query: object, decided: readonly object[] = []) =>
  listApprovals(
    { waiting: async () => Object.keys(journals).map((block) => ({ place: { block, messageId: 'm1' }, ids: [] })), decided: () => decided } as never,
    query,
    async (block) => {
      if (journals[block] === undefined) throw new BlockhouseError('BLOCK_NOT_FOUND', 'x');
      return { steps: async () => journals[block] } as never;
    },
    0,
  );

t.test('pages have the next deadline first, and neither skip nor repeat', async (t) => {
  const journals = { a: asks('a03', 'a01'), b: asks('a02', 'a04') };
  const ids: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(journals, { limit: 3, ...(cursor !== null && { cursor }) });
    ids.push(...page.approvals.map(({ id }) => id));
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== null);
  t.strictSame(ids, ['a01', 'a02', 'a03', 'a04']);
  t.equal(pages, 2);
});

t.test('a cursor of another list, or none at all, is refused', async (t) => {
  const { cursor } = await list({ a: asks('a01', 'a02') }, { limit: 1 });
  await t.rejects(list({}, { cursor, state: 'denied' }), { code: 'INVALID_REQUEST', message: /^cursor/ });
  await t.rejects(list({}, { cursor: 'e30' }), { code: 'INVALID_REQUEST' });
});

t.test('what was decided is read from its journal, and left out with its block', async (t) => {
  const journal: RunRecord[] = [
    ...asks('a01', 'a02'),
    { t: 'decision', approval: 'a01', decision: 'deny', by: BY, at: '2026-11-28T12:00:00.000Z', note: 'no' },
  ];
  const decided = [
    { id: 'a03', block: 'gone', messageId: 'm1', state: 'denied', key: '3' },
    { id: 'a01', block: 'a', messageId: 'm1', state: 'denied', key: '2' },
    { id: 'a00', block: 'a', messageId: 'm1', state: 'denied', key: '1' },
  ];
  t.match(await list({ a: journal }, { state: 'denied' }, decided), { approvals: [{ id: 'a01', state: 'denied', decidedBy: BY, note: 'no' }], cursor: null });
  t.match((await list({ a: journal }, {})).approvals, [{ id: 'a02' }]);
});
