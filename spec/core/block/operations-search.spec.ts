import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SEARCH_FILES } from '../../../core/store/files/search/search-files.ts';
import { startCore } from '../../support/blocks.ts';

t.test('what was said to all blocks is found, and a wrong query is refused by its field', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'Where is the needle?');
  t.match(await one.blocks.search({ q: 'needle' }), { total: 2, complete: true, unreadable: [], hits: [{ block: 'ada', by: 'answer' }, { by: 'message' }] });
  t.match(await one.blocks.search({ q: 'needle', limit: 1, block: 'ada' }), { total: 2, hits: { length: 1 } });
  for (const [query, path] of [
    [{ q: '' }, 'q'],
    [{ q: ' "" ' }, 'q'],
    [{ q: 'x', limit: 101 }, 'limit'],
    [{ q: 'x', other: 1 }, 'other'],
  ] as const)
    await t.rejects(one.blocks.search(query as never), { code: 'INVALID_REQUEST', details: [{ path }] }, JSON.stringify(query));
  await t.rejects(one.blocks.search({ q: 'x', block: 'nobody' }), { code: 'BLOCK_NOT_FOUND' });
  await t.rejects(one.blocks.search({ q: 'x' }, { signal: AbortSignal.abort(new Error('left')) }), { message: 'left' });
});

t.test('searches come one after the other, and those that wait are bounded', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.post('ada', { message: 'needle' }, 'web');
  const leaving = new AbortController();
  const all = [one.blocks.search({ q: 'needle' }, { signal: leaving.signal }), ...Array.from({ length: 20 }, () => one.blocks.search({ q: 'needle' }))];
  leaving.abort(new Error('left'));
  const outcomes = await Promise.allSettled(all);
  t.match(outcomes[0], { status: 'rejected', reason: { message: 'left' } });
  t.match(outcomes.slice(1, 16), Array(15).fill({ status: 'fulfilled', value: { total: 1 } }), 'whose turn comes after a failure');
  for (const outcome of outcomes.slice(16)) t.match(outcome, { status: 'rejected', reason: { code: 'QUEUE_FULL', status: 429, retryAfterMs: 1000 } });
});

t.test('what was deleted for good is in no file of the index', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) {
    await one.create(name);
    await one.blocks.post(name, { message: `the needle of ${name}` }, 'web');
  }
  t.match(await one.blocks.search({ q: 'needle' }), { total: 2 });
  const { archiveName } = await one.blocks.archive('ada');
  t.match(await one.blocks.search({ q: 'needle' }), { total: 2 });
  await one.blocks.purge(archiveName);
  for (const file of SEARCH_FILES) t.notOk(existsSync(join(one.workspace, file)), file);
  t.match(await one.blocks.search({ q: 'needle' }), { total: 1, hits: [{ block: 'bob' }] });
  for (const file of SEARCH_FILES) t.notMatch(readFileSync(join(one.workspace, file), 'utf8'), 'needle of ada', file);
});
