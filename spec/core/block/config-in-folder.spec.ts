import t from 'tap';
import { configIn } from '../../../core/block/config-in-folder.ts';
import { testFolder } from '../../support/test-folder.ts';

const NOW = Date.UTC(2026, 0, 2);
const folderWith = (t: Parameters<typeof testFolder>[0], config: string): string => testFolder(t, { 'config.json': config });

t.test('the configuration is that of a stopped block, one revision on, with its own name or another', async (t) => {
  const folder = folderWith(t, JSON.stringify({ name: 'ada', enabled: true, rev: 4, mine: 1 }));
  t.match(await configIn(folder, undefined, NOW), { name: 'ada', enabled: false, rev: 5, mine: 1, updatedAt: '2026-01-02T00:00:00.000Z' });
  t.match(await configIn(folder, 'bob', NOW), { name: 'bob', rev: 5 });
});

t.test('what is wrong is said', async (t) => {
  await t.rejects(configIn(testFolder(t), 'ada', NOW), { message: 'it is missing' });
  await t.rejects(configIn(folderWith(t, '[]'), 'ada', NOW), { message: 'it has no name' });
  await t.rejects(configIn(folderWith(t, '{}'), undefined, NOW), { message: 'it has no name' });
  await t.rejects(configIn(folderWith(t, '{"name":'), 'ada', NOW), { message: /JSON/ });
  await t.rejects(configIn(folderWith(t, '{"name":"ada","budget":7}'), 'ada', NOW), { message: /budget/ });
});
