import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { openSettings, openStore, openStoreSchema, readGatewayBook } from '../../../core/store/open.ts';
import { AT } from '../../support/block-files.ts';
import { noPostgres, postgresStore } from '../../support/postgres.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('the store of a workspace is its folder', async (t) => {
  const workspace = t.testdir({ 'halted.json': 'text' });
  const codec = { parse: (text: string | undefined) => text, format: (text: string) => text };
  const setting = openSettings(workspace).open('halt', codec, () => undefined);
  t.equal(setting.place, join(workspace, 'halted.json'));
  t.equal(setting.now().good, 'text');
});

t.test('one process has it at a time', async (t) => {
  const workspace = testFolder(t);
  const options = { workspace, bus: createBus(), now: () => Date.parse(AT), onLost: async () => undefined };
  const store = await openStore(options);
  t.teardown(() => store.close());
  await t.rejects(openStore(options), { code: 'WORKSPACE_BUSY' });
  await store.close();
  await store.close();
  await (await openStore(options)).close();
});

t.test('what keys have spent can be read beside the server that counts it', async (t) => {
  const workspace = testFolder(t);
  const store = await openStore({ workspace, bus: createBus(), now: () => Date.parse(AT), onLost: async () => undefined });
  t.teardown(() => store.close());
  const call = { at: AT, requestId: 'r', provider: 'p', model: 'm', costUsd: 0.5, firstTextMs: null, durationMs: 1, error: null };
  store.gateway.record({
    ...call,
    key: 'app',
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  });
  await store.gateway.close();
  const book = await readGatewayBook(workspace, () => Date.parse(AT));
  t.match(await book.spent('key', 'app'), { day: { usd: 0.5, tokens: 3, calls: 1 }, lastDay: AT.slice(0, '2026-11-22'.length) });
});

t.test('a database is prepared for a workspace', { skip: noPostgres }, async (t) => {
  await t.rejects(openStoreSchema('/a/folder'), { code: 'INVALID_REQUEST' });
  const schema = await openStoreSchema(await postgresStore(t));
  t.match(await schema.plan(), {
    names: ['001-tables', '002-blocks', '003-credentials', '004-runs', '005-list-texts', '006-cost-days', '007-sums-of-costs'],
    script: /^begin;/,
  });
  const done: string[] = [];
  await schema.migrate((name) => void done.push(name));
  t.strictSame(done, ['001-tables', '002-blocks', '003-credentials', '004-runs', '005-list-texts', '006-cost-days', '007-sums-of-costs']);
  t.strictSame(await schema.plan(), { names: [], script: '' });
});
