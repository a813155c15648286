import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createCore, readLock } from '../../core/index.ts';
import { startCore } from '../support/blocks.ts';
import { steppedAdapter, untilAborted } from '../support/stepped-adapter.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

t.test('before start there are no blocks, and the text says what to do', async (t) => {
  const one = await startCore(t, { start: false });
  t.equal(one.core.started, false);
  t.throws(() => one.blocks, { message: /Call start\(\) first/ });
  await t.rejects(one.core.announce('http://x'), { message: /start\(\) first/ });
  t.same(readdirSync(one.workspace), [], 'and nothing is written');
});

t.test('start takes the workspace, and a second start waits for the first', async (t) => {
  const one = await startCore(t, { start: false });
  const first = one.core.start();
  const second = one.core.start();
  await Promise.all([first, second]);
  await one.core.start();
  t.equal(one.core.started, true);
  t.match(await readLock(one.workspace), { pid: process.pid });
  await one.core.announce('http://127.0.0.1:8420');
  t.match(await readLock(one.workspace), { url: 'http://127.0.0.1:8420' });
  await one.create('ada');
  t.match(await one.blocks.list(), [{ name: 'ada' }]);
});

t.test('a workspace that another one holds is busy, and can be had when it is given back', async (t) => {
  const one = await startCore(t);
  const other = await startCore(t, { workspace: one.workspace, start: false });
  await t.rejects(other.core.start(), { code: 'WORKSPACE_BUSY' });
  t.equal(other.core.started, false);
  t.throws(() => other.blocks, { message: /start\(\) first/ });
  await one.core.close();
  t.equal(await readLock(one.workspace), undefined);
  await other.core.start();
  t.same(await other.blocks.list(), []);
});

t.test('what is held when start fails is given back', async (t) => {
  const one = await startCore(t, { start: false, files: { blocks: 'a file where a folder should be' } });
  await t.rejects(one.core.start(), { code: 'ENOTDIR' });
  t.equal(await readLock(one.workspace), undefined);
});

t.test('damage of the files of the workspace is told once at the start, which goes on', async (t) => {
  const one = await startCore(t, { files: { 'auth.json': '{"half":', 'ledger.jsonl': {} } });
  t.match(one.factsOf('credentials.damaged'), [{ file: join(one.workspace, 'auth.json'), reason: String }]);
  t.match(one.factsOf('workspace.fault'), [{ what: 'ledger.jsonl', error: /^ledger\.jsonl can't be used: .* regular file/ }]);
  t.equal(one.core.started, true);
});

t.test('after stop the blocks are shutting down, and the gateway goes on with its accounts', async (t) => {
  const one = await startCore(t);
  const { blocks } = one;
  await one.create('ada');
  await one.blocks.start('ada');
  await one.core.stop();
  t.equal(one.core.started, false);
  t.throws(() => one.blocks, { code: 'SHUTTING_DOWN', status: 503 });
  t.equal((await blocks.counts()).monitorsRunning, 0);
  await t.rejects(one.core.start(), { message: /is closed/ });
  t.same(await one.core.models('ollama'), { provider: 'ollama', models: ['m'], count: 1 });
  t.ok(one.core.accounts);
  t.not(await readLock(one.workspace), undefined, 'which are in the workspace');
  await one.core.close();
  t.equal(one.core.accounts, undefined);
  t.equal(await readLock(one.workspace), undefined);
});

t.test('close while it starts waits for the start, and gives everything back', async (t) => {
  const one = await startCore(t, { start: false });
  const starting = one.core.start();
  await Promise.all([one.core.close(), starting]);
  t.equal(one.core.started, false);
  t.equal(await readLock(one.workspace), undefined);
});

t.test('close after a start that failed is no failure', async (t) => {
  const one = await startCore(t, { start: false, files: { archive: '' } });
  const starting = one.core.start();
  await Promise.all([t.rejects(starting), one.core.close()]);
  await one.core.close();
});

t.test('the lock is given back also when something can not be closed', async (t) => {
  const workspace = t.testdir({});
  const core = createCore({ workspace, adapters: [], env: {} });
  await core.start();
  const { blocks } = core as unknown as { blocks: { close(): Promise<void> } };
  const closeBlocks = blocks.close.bind(blocks);
  blocks.close = () => closeBlocks().then(() => Promise.reject(new Error('stuck')));
  await t.rejects(core.close(), { message: 'stuck' });
  t.equal(await readLock(workspace), undefined);
  await t.rejects(core.close(), { message: 'stuck' }, 'a second call hears the same');
});

t.test('a workspace that is not there yet is made', async (t) => {
  const workspace = join(t.testdir({}), 'deep', 'down');
  const one = await startCore(t, { workspace });
  t.same(
    readdirSync(one.workspace)
      .sort()
      .filter((name) => name !== '.lock'),
    ['archive', 'blocks'],
  );
});

t.test('a lock that was deleted by hand is put back', async (t) => {
  const one = await startCore(t);
  const path = join(one.workspace, '.lock');
  const before = readFileSync(path, 'utf8');
  rmSync(path);
  await until('it is there again', () => existsSync(path));
  t.equal(readFileSync(path, 'utf8'), before);
  await t.rejects((await startCore(t, { workspace: one.workspace, start: false })).core.start(), { code: 'WORKSPACE_BUSY' });
});

t.test('of two that hold one workspace, since its lock was deleted, the first one stops its monitors', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const { blocks } = one;
  rmSync(join(one.workspace, '.lock'));
  const other = await startCore(t, { workspace: one.workspace });
  t.match(await one.told('workspace.lost'), { pid: process.pid });
  t.equal((await blocks.counts()).monitorsRunning, 0);
  t.throws(() => one.blocks, { code: 'SHUTTING_DOWN' });
  t.match(await readLock(one.workspace), { pid: process.pid }, 'the lock of the other one stays');
  await other.ask('ada', 'hello');
});

t.test('calls of the gateway end with the workspace that another server has taken, and are settled', async (t) => {
  const workspace = testFolder(t);
  const adapter = steppedAdapter([untilAborted]);
  const leaving = new AbortController();
  const core = createCore({ workspace, adapters: [adapter], env: { STEPPED_API_KEY: 'k' } });
  t.teardown(() => core.close());
  await core.start();
  await core.keys?.create('app', { tokensPerDay: 5000 });
  const request = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }] } as const;
  const call = core.chat(request, { key: 'app', signal: leaving.signal }).catch(() => undefined);
  await until('the call is sent', () => adapter.calls.length === 1);
  const lost = new Promise((resolve) => core.events.on('workspace.lost', resolve));
  rmSync(join(workspace, '.lock'));
  await startCore(t, { workspace });
  await lost;
  t.equal(adapter.closed, 1);
  await t.rejects(core.chat(request), { code: 'SHUTTING_DOWN' });
  t.match(JSON.parse(readFileSync(join(workspace, 'gateway-ledger.jsonl'), 'utf8')), { key: 'app', usage: { estimated: true }, error: 'SHUTTING_DOWN' });
  leaving.abort();
  await call;
});

t.test('a second server that is gone again at the next look, since it could not listen, ends nobody', async (t) => {
  const one = await startCore(t);
  const path = join(one.workspace, '.lock');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(before), startedAt: '9999-01-01T00:00:00.000Z', url: null }));
  await delay(1200);
  rmSync(path);
  await until('the lock is ours again', () => existsSync(path) && readFileSync(path, 'utf8') === before);
  t.equal(one.factsOf('workspace.lost').length, 0);
  t.same(await one.blocks.list(), []);
});

t.test('a workspace that can not be looked at is told once', async (t) => {
  const one = await startCore(t);
  rmSync(join(one.workspace, '.lock'));
  mkdirSync(join(one.workspace, '.lock'));
  await one.told('workspace.fault', { what: '.lock' });
  await delay(2500);
  t.equal(one.factsOf('workspace.fault').filter(({ what }) => what === '.lock').length, 1);
  rmSync(join(one.workspace, '.lock'), { recursive: true });
});
