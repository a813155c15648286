import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { BlockEntry } from '../../../core/index.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { until } from '../../support/until.ts';

t.test('blocks that were made by hand are listed, with whatever files they have', async (t) => {
  const one = await startCore(t, { files: { blocks: { ada: { 'config.json': '{"name":"ada"}' } } } });
  t.match(await one.blocks.list(), [{ name: 'ada', state: 'unconfigured', status: 'SLEEPING' }]);
  mkdirSync(one.folder('bob'));
  one.write('bob', 'config', { name: 'bob', description: 'by hand' });
  t.match(await one.blocks.list(), [{ name: 'ada' }, { name: 'bob', config: { description: 'by hand' } }]);
  t.same(await one.blocks.counts(), { blocks: 2, monitorsRunning: 0 });
  t.match(await one.blocks.post('bob', { message: 'x' }, 'web'), { queued: true });
  t.match(await one.blocks.details('ada'), { memory: { summary: '' }, costs: { calls: 0 } });
});

t.test('a thousand blocks: the same list until something changes, and then one new entry', async (t) => {
  const blocks = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`b${n}`, { 'config.json': JSON.stringify({ name: `b${n}` }) }]));
  const one = await startCore(t, { files: { blocks } });
  const first = await one.blocks.list();
  t.equal(first.length, 1000);
  t.equal(await one.blocks.list(), first);
  await one.blocks.updateConfig('b500', { description: 'new' });
  const second = await one.blocks.list();
  t.same(
    second.filter((entry, index) => entry !== first[index]).map(({ name }) => name),
    ['b500'],
  );
  t.throws(() => Object.assign(first[0] as object, { name: 'x' }));
});

t.test('an edit by hand of an idle block is in a later list', async (t) => {
  let now = Date.now();
  const one = await startCore(t, { clock: () => now });
  await one.create('ada');
  await one.blocks.list();
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), description: 'by hand' });
  let found: readonly BlockEntry[] = [];
  await until('it is listed', () => {
    now += 2001;
    void one.blocks.list().then((entries) => {
      found = entries;
    });
    return found[0]?.config.description === 'by hand';
  });
});

t.test('what runs in two workspaces of one process goes by the clock of each, also after the archive', async (t) => {
  for (const clock of [Date.parse('2030-01-01T00:00:00Z'), Date.parse('2040-01-01T00:00:00Z')]) {
    const one = await startCore(t, { clock: () => clock });
    await one.create('ada');
    const at = new Date(clock).toISOString();
    await one.blocks.start('ada');
    t.equal((await one.blocks.details('ada')).pulse.startedAt, at);
    const { archiveName } = await one.blocks.archive('ada');
    await one.blocks.restore(archiveName);
    t.equal((await one.blocks.details('ada')).pulse.stoppedAt, at);
    const again = await one.blocks.archive('ada');
    await one.blocks.purge(again.archiveName);
    t.strictSame([await one.blocks.list(), await one.blocks.archives()], [[], []]);
  }
});

t.test('damaged blocks are listed, flagged once and kept; the others are served', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob', 'cyn']) await one.create(name);
  await one.core.close();
  one.write('ada', 'chat', '{"half":');
  one.write('bob', 'config', 'null');
  const next = await startCore(t, { workspace: one.workspace });
  const first = await next.blocks.list();
  t.match(first, [
    { name: 'ada', status: 'ERROR', state: 'failed', attention: true, configError: /chat\.json can't be used.*kept as chat\.json\.corrupt-/ },
    { name: 'bob', status: 'ERROR', configError: /config\.json can't be used: it must be an object/ },
    { name: 'cyn', status: 'SLEEPING' },
  ]);
  t.equal(await next.blocks.list(), first);
  const damages = next.factsOf('block.damaged');
  t.match(damages, [
    { block: 'ada', file: 'chat', copy: /corrupt/ },
    { block: 'bob', file: 'config' },
  ]);
  t.equal(damages.length, 2);
  for (const name of ['ada', 'bob']) await t.rejects(next.blocks.details(name), { code: 'BLOCK_DAMAGED' });
  t.equal(one.readText('ada', 'chat'), '{"half":');
  await next.blocks.start('cyn');
  t.match(await next.ask('cyn', 'hi'), { content: 'You said: hi' });
});

t.test('a block answers with its details, its explanation and its logs', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  t.match(await one.blocks.explain('ada'), { name: 'ada', why: /./, next: /./, queue: { queued: 0 } });
  const [log] = await one.blocks.logs('ada');
  t.match(log, { file: /-monitor\.log$/, truncated: false, content: /monitor\.started/ });
  t.match(log?.content, /reply\.done/);
  t.match(await one.blocks.costs({ by: 'model' }), { rows: [{ key: 'ollama/m', calls: 1 }], total: { calls: 1 } });
  t.match(await one.blocks.costs({ by: 'block', block: 'bob' }), { rows: [], total: { calls: 0 } });
  for (const call of [() => one.blocks.explain('nobody'), () => one.blocks.logs('nobody'), () => one.blocks.history('nobody')] as (() => Promise<unknown>)[])
    await t.rejects(call(), { code: 'BLOCK_NOT_FOUND' });
});

t.test('every operation works on the block that was named', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  const { blocks } = one;
  const message = await blocks.post('ada', { message: 'x' }, 'web');
  await blocks.cancel('ada', message.id);
  await blocks.retry('ada', message.id);
  const fact = await blocks.addFact('ada', { text: 'x' });
  await blocks.removeFact('ada', fact.id);
  t.match(await blocks.compact('ada'), { compactionCount: 0 });
  await t.rejects(blocks.undoCompaction('ada'), { code: 'WRONG_STATE' });
  t.match(await blocks.config('ada'), { name: 'ada' });
  t.match(await blocks.restart('ada'), { pulse: { desired: 'running' } });
  await blocks.stop('ada');
  await blocks.reset('ada', { hard: true });
  await blocks.import(await blocks.export('ada'), 'cyn');
  const { archiveName } = await blocks.archive('ada');
  t.match(await blocks.archives(), [{ archiveName }]);
  await blocks.restore(archiveName);
  t.match(await blocks.purge((await blocks.archive('ada')).archiveName), { archiveName: /^ada_/ });
  t.match(await blocks.check(), { ok: true, checked: { blocks: 2 } });
  t.match(await blocks.list(), [{ name: 'bob', queue: 0, lastMessageAt: null }, { name: 'cyn' }]);
});

t.test('followers learn of all changes of a block until they leave', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const told: string[] = [];
  const follower = { onChange: () => void told.push('change'), onGone: () => void told.push('gone') };
  const leave = one.blocks.follow('ada', follower);
  await one.blocks.updateConfig('ada', { description: 'x' });
  t.same(told, ['change']);
  one.write('ada', 'memory', { ...one.readJson('ada', 'memory'), summary: 'by hand' });
  await until('the edit by hand is told', () => told.length > 1);
  const before = told.length;
  leave();
  leave();
  await one.blocks.updateConfig('ada', { description: 'y' });
  t.equal(told.length, before);
  one.blocks.follow('ada', { onGone: follower.onGone });
  await one.blocks.archive('ada');
  t.same(told.slice(before), ['gone']);
  t.throws(() => one.blocks.follow('ada', {}), { code: 'BLOCK_NOT_FOUND' });
});

t.test('a monitor goes on after a failed move to the archive', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  renameSync(join(one.workspace, 'archive'), join(one.workspace, 'away'));
  await t.rejects(one.blocks.archive('ada'), { code: 'STORAGE_FAILED' });
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
});

t.test('nothing is read, written, deleted or exported through a link in place of logs or chat-archive', async (t) => {
  const outside = t.testdir({ away: { 'precious.log': 'precious', '2026-11.jsonl': 'precious\n' } });
  const away = join(outside, 'away');
  const one = await startCore(t, { workspace: join(outside, 'workspace') });
  await one.create('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  for (const name of ['logs', 'chat-archive']) {
    rmSync(one.folder('ada', name), { recursive: true });
    symlinkSync(away, one.folder('ada', name));
  }
  const refused = { code: 'BLOCK_DAMAGED', message: /^logs is a link/ };
  await t.rejects(one.blocks.logs('ada'), refused);
  await t.rejects(one.blocks.reset('ada', { hard: true }), refused);
  await t.rejects(one.blocks.export('ada'), { code: 'BLOCK_DAMAGED', message: /^(logs|chat-archive) is a link/ });
  await one.blocks.reset('ada');
  await one.blocks.start('ada');
  await one.told('workspace.fault', { block: 'ada', what: 'log' });
  await one.blocks.stop('ada');
  t.match(await one.blocks.check(), {
    ok: false,
    findings: [
      { place: 'blocks/ada/chat-archive', problem: /^it is a link/, severity: 'error' },
      { place: 'blocks/ada/logs', problem: /^it is a link/, severity: 'error' },
    ],
  });
  await one.blocks.archive('ada');
  await one.blocks.purge('ada');
  t.same(readdirSync(away).sort(), ['2026-11.jsonl', 'precious.log']);
  t.equal(readFileSync(join(away, 'precious.log'), 'utf8'), 'precious');
  t.equal(readFileSync(join(away, '2026-11.jsonl'), 'utf8'), 'precious\n');
});

t.test('the costs, the doctor and a block with a cap report a ledger that is no file', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, budget: { dailyTokens: 1_000_000 } });
  const ledger = join(one.workspace, 'ledger.jsonl');
  const makers: [() => void, RegExp][] = [
    [() => mkdirSync(ledger), /it is not a regular file/],
    [() => execFileSync('mkfifo', [ledger]), /it is not a regular file/],
    [() => symlinkSync(one.workspace, ledger), /it is a link/],
  ];
  for (const [make, problem] of makers) {
    make();
    await t.rejects(one.blocks.costs({ by: 'block' }), { code: 'WORKSPACE_DAMAGED', status: 409, message: problem });
    t.match(await one.blocks.check(), { ok: false, findings: [{ place: 'ledger.jsonl', problem }] });
    await t.rejects(one.blocks.reset('ada'), { code: 'WORKSPACE_DAMAGED' });
    rmSync(ledger, { recursive: true });
  }
  mkdirSync(ledger);
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.inState('ada', 'backoff');
  t.match(await one.blocks.details('ada'), { pulse: { reason: { code: /^(WORKSPACE_DAMAGED|STORAGE_FAILED)$/, message: /ledger\.jsonl can't be/ } } });
  t.equal(one.upstream.requests.filter(({ path }) => path === '/api/chat').length, 0, 'no model is called');
});

t.test('JSON that nests too deep damages only its own file, or rebuilds a derived one, and the rule is reported', async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const one = await startCore(t);
  for (const file of ['config', 'memory', 'costs', 'pulse', 'chat']) {
    await one.create(file);
    const content = one.readJson(file, file);
    const text = Array.isArray(content)
      ? `[{"role":"user","content":"x","mine":${deep}}]`
      : JSON.stringify({ ...content, mine: 'DEEP' }).replace('"DEEP"', deep);
    one.write(file, file, text);
    const told = { code: 'BLOCK_DAMAGED', status: 409, message: new RegExp(`^${file}\\.json can't be used: it nests deeper than 100 levels`) };
    if (file === 'costs' || file === 'pulse') t.match(await one.blocks.details(file), { name: file });
    else await t.rejects(one.blocks.details(file), told, file);
  }
  const listed = await one.blocks.list();
  t.same(
    listed.filter(({ configError }) => configError?.includes('nests deeper than 100 levels')).map(({ name }) => name),
    ['chat', 'config', 'memory'],
  );
});
