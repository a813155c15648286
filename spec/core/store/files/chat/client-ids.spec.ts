import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ClientIds, KNOWN } from '../../../../../core/store/files/chat/client-ids.ts';
import { userEntry } from '../../../../support/block-files.ts';

const pathIn = (t: Test): string => join(t.testdir({}), 'client-ids.jsonl');
const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => userEntry(`m${from + n}`, { clientId: `c${from + n}` }));
const linesIn = (path: string): number => readFileSync(path, 'utf8').trim().split('\n').length;

t.test('a clientId is known after it was added, also in the next process', async (t) => {
  const path = pathIn(t);
  const ids = new ClientIds(path);
  await ids.load();
  t.equal(ids.get('c1'), undefined);
  t.equal(await ids.add([userEntry('m0'), ...many(2)]), true, 'the file is a new one');
  t.equal(await ids.add(many(1, 2)), false);
  t.equal(await ids.add([userEntry('m9')]), false, 'without a clientId there is nothing to add');
  t.same(
    ['c0', 'c1', 'c2'].map((id) => ids.get(id)),
    ['m0', 'm1', 'm2'],
  );
  const next = new ClientIds(path);
  await next.load();
  t.same(
    ['c0', 'c2', 'c9'].map((id) => next.get(id)),
    ['m0', 'm2', undefined],
  );
});

t.test('a line that was cut short is skipped and does not damage the lines after it', async (t) => {
  const path = pathIn(t);
  await new ClientIds(path).add(many(1));
  appendFileSync(path, '{"id":"m1","clie');
  const ids = new ClientIds(path);
  await ids.add(many(1, 2));
  t.same(
    ['c0', 'c1', 'c2'].map((id) => ids.get(id)),
    ['m0', undefined, 'm2'],
  );
  const next = new ClientIds(path);
  await next.load();
  t.same(
    ['c0', 'c2'].map((id) => next.get(id)),
    ['m0', 'm2'],
  );
});

t.test('newest-kept: the newest 20,000 are known, and the file does not grow without end', async (t) => {
  const path = pathIn(t);
  const ids = new ClientIds(path);
  await ids.add(many(KNOWN + 1));
  t.same([ids.get('c0'), ids.get('c1'), ids.get(`c${KNOWN}`)], [undefined, 'm1', `m${KNOWN}`]);
  await ids.add(many(KNOWN, KNOWN + 1));
  t.equal(linesIn(path), KNOWN);
  const next = new ClientIds(path);
  await next.load();
  t.same([next.get(`c${KNOWN}`), next.get(`c${2 * KNOWN}`)], [undefined, `m${2 * KNOWN}`]);
});
