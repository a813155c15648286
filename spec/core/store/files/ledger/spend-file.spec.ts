import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SpendDays } from '../../../../../core/store/parts/spend-days.ts';
import { fileIdOf, readSpend, writeSpend } from '../../../../../core/store/files/ledger/spend-file.ts';

const app = { usd: 1, tokens: 100, calls: 2, unpricedCalls: 1, output: 5, answers: 1 };

t.test('what was written is read again, with the order of the days', async (t) => {
  const path = join(t.testdir(), 'gateway-spend.json');
  t.equal(await readSpend(path), undefined);
  const spent = new SpendDays();
  for (const day of ['2026-11-23', '2026-11-22']) spent.add(day, 'constructor', app);
  const place = { files: ['a', 'b'], bytes: 5 };
  await writeSpend(path, { spent, place });
  const found = await readSpend(path);
  t.same(found?.place, place);
  t.same([...(found?.spent.rows() ?? [])], [...spent.rows()]);
  t.equal(found?.spent.meanOutput('constructor'), 5);
});

t.test('sums that can not be read are refused with the cure; one that can not be true counts as nothing', async (t) => {
  const path = join(t.testdir(), 'gateway-spend.json');
  const ledger = { files: [], bytes: 0 };
  for (const value of [
    ...[{ days: {} }, { ledger, days: { today: {} } }, { ledger, days: { '2026-11-22': 5 } }, { ledger, days: { '2026-11-22': { app: 5 } } }, []],
    ...[{ files: [1], bytes: 0 }, { files: [], bytes: -1 }, { files: [], bytes: 0.5 }, null].map((place) => ({ ledger: place, days: {} })),
  ]) {
    writeFileSync(path, JSON.stringify(value));
    await t.rejects(readSpend(path), { code: 'WORKSPACE_DAMAGED', message: /^gateway-spend\.json can't be used: .*remove it/ }, JSON.stringify(value));
  }
  writeFileSync(path, '');
  await t.rejects(readSpend(path), { code: 'WORKSPACE_DAMAGED' }, 'empty');
  writeFileSync(path, JSON.stringify({ ledger, days: { '2026-11-22': { bad: { ...app, tokens: -5000, calls: null, usd: 'many' }, good: app } } }));
  const { spent } = (await readSpend(path)) ?? {};
  t.match(spent?.spent('2026-11-22', 'bad').day, { usd: 0, tokens: 0, calls: 0 });
  t.match(spent?.spent('2026-11-22', 'good').day, { usd: 1, tokens: 100 });
  mkdirSync(join(path, '..', 'folder'));
  await t.rejects(readSpend(join(path, '..', 'folder')), { code: 'WORKSPACE_DAMAGED' });
});

t.test('a file is known by its first line, also while it has no other', async (t) => {
  t.equal(fileIdOf(Buffer.from('one\ntwo\n')), fileIdOf(Buffer.from('one')));
  t.not(fileIdOf(Buffer.from('one\n')), fileIdOf(Buffer.from('two\n')));
});
