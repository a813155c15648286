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

const NOW = Date.parse('2026-11-28T12:00:00.000Z');
const stored = (id: string, expiresAt: string, decision?: object) => ({ approval: approvalOf(id, { expiresAt, block: 'old' }), block: 'new', decision });

/** A store that gives these, whatever it is asked; and what it was asked. */
function inStore(found: readonly object[]) {
  const asked: Record<string, unknown>[] = [];
  const never = (): never => {
    throw new Error('a journal was read');
  };
  const store = {
    list: async (query: Record<string, unknown>) => {
      asked.push(query);
      return found;
    },
  };
  return { asked, page: (query: object) => listApprovals({ stored: store, waiting: never, decided: never } as never, query, never, NOW) };
}

t.test('a store that has all approvals is asked once for a page, and no journal is read', async (t) => {
  const { asked, page } = inStore([stored('a1', '2026-11-28T13:00:00.000Z'), stored('a2', '2026-11-28T14:00:00.000Z')]);
  const { approvals, cursor } = await page({ limit: 1, block: 'new' });
  t.match(approvals, [{ id: 'a1', block: 'new', state: 'pending' }], 'under the name that its block has now');
  t.equal(approvals.length, 1);
  const first = { at: '2026-11-28T12:00:00.001Z', id: '' };
  t.strictSame(asked, [{ decisions: undefined, block: 'new', after: first, limit: 2 }], 'behind those whose deadline is over');
  await page({ cursor, limit: 1 });
  t.strictSame(asked[1]?.['after'], { at: '2026-11-28T13:00:00.000Z', id: 'a1' });
});

t.test('of a store, all decisions that lead to a state are its list', async (t) => {
  const decision = { t: 'decision', approval: 'a1', decision: 'ran', by: BY, at: '2026-11-28T11:00:00.000Z', note: 'seen' };
  const { asked, page } = inStore([stored('a1', '2026-11-28T13:00:00.000Z', decision), stored('a0', '2026-11-28T13:00:00.000Z', decision)]);
  const { approvals, cursor } = await page({ state: 'approved', limit: 1 });
  t.match(approvals, [{ id: 'a1', state: 'approved', decision: 'ran', decidedBy: BY, decidedAt: decision.at, note: 'seen', scopes: [] }]);
  t.match(asked, [{ decisions: ['approve', 'ran', 'not-ran', 'tell'], after: undefined }]);
  await page({ state: 'approved', cursor });
  t.strictSame(asked[1]?.['after'], { at: decision.at, id: 'a1' });
});

t.test('a cursor whose key is no place is refused before a store is asked', async (t) => {
  const { asked, page } = inStore([]);
  for (const key of ['', 'x a1', '2026-13-01T00:00:00.000Z a1', '2026-11-28T12:00:00.000Z a\0']) {
    const cursor = Buffer.from(JSON.stringify({ state: 'pending', key })).toString('base64url');
    await t.rejects(page({ cursor }), { code: 'INVALID_REQUEST', message: /^cursor/ }, key);
  }
  t.strictSame(asked, []);
});

t.test('page-held: ten thousand calls that wait are listed a page at a time, the next deadline first', async (t) => {
  const journals: Record<string, readonly RunRecord[]> = {};
  const idOf = (at: number): string => `a${String((at * 7919) % 10_000).padStart(5, '0')}`; // in no order
  for (let block = 0; block < 200; block += 1) journals[`b${block}`] = asks(...Array.from({ length: 50 }, (_, at) => idOf(block * 50 + at)));
  const first = await list(journals, {});
  t.strictSame(
    first.approvals.map(({ id }) => id),
    Array.from({ length: 100 }, (_, at) => `a${String(at).padStart(5, '0')}`),
  );
  const next = await list(journals, { cursor: first.cursor, limit: 3 });
  t.strictSame(
    next.approvals.map(({ id }) => id),
    ['a00100', 'a00101', 'a00102'],
  );
});
