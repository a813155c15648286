import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RUNNABLE, runnable, startCore } from '../../support/blocks.ts';

t.test('a block that runs has another name with all it had, and runs on', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, description: 'd', mine: 1 });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.addFact('ada', { text: 'x' });
  const [chat, memory] = [one.readJson('ada', 'chat'), one.readJson('ada', 'memory')];
  t.same(await one.blocks.rename('ada', { name: 'bob' }), { name: 'bob' });
  t.match(await one.blocks.list(), [{ name: 'bob', state: 'idle', config: { description: 'd' } }]);
  t.equal((await one.blocks.list()).length, 1);
  t.same(await one.blocks.archives(), []);
  t.notOk(existsSync(one.folder('ada')));
  t.same(one.readJson('bob', 'chat'), chat);
  t.same(one.readJson('bob', 'memory').facts, memory.facts);
  t.match(one.readJson('bob', 'config'), { name: 'bob', mine: 1, enabled: true });
  t.match(await one.ask('bob', 'again'), { content: 'You said: again' });
  await t.rejects(one.blocks.details('ada'), { code: 'BLOCK_NOT_FOUND' });
});

t.test('a rename tells that the old name is archived and that the new one is restored', async (t) => {
  const one = await startCore(t);
  await one.create('ada', RUNNABLE);
  await one.blocks.start('ada');
  const told: unknown[] = [];
  one.core.events.on('block.archived', ({ block, archiveName }) => told.push(['archived', block, archiveName.split('_')[0]]));
  one.core.events.on('block.restored', ({ block, archiveName }) => told.push(['restored', block, archiveName.split('_')[0]]));
  one.core.events.on('block.renamed', ({ block, from }) => told.push(['renamed', block, from]));
  for (const event of ['block.created', 'archive.removed'] as const) one.core.events.on(event, () => told.push(event));
  one.core.events.on('block.transitioned', ({ block, to, cause }) => {
    if (to === 'stopped' || to === 'starting') told.push([to, block, cause]);
  });
  await one.blocks.rename('ada', { name: 'bob' });
  t.same(told, [
    ['stopped', 'ada', 'archive'],
    ['archived', 'ada', 'ada'],
    ['restored', 'bob', 'ada'],
    ['starting', 'bob', 'start'],
    ['renamed', 'bob', 'ada'],
  ]);
});

t.test('what was spent stays in the ledger, and counts under the new name', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.stop('ada');
  await one.blocks.rename('ada', { name: 'bob' });
  t.match(await one.blocks.details('bob'), { costs: { calls: 1 }, pulse: { state: 'stopped' } }, 'and a stopped block stays stopped');
  t.match(await one.blocks.costs({ by: 'block' }), { rows: [{ key: 'ada', calls: 1 }], total: { calls: 1 } });
  t.ok(readFileSync(join(one.workspace, 'ledger.jsonl'), 'utf8').includes('"from":"ada","block":"bob"'));
});

t.test('what can not be renamed stays where it is, and runs on', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.create('bob');
  await one.create('torn');
  await one.blocks.start('ada');
  await t.rejects(one.blocks.rename('ada', { name: 'bob' }), { code: 'NAME_TAKEN', status: 409 });
  await t.rejects(one.blocks.rename('ada', { name: 'ada' }), { code: 'NAME_TAKEN' });
  for (const body of [{ name: '../x' }, { name: 'A' }, { name: 'con' }, {}, { name: 'x', other: 1 }]) {
    await t.rejects(one.blocks.rename('ada', body), { code: 'INVALID_REQUEST' }, JSON.stringify(body));
  }
  await t.rejects(one.blocks.rename('nobody', { name: 'x' }), { code: 'BLOCK_NOT_FOUND' });
  writeFileSync(join(one.folder('torn'), 'memory.json'), '{');
  await t.rejects(one.blocks.rename('torn', { name: 'x' }), { code: 'BLOCK_DAMAGED' });
  t.same(
    (await one.blocks.list()).map(({ name }) => name),
    ['ada', 'bob', 'torn'],
  );
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
});

t.test('a second move that fails is undone', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.core.events.on('block.archived', () => mkdirSync(one.folder('bob'))); // another program takes the name meanwhile
  await t.rejects(one.blocks.rename('ada', { name: 'bob' }), { code: 'NAME_TAKEN' });
  t.same(await one.blocks.archives(), []);
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
});

t.test('a rename whose first move fails is over, and the next start goes on with nothing', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const blocks = join(one.workspace, 'blocks');
  one.core.events.on('block.transitioned', ({ to }) => {
    if (to === 'stopped' && !existsSync(`${blocks}.away`)) renameSync(blocks, `${blocks}.away`);
  });
  await t.rejects(one.blocks.rename('ada', { name: 'bob' }), { code: 'STORAGE_FAILED' });
  renameSync(`${blocks}.away`, blocks);
  const { archiveName } = await one.blocks.archive('ada');
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  t.same(await next.blocks.list(), [], 'what was archived later stays in the archive');
  t.match(await next.blocks.archives(), [{ archiveName }]);
});

t.test('of two renames at once, one wins, and the block is there once', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const outcomes = await Promise.allSettled([one.blocks.rename('ada', { name: 'bob' }), one.blocks.rename('ada', { name: 'eve' })]);
  t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'BLOCK_NOT_FOUND' } }]);
  t.match(await one.blocks.list(), [{ name: 'bob' }]);
});

t.test('a block that the server was about to start runs under its new name', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `a${index}`);
  const one = await startCore(t, { files: { blocks: runnable([...names, 'zoe'], { enabled: true }) } });
  await one.blocks.rename('zoe', { name: 'zora' });
  t.match(one.readJson('zora', 'config'), { enabled: true });
  t.match(await one.ask('zora', 'hi'), { content: 'You said: hi' });
});
