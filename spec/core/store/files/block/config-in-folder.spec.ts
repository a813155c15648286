import t from 'tap';
import { configIn } from '../../../../../core/store/files/block/config-in-folder.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const NOW = Date.UTC(2026, 0, 2);
const folderWith = (t: Parameters<typeof testFolder>[0], config: string): string => testFolder(t, { 'config.json': config });

t.test('the configuration is that of a stopped block, one revision on, with its own name or another', async (t) => {
  const folder = folderWith(t, JSON.stringify({ name: 'ada', enabled: true, rev: 4, mine: 1 }));
  t.match(await configIn(folder, undefined, NOW), { name: 'ada', enabled: false, rev: 5, mine: 1, updatedAt: '2026-01-02T00:00:00.000Z' });
  t.match(await configIn(folder, 'bob', NOW), { name: 'bob', rev: 5 });
});

const FAULTS = [
  { what: 'no file', config: undefined, name: 'ada', message: 'it is missing' },
  { what: 'another value', config: '[]', name: 'ada', message: 'it has no name' },
  { what: 'no name', config: '{}', name: undefined, message: 'it has no name' },
  { what: 'half a file', config: '{"name":', name: 'ada', message: /JSON/ },
  { what: 'a wrong field', config: '{"name":"ada","budget":7}', name: 'ada', message: /budget/ },
];

for (const { what, config, name, message } of FAULTS) {
  t.test(`${what}: the error says so`, async (t) => {
    const folder = config === undefined ? testFolder(t) : folderWith(t, config);
    await t.rejects(configIn(folder, name, NOW), { message });
  });
}
