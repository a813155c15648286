import { join } from 'node:path';
import t from 'tap';
import { openSettings, openStoreSchema } from '../../../core/store/open.ts';
import { noPostgres, postgresStore } from '../../support/postgres.ts';

t.test('the store of a workspace is its folder', async (t) => {
  const workspace = t.testdir({ 'halted.json': 'text' });
  const codec = { parse: (text: string | undefined) => text, format: (text: string) => text };
  const setting = openSettings(workspace).open('halt', codec, () => undefined);
  t.equal(setting.place, join(workspace, 'halted.json'));
  t.equal(setting.now().good, 'text');
});

t.test('a database is prepared for a workspace', { skip: noPostgres }, async (t) => {
  await t.rejects(openStoreSchema('/a/folder'), { code: 'INVALID_REQUEST' });
  const schema = await openStoreSchema(await postgresStore(t));
  t.match(await schema.plan(), { names: ['001-tables'], script: /^begin;/ });
  const done: string[] = [];
  await schema.migrate((name) => void done.push(name));
  t.strictSame(done, ['001-tables']);
  t.strictSame(await schema.plan(), { names: [], script: '' });
});
